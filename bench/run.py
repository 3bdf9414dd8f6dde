#!/usr/bin/env python3
"""Everything in one go: builds, measures, and prints one table of what is claimed, what was measured, and whether it holds.

The parts, each a command of its own:
  fast        the best node and all nodes of Adult and Lands End, in times of one group-by (`incog-bench -- fast`)
  end-to-end  a whole run on Lands End beside DuckDB copying the same file, CSV and Parquet, two threads and one (end_to_end.py)
  large       a hundred million rows within 4 GB, and the same bytes whatever the memory (large.py)
  anjana      the best release of Adult beside ANJANA's (anjana.py)
  python      frames in memory beside ANJANA, anonypy, polarfrost and pyCANON, and beside the command line (python.py)
  formats     workbooks beside openpyxl, and numbers of many digits beside short ones (formats.py)
  growth      time by rows, quasi-identifiers, k, suppression and lattice, as charts (`incog-bench -- growth`)

The table comes last, below the machine it was measured on; what the parts printed is in the target folder, or with `--record`
below the table in bench/results/<date>.md, and the charts beside it. A part that fails costs its rows of the table, not the others.
Figures are worth recording only if nothing else runs: the load before the first part is told for that.

usage: bench/run.py [--only PART]... [--rounds N] [--quick] [--record]
Needs Rust, Adult (INCOG_DATA or ../shared/data), PyPI once, some 8 GB of disk, and tens of minutes; `--quick` is for trying this script:
small tables, one round, figures that mean nothing.
"""
import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import anjana
import end_to_end
import large
from peers import FOLDER, PROJECT, environment

RESULTS = PROJECT / "bench" / "results"
PARTS = ["fast", "end-to-end", "large", "anjana", "python", "formats", "growth"]


@dataclass
class Claim:
    """A row of the table: what is measured by which part, how it is read from the part's figures, and its limit."""

    part: str
    what: str
    value: Callable
    at_most: float | None = None
    at_least: float | None = None
    unit: str = ""

    def row(self, figures):
        try:
            value = self.value(figures)
        except (KeyError, StopIteration, TypeError):
            return [self.what, "–", self.limit(), "**not measured**"]
        kept = (self.at_most is None or value <= self.at_most) and (self.at_least is None or value >= self.at_least)
        verdict = "" if self.limit() == "–" else "kept" if kept else "**missed**"
        return [self.what, self.show(value), self.limit(), verdict]

    def show(self, value):
        if isinstance(value, bool):
            return "yes" if value else "no"
        # Enough digits to see on which side of its limit a value is.
        digits = 0 if value == int(value) else 3 if value < 10 else 1 if value < 1000 else 0
        return f"{value:,.{digits}f}{self.unit}"

    def limit(self):
        if self.at_least is True:
            return "yes"
        if self.at_most is not None:
            return f"at most {self.at_most:,g}{self.unit}"
        return "–" if self.at_least is None else f"at least {self.at_least:,g}{self.unit}"


def search(table, suppression, what, figure):
    """Reads one figure of one search of the part `fast`."""

    def value(figures):
        wanted = {"table": table, "suppression": suppression, "what": what}
        return next(one[figure] for one in figures if wanted.items() <= one.items())

    return value


def searches():
    for suppression, best, judged, complete in [("0%", 6, 100, 8), ("5%", 40, 300, 300)]:
        where = f"Adult, k = 5, suppression {suppression[:-1]} %"
        for metric in ["loss", "geometric-loss"]:
            name = f"best by {metric}"
            value = search("adult", suppression, name, "times_base")
            yield Claim("fast", f"{where}: {name}, times base", value, at_most=best)
            value = search("adult", suppression, name, "judged")
            yield Claim("fast", f"{where}: {name}, nodes judged", value, at_most=judged)
        value = search("adult", suppression, "complete", "times_base")
        yield Claim("fast", f"{where}: all nodes, times base", value, at_most=complete)
    where = "Lands End, k = 5, suppression"
    yield Claim("fast", f"{where} 0 %: all nodes, times base", search("landsend", "0%", "complete", "times_base"), at_most=3)
    for metric in ["loss", "geometric-loss"]:
        value = search("landsend", "5%", f"best by {metric}", "times_base")
        yield Claim("fast", f"{where} 5 %: best by {metric}, times base", value, at_most=10)


