#!/usr/bin/env python3
"""How fast is incog's Mondrian beside anonypy's, and which loses less?

Both get the same table (Adult, eight quasi-identifiers, k = 10) in memory and are timed from there to their partitions, by
turns on the same machine. Both tables are coded before: pandas has made its categories and numbers, incog its dictionaries,
packed rows and domains. What incog's coding from cells as text takes is measured, too, and "with coding" adds it to incog's
side only. Age is a number with a step of 1, every other column a category. anonypy's categories have no
order and are released as sets; incog's are in the order of their hierarchies and are released as ranges (`ordered`), or as
labels of their hierarchies (`mixed`).

Loss is LM: the mean over all cells of (values covered - 1) / (values of the column - 1); a set covers its members, a range
all values in it, a label all leaves below it, an interval of ages all whole numbers in it.

usage: bench/mondrian.py [--rounds N] [--data FILE]
Needs `cargo build --release -p incog-bench` before, and PyPI once (anonypy, into target/bench/venv-anonypy).
"""
import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from peers import FOLDER, PROJECT, environment

PACKAGES = ["anonypy==0.2.1", "pandas"]
COLUMNS = ["age", "gender", "race", "marital_status", "education", "native_country", "work_class", "occupation"]
K = 10

# Runs in the environment that has anonypy: partitions the table, prints seconds, loss and partitions.
ANONYPY = """
import json, sys, time
import pandas
from anonypy import mondrian
path, k, columns = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(",")
table = pandas.read_csv(path, dtype=str)[columns]
table["age"] = table["age"].astype(int)
for name in columns[1:]:
    table[name] = table[name].astype("category")
start = time.perf_counter()
partitions = mondrian.Mondrian(table, columns).partition(k)
seconds = time.perf_counter() - start
assert sum(map(len, partitions)) == len(table) and min(map(len, partitions)) >= k
lost = 0.0
for name in columns:
    column = table[name]
    for rows in partitions:
        part = column[rows]
        if name == "age":
            share = (part.max() - part.min()) / (column.max() - column.min())
        else:
            share = (part.nunique() - 1) / (column.nunique() - 1)
        lost += share * len(rows)
groups = len(partitions)
print(json.dumps({"seconds": seconds, "loss": lost / len(table) / len(columns), "groups": groups, "rows": len(table)}))
"""


def incog(rounds):
    """What the benchmark says of each way to cut: a row of its table as a dictionary."""
    program = PROJECT / "target" / "release" / "incog-bench"
    if not program.exists():
        sys.exit(f"there is no {program}: run `cargo build --release -p incog-bench` first")
    command = [program, "mondrian", "--only", "adult", "--rounds", str(rounds)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT).stdout
    lines = [[cell.strip() for cell in line.strip("| ").split("|")] for line in told.splitlines() if line.startswith("| ")]
    coding = re.search(r"coding ([0-9.]+) ms", told).group(1)
    return [dict(zip(lines[0], line), coding=coding) for line in lines[1:] if not set(line[0]) <= {"-"}]


def main():
    arguments = argparse.ArgumentParser(description="incog's Mondrian beside anonypy's.")
    arguments.add_argument("--rounds", type=int, default=1)
    shared = Path(os.environ.get("INCOG_DATA", PROJECT.parent / "shared" / "data"))
    arguments.add_argument("--data", type=Path, default=shared / "adult" / "adult.csv")
    arguments = arguments.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = environment("venv-anonypy", PACKAGES)
    theirs, ours = [], {}
    for round_ in range(arguments.rounds):
        command = [python, "-c", ANONYPY, arguments.data, str(K), ",".join(COLUMNS)]
        theirs.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        print(f"round {round_ + 1}: anonypy {theirs[-1]['seconds']:.2f} s", file=sys.stderr)
        for row in incog(1):
            ours.setdefault(tuple(row[name] for name in ["columns", "cuts", "choice", "sides"]), []).append(row)
    best = min(theirs, key=lambda told: told["seconds"])
    print(f"Adult, {best['rows']:,} rows, {len(COLUMNS)} quasi-identifiers, k = {K}, {arguments.rounds} rounds, fastest\n")
    print("| | time | times faster | with coding | loss | of anonypy's | groups |\n|---|---|---|---|---|---|---|")
    print(f"| {PACKAGES[0]} | {1000 * best['seconds']:.0f} ms | 1 | 1 | {best['loss']:.5f} | 1.000 | {best['groups']} |")
    for name, rows in ours.items():
        row = min(rows, key=lambda row: float(row["ms"]))
        milliseconds, loss = float(row["ms"]), float(row["loss"])
        coded = milliseconds + min(float(row["coding"]) for row in rows)
        print(
            f"| incog: {', '.join(name)} | {milliseconds:.2f} ms | {1000 * best['seconds'] / milliseconds:.0f} "
            f"| {1000 * best['seconds'] / coded:.0f} | {loss:.5f} | {loss / best['loss']:.3f} | {row['groups']} |"
        )


if __name__ == "__main__":
    main()
