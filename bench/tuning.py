"""Measures the constants of the engine at half, as they are, and at double.

    python3 bench/tuning.py                          # all of them; hours, on a machine that does nothing else
    python3 bench/tuning.py --only LARGE --only WORTH
    python3 bench/tuning.py --check                  # measures nothing: does each case read the constants that name it?
    python3 bench/tuning.py --list

The constants are read from the `tuning.rs` files, with the unit and the case of `incog-bench tuning` that their documentation
names. The benchmark is built once, with constants that can be set. Each value runs in a process of its own; the three values take turns, and
the fastest round of each part of a case counts. A ratio is the time with the other value by the time as it is, as the geometric mean over
the parts: above 1, the other value is slower.

- A number is halved and doubled; a whole number stays at least 1.
- Where the unit is a log2, half and double are those of what it counts: one less and one more.
- A constant that the compiler needs cannot be set, and is listed without ratios.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CORE = PROJECT / "crates/incog-core/src"
COMPONENTS = {
    "frequency": CORE / "frequency/tuning.rs",
    "judge": CORE / "judge/tuning.rs",
    "optimum": CORE / "algorithm/optimum/tuning.rs",
}
RESULT = PROJECT / "bench/results/tuning.md"

DOCS = r"(?P<docs>(?:^[ ]*///.*\n)+)"
CONSTANT = re.compile(DOCS + r"^ *(?P<rebuild>pub\(super\) const )?(?P<name>[A-Z][A-Z_]*): (?P<kind>\w+) = (?P<value>[^;]+);", re.M)
SAID = re.compile(r"Unit: (?P<unit>[^.]+)\. Measured by: `(?P<case>[a-z-]+)`\.")


@dataclass
class Constant:
    component: str
    name: str
    kind: str
    value: str
    unit: str
    case: str
    can_be_set: bool

    def others(self):
        """Half and double, as the engine reads them."""
        if self.kind == "Share":
            times, of = map(int, re.findall(r"\d+", self.value))
            return f"{times}/{2 * of}", f"{2 * times}/{of}"
        if self.kind in ("f32", "f64"):
            value = float(self.value.replace("_", ""))
            return str(value / 2), str(value * 2)
        value = whole(self.value)
        if self.unit.startswith("log2 of "):
            return str(value - 1), str(value + 1)
        return str(max(value // 2, 1)), str(value * 2)

    def text(self):
        """The value as people write it."""
        if self.kind == "Share":
            return "/".join(re.findall(r"\d+", self.value))
        if self.kind in ("f32", "f64"):
            return f"{float(self.value.replace('_', '')):g}"
        return f"{whole(self.value):,}"


def whole(text):
    """A number, or one shifted by another."""
    numbers = [int(number.replace("_", "")) for number in text.split("<<")]
    return numbers[0] << numbers[1] if len(numbers) == 2 else numbers[0]


def constants():
    found = []
    for component, path in COMPONENTS.items():
        for match in CONSTANT.finditer(path.read_text()):
            docs = " ".join(line.strip().removeprefix("///").strip() for line in match["docs"].splitlines())
            said = SAID.search(docs)
            if said is None:
                sys.exit(f"{path}: `{match['name']}` has no unit, or no case that measures it")
            can_be_set = match["rebuild"] is None
            found.append(Constant(component, match["name"], match["kind"], match["value"], said["unit"], said["case"], can_be_set))
    return found


def build():
    command = ["cargo", "build", "--release", "--locked", "-p", "incog-bench", "--features", "tuning"]
    subprocess.run(command, cwd=PROJECT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    return target / "release/incog-bench"


def run(program, case, setting, rounds):
    """What a case took and read, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        command = [program, "tuning", "--only", case, "--rounds", str(rounds), "--json", path]
        environment = {**os.environ, "INCOG_TUNING": setting}
        subprocess.run(command, cwd=PROJECT, env=environment, check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())


def ratio(times, base):
    logs = [math.log(times[part] / base[part]) for part in base]
    return math.exp(sum(logs) / len(logs))


def measure(program, constant, rounds):
    """Half and double by the time as it is."""
    settings = ["", *(f"{constant.name}={value}" for value in constant.others())]
    fastest = [{} for _ in settings]
    for _ in range(rounds):
        for setting, times in zip(settings, fastest):
            for part, seconds in run(program, constant.case, setting, 3)["seconds"].items():
                times[part] = min(seconds, times.get(part, math.inf))
    return ratio(fastest[1], fastest[0]), ratio(fastest[2], fastest[0])


def unread(program, chosen):
    """The constants that their case never asks for."""
    cases = sorted({constant.case for constant in chosen})
    read = {case: set(run(program, case, "", 1)["read"]) for case in cases}
    return [constant for constant in chosen if constant.can_be_set and constant.name not in read[constant.case]]


def commit():
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this constant; can be given again")
    parser.add_argument("--rounds", type=int, default=5, help="processes for each value, of which the fastest counts")
    parser.add_argument("--out", type=Path, default=RESULT, help="where the table goes")
    parser.add_argument("--list", action="store_true", help="print the constants and their other values")
    parser.add_argument("--check", action="store_true", help="only check that each case reads what it measures")
    arguments = parser.parse_args()

    known = constants()
    missing = set(arguments.only) - {constant.name for constant in known}
    if missing:
        sys.exit(f"there is no constant {', '.join(sorted(missing))}")
    chosen = [constant for constant in known if not arguments.only or constant.name in arguments.only]
    if arguments.list:
        for constant in chosen:
            others = " and ".join(constant.others()) if constant.can_be_set else "needs a rebuild"
            print(f"{constant.name} = {constant.text()} {constant.unit} ({constant.case}): {others}")
        return

    program = build()
    never_read = unread(program, chosen)
    for constant in never_read:
        print(f"`{constant.case}` never reads {constant.name}", file=sys.stderr)
    if never_read:
        sys.exit(1)
    if arguments.check:
        print(f"{len(chosen)} constants, each read by its case")
        return

    load = os.getloadavg()[0]
    lines = [
        "# Constants at half and at double",
        "",
        f"`python3 bench/tuning.py`, commit {commit()}, {os.cpu_count()} cores, {arguments.rounds} rounds, load before it began: {load:.2f}.",
        "Ratios of time to the constant as it is: above 1, the other value is slower. A log2 goes one down and one up. A difference that does",
        "not show when the row is measured again is noise.",
        "",
        "| constant | component | value | unit | case | at half | at double |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for constant in chosen:
        half, double = "needs a rebuild", "needs a rebuild"
        if constant.can_be_set:
            half, double = (f"{time:.3f}" for time in measure(program, constant, arguments.rounds))
        row = f"| {constant.name} | {constant.component} | {constant.text()} | {constant.unit} | {constant.case} | {half} | {double} |"
        lines.append(row)
        print(row, flush=True)
    arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
