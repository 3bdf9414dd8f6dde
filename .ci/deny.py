"""Reads deny.toml where cargo-deny is not installed: licences, bans, duplicates and sources of all dependencies.

  python3 .ci/deny.py             as `cargo deny check bans licenses sources`, on what Cargo.lock says
  python3 .ci/deny.py --msrv      instead: no dependency asks for a newer compiler than Cargo.toml promises

Both ask the same of the binding for Python, which has a lock file of its own.

Standard library only. It knows the keys that our deny.toml uses, and refuses a file with others.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEYS = {
    "licenses": {"allow", "confidence-threshold"},
    "bans": {"multiple-versions", "wildcards", "deny", "skip"},
    "sources": {"unknown-registry", "unknown-git", "allow-registry"},
}


MANIFESTS = ["Cargo.toml", "crates/incog-py/Cargo.toml"]


def packages(manifest):
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", manifest]
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(out.stdout)["packages"]


def is_allowed(expression, allowed):
    """Whether an SPDX expression can be satisfied: AND binds more strongly than OR."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def one():
        token = tokens.pop(0)
        if token == "(":
            value = either()
            tokens.pop(0)
            return value
        value = token in allowed
        if tokens and tokens[0] == "WITH":
            # An exception only adds to what is allowed.
            del tokens[:2]
        return value

    def both():
        value = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            value = one() and value
        return value

    def either():
        value = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            value = both() or value
        return value

    return either()


def check(deny, found):
    for table, keys in deny.items():
        for key in keys:
            if key not in KEYS.get(table, ()):
                yield f"deny.toml: [{table}] has `{key}`, which only cargo-deny understands"
    allowed = set(deny["licenses"]["allow"])
    banned = {entry["name"] for entry in deny["bans"]["deny"]}
    skipped = {(entry["name"], entry["version"].removeprefix("=")) for entry in deny["bans"]["skip"]}
    registries = {f"registry+{url}" for url in deny["sources"]["allow-registry"]}
    versions = defaultdict(set)
    for package in found:
        name = f"{package['name']} {package['version']}"
        if package["source"] is None:
            continue
        if not package["license"] or not is_allowed(package["license"], allowed):
            yield f"{name}: licence {package['license']} is not allowed"
        if package["name"] in banned:
            yield f"{name}: is banned"
        if package["source"] not in registries:
            yield f"{name}: comes from {package['source']}"
        if (package["name"], package["version"]) not in skipped:
            versions[package["name"]].add(package["version"])
    for name, several in sorted(versions.items()):
        if len(several) > 1:
            yield f"{name}: there are {len(several)} versions: {', '.join(sorted(several))}"


def newer(found, oldest):
    number = lambda version: [int(part) for part in version.split(".")[:2]]
    for package in found:
        wants = package["rust_version"]
        if wants and number(wants) > number(oldest):
            yield f"{package['name']} {package['version']} wants Rust {wants}, Cargo.toml promises {oldest}"


def self_test():
    allowed = {"MIT", "Zlib"}
    for expression, wanted in [
        ("MIT", True), ("GPL-3.0", False), ("MIT OR GPL-3.0", True), ("MIT AND GPL-3.0", False), ("MIT/GPL-3.0", True),
        ("(MIT OR GPL-3.0) AND Zlib", True), ("GPL-3.0 OR MIT AND X", False), ("MIT WITH LLVM-exception", True),
    ]:
        assert is_allowed(expression, allowed) == wanted, expression


def main():
    self_test()
    found, problems = [], []
    for manifest in MANIFESTS:
        these = packages(manifest)
        found += these
        if "--msrv" in sys.argv:
            oldest = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
            problems += newer(these, oldest)
        else:
            problems += check(tomllib.loads((ROOT / "deny.toml").read_text()), these)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"deny: {len(found)} packages, nothing to complain about")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
