#!/usr/bin/env python3
"""How long does it take to read a workbook, and numbers of many digits?

  xlsx       100,000 x 20 cells: openpyxl reading them (read-only mode) / incog reading them (`incog anonymize --check`, the whole process:
             it reads the table, ties it to the job, and searches and writes nothing); beside it the run to a verified CSV release
  decimals   a column of 15-digit decimals / a column of short ones, both in intervals, a million rows of CSV, whole runs

Runs of what is compared take turns, and the fastest of each counts.

usage: bench/formats.py [--rounds N] [--scale N] [--json FILE]
Needs `cargo build --release -p incog-cli` before, and PyPI once (openpyxl and xlsxwriter, into target/bench/venv-formats). --scale 10
takes a tenth of the rows.
"""
import argparse
import json
import random
import subprocess
import tempfile
import time
from pathlib import Path

from peers import environment, program

PACKAGES = ["openpyxl==3.1.5", "xlsxwriter==3.2.9"]

# Both run in the environment that has the packages.
WRITE = """
import random, sys
import xlsxwriter
path, n_rows = sys.argv[1], int(sys.argv[2])
drawn = random.Random(7)
book = xlsxwriter.Workbook(path, {"constant_memory": True})
sheet = book.add_worksheet()
for at in range(20):
    sheet.write_string(0, at, f"c{at}")
for row in range(1, n_rows + 1):
    for at in range(20):
        if at % 2:
            sheet.write_number(row, at, drawn.randrange(100_000) / 100)
        else:
            sheet.write_string(row, at, f"value {drawn.randrange(500)}")
book.close()
"""
READ = """
import sys, time
import openpyxl
start = time.perf_counter()
book = openpyxl.load_workbook(sys.argv[1], read_only=True)
for row in book.active.iter_rows(values_only=True):
    len(row)
print(time.perf_counter() - start)
"""


def released(data, *rules):
    """Seconds that a release of the data takes."""
    return seconds(data, *rules, "--order", "input", "--no-record", "-o", data.parent / "release.csv")


def seconds(data, *arguments):
    command = [program("incog"), "anonymize", data, *arguments, "--rest", "other", "-k", "2", "--suppression", "100%"]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def workbook(folder, rounds, scale):
    python, book = environment("venv-formats", PACKAGES), folder / "book.xlsx"
    subprocess.run([python, "-c", WRITE, book, str(100_000 // scale)], check=True)
    ours, whole, theirs = [], [], []
    for _ in range(rounds):
        ours.append(seconds(book, "--qi", "c0", "--check"))
        whole.append(released(book, "--qi", "c0"))
        theirs.append(float(subprocess.run([python, "-c", READ, book], check=True, capture_output=True, text=True).stdout))
    return {"incog_seconds": min(ours), "incog_release_seconds": min(whole), "openpyxl_seconds": min(theirs)}


def decimals(folder, rounds, scale):
    drawn = random.Random(7)
    values = [drawn.randrange(10_000) for _ in range(1_000_000 // scale)]
    short, long = folder / "short.csv", folder / "long.csv"
    short.write_text("n,m\n" + "".join(f"{value / 100},{value % 7}\n" for value in values))
    # As many different values, each with fifteen digits.
    long.write_text("n,m\n" + "".join(f"{value // 100}.{value % 100:02}41758241{value % 1000:03}3,{value % 7}\n" for value in values))
    rules = ["--qi", "n", "--hierarchy", "n={ intervals = [5, 10, 50] }"]
    times = [(released(short, *rules), released(long, *rules)) for _ in range(3 * rounds)]
    return {"short_seconds": min(time for time, _ in times), "long_seconds": min(time for _, time in times)}


def main():
    arguments = argparse.ArgumentParser(description="Workbooks and long numbers.")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--scale", type=int, default=1)
    arguments.add_argument("--json", type=Path)
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = workbook(Path(folder), arguments.rounds, arguments.scale) | decimals(Path(folder), arguments.rounds, arguments.scale)
    figures["xlsx_ratio"] = figures["openpyxl_seconds"] / figures["incog_seconds"]
    figures["decimals_ratio"] = figures["long_seconds"] / figures["short_seconds"]
    for name, value in figures.items():
        print(f"{name:22} {value:8.3f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures), encoding="utf-8")


if __name__ == "__main__":
    main()
