#!/usr/bin/env python3
"""Does every command keep within the memory that it is allowed?

Runs incog on the Lands End table (see gen_landsend.py), the first five columns as quasi-identifiers, with several values of `--memory`:
a release, the search for every generalization, and Incognito with each checker. Prints a Markdown table: peak memory by command and limit, as
the largest resident set of the process, and that as a multiple of the limit. A row is *kept* if it is at most 1.5 times the limit, and
*refused* if incog says that the limit is too small (exit code 2, with what it needs). Any other row is a broken promise, and the exit code
is 1.

usage: bench/memory.py [--rows N] [--limits 64MB,128MB] [--k K] [--suppression SHARE] [--only NAME] [--incog FILE] [--record FILE]
Needs `cargo build --release -p incog-cli` before.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from end_to_end import table
from peers import program

QUASI_IDENTIFIERS = ["zipcode", "order_date", "gender", "style", "price"]
MOST = 1.5
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}

COMMANDS = [
    ("anonymize", ["anonymize"], ""),
    ("search", ["search"], ""),
    ("search, a range of k", ["search", "-k", "2..20"], ""),
    ("snapshots", ["search", "--algorithm", "incognito", "--checker", "snapshots"], ""),
    ("roll-up", ["search", "--algorithm", "incognito", "--checker", "roll-up"], ""),
    ("super-roots", ["search", "--algorithm", "incognito", "--checker", "super-roots"], ""),
    ("cube", ["search", "--algorithm", "incognito", "--checker", "cube"], ""),
    ("cube by benefit", ["search", "--algorithm", "incognito", "--checker", "cube"], 'cube_levels = "by-benefit"\n'),
    ("bitmap", ["search", "--algorithm", "incognito", "--checker", "bitmap"], ""),
    ("scan", ["search", "--algorithm", "incognito", "--checker", "scan"], ""),
    ("top-down", ["anonymize", "--algorithm", "top-down"], ""),
]


def in_bytes(size):
    """A size as the command line takes it."""
    return int(size[:-2]) * UNITS[size[-2:]]


def run(command):
    """Exit code, wall seconds, peak memory in bytes and what was said."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=said)
        # This process's own usage, not the greatest of all so far.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        unit = 1 if sys.platform == "darwin" else 1024
        return process.returncode, seconds, usage.ru_maxrss * unit, said.read().decode()


def write_job(path, data, hierarchies, settings, arguments):
    columns = "".join(
        f"[columns.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {{ file = '{hierarchies / name}.csv' }}\n"
        for name in QUASI_IDENTIFIERS
    )
    others = "".join(f'[columns.{name}]\nrole = "other"\n' for name in ("quantity", "cost", "shipment"))
    policy = f'[policy]\nk = {arguments.k}\nsuppression = "{arguments.suppression}"\n'
    search = f"[search]\n{settings}" if settings else ""
    path.write_text(f"[input]\npath = '{data}'\n{policy}{search}[output]\n{columns}{others}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_591_581)
    parser.add_argument("--limits", default="64MB,128MB,512MB")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--suppression", default="0%")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--data", type=Path, help="the table, if it is there already")
    parser.add_argument("--hierarchies", type=Path, help="the folder of its hierarchies")
    parser.add_argument("--incog", type=Path)
    parser.add_argument("--record", type=Path, help="where to write the table, too")
    arguments = parser.parse_args()
    incog = arguments.incog or program("incog")
    if arguments.data:
        data, hierarchies = arguments.data.resolve(), arguments.hierarchies.resolve()
    else:
        data, hierarchies = table(arguments.rows)
    lines = [
        f"{data.stat().st_size / 1e6:.0f} MB of CSV, {len(QUASI_IDENTIFIERS)} quasi-identifiers, k = {arguments.k}, "
        f"suppression {arguments.suppression}\n",
        "| command | limit | peak memory | times the limit | seconds | |",
        "|---|---|---|---|---|---|",
    ]
    is_broken = False
    with tempfile.TemporaryDirectory() as folder:
        job, release = Path(folder) / "job.toml", Path(folder) / "release.csv"
        for name, command, settings in COMMANDS:
            if arguments.only and name not in arguments.only:
                continue
            write_job(job, data, hierarchies, settings, arguments)
            for limit in arguments.limits.split(","):
                release.unlink(missing_ok=True)
                output = ["--output", release, "--no-record"] if command[0] == "anonymize" else []
                code, seconds, peak, said = run([incog, command[0], job, *command[1:], "--memory", limit, *output])
                times = peak / in_bytes(limit)
                is_refused = code == 2 and ("there is room for" in said or "does not fit" in said or "do not fit" in said)
                if is_refused:
                    verdict = "refused"
                elif code not in (0, 1):
                    verdict, is_broken = f"**ended with {code}**", True
                    print(said, file=sys.stderr)
                elif times <= MOST:
                    verdict = "kept"
                else:
                    verdict, is_broken = "**exceeded**", True
                if is_refused and times > MOST:
                    verdict, is_broken = "**exceeded before it was refused**", True
                line = f"| {name} | {limit} | {peak / 1e6:.0f} MB | {times:.2f} | {seconds:.1f} | {verdict} |"
                print(line, file=sys.stderr)
                lines.append(line)
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.record:
        arguments.record.write_text(text, encoding="utf-8")
    return 1 if is_broken else 0


if __name__ == "__main__":
    sys.exit(main())