def whole_runs():
    for kind, name, limit in [("csv", "CSV to CSV", 1.5), ("parquet", "Parquet to Parquet", 2)]:
        where = f"Lands End, {name}, k = 10, suppression 1 %"
        value = lambda figures, kind=kind: figures[f"{kind}_ratio"]
        yield Claim("end-to-end", f"{where}: time / DuckDB's copy", value, at_most=limit, unit=" ×")
        value = lambda figures, kind=kind: figures[f"{kind}_threads_ratio"]
        yield Claim("end-to-end", f"{where}: speed, two threads / one", value, at_least=1.6, unit=" ×")


def large_tables():
    yield Claim("large", "100 M rows, Parquet to Parquet: time / the 4.6 M rows", lambda it: it["time_ratio"], at_most=25, unit=" ×")
    yield Claim("large", "100 M rows: peak memory", lambda it: it["large_peak_memory"] / 1e9, at_most=4, unit=" GB")
    where = "CSV of four times `--memory 512MB`"
    yield Claim("large", f"{where}: the same bytes as without a limit", lambda it: it["same_bytes"], at_least=True)
    yield Claim("large", f"{where}: peak memory", lambda it: it["limited_peak_memory"] / 1e6, at_most=512, unit=" MB")
    yield Claim("large", f"{where}: time / the run without a limit", lambda it: it["limited_seconds"] / it["unlimited_seconds"], unit=" ×")


def beside_anjana():
    for suppression in ["0%", "5%"]:
        where = f"Adult, k = 5, suppression {suppression[:-1]} %"

        def ratio(above, below, suppression=suppression):
            def value(figures):
                one = next(one for one in figures if one["suppression"] == suppression)
                return one[above] / one[below]

            return value

        value = ratio("anjana_seconds", "search_seconds")
        yield Claim("anjana", f"{where}: speed of the search / ANJANA's", value, at_least=1000, unit=" ×")
        value = ratio("anjana_seconds", "process_seconds")
        yield Claim("anjana", f"{where}: speed of the whole process / ANJANA's", value, unit=" ×")
        yield Claim("anjana", f"{where}: loss / ANJANA's", ratio("incog_loss", "anjana_loss"), at_most=1, unit=" ×")


def other_formats():
    where = "workbook of 100,000 x 20 cells"
    yield Claim("formats", f"{where}: openpyxl's time for reading it / ours", lambda it: it["xlsx_ratio"], at_least=10, unit=" ×")
    where = "1 M rows of CSV, decimals in intervals"
    yield Claim("formats", f"{where}: time with 15 digits / with 4", lambda it: it["decimals_ratio"], at_most=1.3, unit=" ×")


