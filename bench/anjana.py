#!/usr/bin/env python3
"""How fast is incog beside ANJANA's `k_anonymity`, and which loses less?

Both get Adult (45,222 rows, nine quasi-identifiers, the same hierarchies), k = 5, with 0 and 5 % of the rows to be suppressed. ANJANA
is timed from the table in memory to the released table in memory. incog is timed twice: the search for the best node from the coded
table in memory, on one thread (`incog-bench -- fast`), and the whole process, from the CSV file to the verified release and its
record. ANJANA generalizes step by step until k is reached; incog's answer is the best there is.

Loss is LM, computed here from the labels of both releases: the mean over all cells of (leaves under the label - 1) / (leaves - 1), 1
for every cell of a suppressed row.

usage: bench/anjana.py [--rounds N] [--data FOLDER] [--json FILE]
Needs `cargo build --release` and `cargo build --release -p incog-bench` before, and PyPI once (anjana, into target/bench/venv-anjana).
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

from peers import FOLDER, PROJECT, environment, program

PACKAGE = "anjana==1.2.3"
K = 5

# Runs in the environment that has ANJANA: releases the table, prints how long that took.
ANJANA = """
import sys, time, warnings
import pandas
warnings.filterwarnings("ignore")
from anjana.anonymity import k_anonymity
folder, k, suppression, out = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
table = pandas.read_csv(f"{folder}/adult.csv", dtype=str)
columns = list(table.columns)
hierarchies = {}
for name in columns:
    rows = pandas.read_csv(f"{folder}/hierarchies/{name}.csv", header=None, dtype=str, sep=";")
    hierarchies[name] = {level: rows[level].values for level in rows.columns}
start = time.perf_counter()
released = k_anonymity(table, [], columns, k, suppression, hierarchies)
print(time.perf_counter() - start)
released[columns].to_csv(out, index=False)
"""


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def loss(released, data, n_rows):
    """The loss of a release, and the size of its smallest group. Summed exactly: equal releases have equal losses."""
    columns = list(released[0])
    lost = Fraction(len(columns) * (n_rows - len(released)))
    for name in columns:
        leaves = {}
        with open(data / "hierarchies" / f"{name}.csv", newline="", encoding="utf-8") as file:
            paths = list(csv.reader(file, delimiter=";"))
        for path in paths:
            for label in set(path):
                leaves.setdefault(label, set()).add(path[0])
        lost += Fraction(sum(len(leaves[row[name]]) - 1 for row in released), len(paths) - 1)
    smallest = min(Counter(tuple(row.values()) for row in released).values())
    return float(lost / n_rows / len(columns)), smallest


def searches(rounds):
    """Seconds of the search for the best node by loss, by suppression."""
    figures = FOLDER / "anjana-searches.json"
    command = [program("incog-bench"), "fast", "--only", "adult", "--rounds", str(rounds), "--json", figures]
    subprocess.run(command, check=True, capture_output=True, cwd=PROJECT)
    figures = json.loads(figures.read_text(encoding="utf-8"))
    return {figure["suppression"]: figure["seconds"] for figure in figures if figure["what"] == "best by loss"}


def write_job(path, data, columns, percent):
    parts = "".join(
        f"[columns.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {{ file = '{data / 'hierarchies' / name}.csv' }}\n" for name in columns
    )
    policy = f'[policy]\nk = {K}\nsuppression = "{percent}%"\n'
    path.write_text(f"[input]\npath = '{data / 'adult.csv'}'\n{policy}{parts}", encoding="utf-8")


def main():
    arguments = argparse.ArgumentParser(description="incog beside ANJANA's k_anonymity.")
    arguments.add_argument("--rounds", type=int, default=3)
    shared = Path(os.environ.get("INCOG_DATA", PROJECT.parent / "shared" / "data"))
    arguments.add_argument("--data", type=Path, default=shared / "adult")
    arguments.add_argument("--json", help="write the figures into this file, too")
    arguments = arguments.parse_args()
    data = arguments.data.resolve()
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = environment("venv-anjana", [PACKAGE])
    rows = read(data / "adult.csv")
    in_memory = searches(5 * arguments.rounds)
    print(f"Adult, {len(rows):,} rows, {len(rows[0])} quasi-identifiers, k = {K}, fastest of {arguments.rounds} rounds\n")
    told = []
    print("| suppression | | time | times faster | rows released | smallest group | loss |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for percent in [0, 5]:
            theirs, ours = [], []
            job, release, out = folder / "job.toml", folder / "release.csv", folder / "anjana.csv"
            write_job(job, data, list(rows[0]), percent)
            for round_ in range(arguments.rounds):
                command = [python, "-c", ANJANA, data, str(K), str(percent), out]
                theirs.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1]))
                print(f"{percent} %, round {round_ + 1}: anjana {theirs[-1]:.2f} s", file=sys.stderr)
                start = time.perf_counter()
                command = [program("incog"), "anonymize", job, "--output", release, "--key", folder / "key"]
                subprocess.run(command, check=True, capture_output=True)
                ours.append(time.perf_counter() - start)
            best = min(theirs)
            table = [(PACKAGE, best, out)]
            table.append(("incog, the search", in_memory[f"{percent}%"], release))
            table.append(("incog, the whole process", min(ours), release))
            losses = []
            for name, seconds, path in table:
                released = read(path)
                lost, smallest = loss(released, data, len(rows))
                losses.append(lost)
                print(
                    f"| {percent} % | {name} | {1000 * seconds:.2f} ms | {best / seconds:.0f} | {len(released)} | {smallest} | {lost:.5f} |"
                )
            told.append({
                "suppression": f"{percent}%",
                "anjana_seconds": best,
                "search_seconds": in_memory[f"{percent}%"],
                "process_seconds": min(ours),
                "anjana_loss": losses[0],
                "incog_loss": losses[1],
            })
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(told, file, indent=2)


if __name__ == "__main__":
    main()