def in_python():
    def ratio(peer, above, below, suppression=None):
        def value(figures):
            one = figures[peer] if suppression is None else next(at for at in figures[peer] if at["suppression"] == suppression)
            return one[above] / one[below]

        return value

    speed, loss = ("peer_seconds", "incog_seconds"), ("incog_loss", "peer_loss")
    for suppression in (0, 5):
        where = f"Python, Adult, k = 5, suppression {suppression} %"
        yield Claim("python", f"{where}: speed / ANJANA's", ratio("anjana", *speed, suppression), at_least=100, unit=" ×")
        yield Claim("python", f"{where}: loss / ANJANA's", ratio("anjana", *loss, suppression), at_most=1, unit=" ×")
    for peer, limit in [("anonypy", 100), ("polarfrost", 10)]:
        where = "Python, Adult, k = 10, Mondrian"
        yield Claim("python", f"{where}: speed / {peer}'s", ratio(peer, *speed), at_least=limit, unit=" ×")
        yield Claim("python", f"{where}: loss / {peer}'s", ratio(peer, *loss), at_most=1, unit=" ×")
    where = "Python, `verify` of a release of Adult"
    yield Claim("python", f"{where}: speed / pyCANON's", ratio("pycanon", *speed), at_least=20, unit=" ×")
    yield Claim("python", f"{where}: the same answers", lambda it: it["pycanon"]["same"], at_least=True)
    # 5 % and a millisecond.
    over = lambda it: 1000 * (it["binding"]["overhead_seconds"] - 0.05 * it["binding"]["engine_seconds"])
    yield Claim("python", "Python, Adult: time over the engine's own and 5 % of it", over, at_most=1, unit=" ms")
    where = "Python, 4.6 M rows as a polars frame, k = 10"
    value = lambda it: it["large"]["seconds"] / it["large"]["command_seconds"]
    yield Claim("python", f"{where}: time / the command line's from CSV to CSV", value, at_most=1, unit=" ×")
    value = lambda it: it["large"]["peak_bytes"] / it["large"]["coded_bytes"]
    yield Claim("python", f"{where}: peak memory over the frame's / the coded table", value, at_most=2.5, unit=" ×")
    yield Claim("python", "Python, the wheel", lambda it: it["wheel_bytes"] / 1e6, at_most=15, unit=" MB")


CLAIMS = [*searches(), *whole_runs(), *large_tables(), *beside_anjana(), *in_python(), *other_formats()]


def commands(arguments, folder, plots):
    """What runs for each part."""
    bench, python = PROJECT / "target" / "release" / "incog-bench", [sys.executable]
    rounds = [] if arguments.rounds is None else ["--rounds", str(arguments.rounds)]
    landsend, rows, sizes, scale, patience = [], [], [], [], []
    if arguments.quick:
        rounds, landsend, rows = ["--rounds", "1"], ["--landsend-rows", "200000"], ["--rows", "200000"]
        patience, scale = ["--patience", "1000"], ["--scale", "10"]
        sizes = ["--rows", "2000000", "--small", "200000", "--csv-rows", "2000000", "--csv-memory", "128MB"]
    return {
        "fast": [bench, "fast", *rounds, *landsend, "--json", folder / "fast.json"],
        "end-to-end": [*python, "bench/end_to_end.py", *rounds, *rows, "--json", folder / "end-to-end.json"],
        "large": [*python, "bench/large.py", *rounds, *sizes, "--json", folder / "large.json"],
        "anjana": [*python, "bench/anjana.py", *rounds, "--json", folder / "anjana.json"],
        "python": [*python, "bench/python.py", *rounds, *rows, "--wheel", folder, "--json", folder / "python.json"],
        "formats": [*python, "bench/formats.py", *rounds, *scale, "--json", folder / "formats.json"],
        "growth": [bench, "growth", *rounds, *landsend, *patience, "--plots", plots.relative_to(PROJECT)],
    }


def run(name, command, figures):
    """Runs a part, with its complaints where they can be seen. What it printed, and its figures, if it came to any."""
    figures.unlink(missing_ok=True)
    print(f"# {name}", file=sys.stderr, flush=True)
    done = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=False)
    printed = done.stdout
    if done.returncode != 0:
        print(f"{name} failed", file=sys.stderr)
        printed += f"\n**failed** with exit code {done.returncode}\n"
    told = json.loads(figures.read_text(encoding="utf-8")) if figures.exists() else None
    return printed, told


def build_wheel(folder):
    """The package for Python, as it would be published, in this folder."""
    python = environment("venv-maturin", ["maturin==1.16.0"])
    for old in folder.glob("incog-*.whl"):
        old.unlink()
    command = [python, "-m", "maturin", "build", "--release", "--locked", "--out", folder, "--interpreter", sys.executable]
    subprocess.run(command, cwd=PROJECT / "python", check=True, stdout=sys.stderr)


def shown(command):
    """A command as one would type it."""
    words = [str(word).replace(f"{PROJECT}/", "") for word in command]
    words[0] = "python3" if words[0] == sys.executable else words[0]
    return " ".join(words)


def said(*command):
    try:
        return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def first_line(path, start):
    """What stands after the colon of the first line of a file that starts so."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(start)), None)


def machine():
    """What this runs on, and with what, as rows of a table."""
    memory = first_line("/proc/meminfo", "MemTotal")
    memory = f"{int(memory.split()[0]) * 1024 / 1e9:.1f} GB" if memory else "unknown"
    system = release_of_the_system() or platform.system()
    return [
        ("CPU", first_line("/proc/cpuinfo", "model name") or platform.processor() or "unknown"),
        ("cores", str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())),
        ("memory", memory),
        ("system", f"{system}, {platform.system()} {platform.release()}"),
        ("compiler", said("rustc", "--version")),
        ("commit", said("git", "describe", "--always", "--dirty")),
        ("date", datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")),
        ("load before", f"{os.getloadavg()[0]:.2f}"),
        ("peers", ", ".join([end_to_end.DUCKDB, anjana.PACKAGE, f"Python {platform.python_version()}"])),
        ("tables made with", ", ".join(package for package in large.PACKAGES if package != end_to_end.DUCKDB)),
    ]


def release_of_the_system():
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def markdown(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def free_path(date):
    """Where results of this day go: no earlier ones are overwritten."""
    paths = (RESULTS / f"{date}{suffix}.md" for suffix in ["", *(f"-{at}" for at in range(2, 100))])
    return next(path for path in paths if not path.exists())


def main():
    arguments = argparse.ArgumentParser(description="All benchmarks behind the claims, as one table.")
    arguments.add_argument("--only", action="append", choices=PARTS, metavar="PART", help=f"one of {', '.join(PARTS)}; may be repeated")
    arguments.add_argument("--rounds", type=int, help="rounds of each part, of which the fastest counts (default: each part's own)")
    arguments.add_argument("--quick", action="store_true", help="small tables and one round, for trying this script")
    arguments.add_argument("--record", action="store_true", help="write table, raw outputs and charts into bench/results")
    arguments = arguments.parse_args()
    if arguments.quick and arguments.record:
        sys.exit("figures of a quick run mean nothing: they are not recorded")
    build = ["cargo", "build", "--release", "--locked", "-p", "incog-cli", "-p", "incog-bench"]
    description = machine()
    subprocess.run(build, cwd=PROJECT, check=True)
    folder = FOLDER / "run"
    folder.mkdir(parents=True, exist_ok=True)
    # Charts of a run that is not recorded do not replace those of one that was.
    plots = RESULTS if arguments.record else folder
    asked, figures, outputs = arguments.only or PARTS, {}, []
    if "python" in asked:
        build_wheel(folder)
    for name, command in commands(arguments, folder, plots).items():
        if name not in asked:
            continue
        printed, figures[name] = run(name, command, folder / f"{name}.json")
        (folder / f"{name}.md").write_text(printed, encoding="utf-8")
        outputs.append(f"## {name}: `{shown(command)}`\n\n{printed.strip()}\n")
    rows = [claim.row(figures[claim.part]) for claim in CLAIMS if claim.part in asked]
    kept = sum(row[3] == "kept" for row in rows)
    limits = sum(row[2] != "–" for row in rows)
    title = "quick, of no meaning" if arguments.quick else "results"
    report = (
        f"# Benchmark: {title}\n\n{markdown(['', ''], [list(row) for row in description])}\n\n"
        f"{markdown(['what', 'measured', 'limit', ''], rows)}\n\n{kept} of {limits} limits kept.\n"
    )
    print(report)
    if arguments.record:
        path = free_path(datetime.date.today().isoformat())
        path.write_text("\n".join([report, *outputs]), encoding="utf-8")
        print(f"recorded in {path.relative_to(PROJECT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
