#!/usr/bin/env python3
"""How long does a release take, end to end, beside the plainest copy of the same table?

Times by turns, on the Lands End table (see gen_landsend.py):
  duckdb  COPY (SELECT * FROM read_csv(..., all_varchar=true)) TO ...   with 2 threads; the query and the whole process
  incog   anonymize: k = 10, suppression 1 %, rows shuffled, all eight columns quasi-identifiers

and prints a Markdown table: fastest and median wall time, the ratio of incog to the query, incog's peak memory beside the
size of the CSV file, and the median time of `incog --version`. Everything it makes is in the target folder.

usage: bench/end_to_end.py [--rows N] [--rounds N] [--incog FILE]
Needs `cargo build --release` before, and PyPI once (duckdb, into target/bench/venv).
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import FOLDER, PROJECT, environment

DUCKDB = "duckdb==1.4.4"
ROWS = 4_591_581
COLUMNS = ["zipcode", "order_date", "gender", "style", "price", "quantity", "cost", "shipment"]

# Runs in the environment that has DuckDB: copies a table and prints how long the query took.
COPY = """
import sys, time
import duckdb
connection = duckdb.connect(config={"threads": 2})
source, target = (path.replace("'", "''") for path in sys.argv[1:])
start = time.perf_counter()
connection.execute(f"COPY (SELECT * FROM read_csv('{source}', all_varchar=true)) TO '{target}'")
print(time.perf_counter() - start)
"""


def table(rows):
    """The table and the folder of its hierarchies; made on first use."""
    data, hierarchies = FOLDER / f"landsend-{rows}.csv", FOLDER / "landsend-hierarchies"
    generator = [sys.executable, PROJECT / "bench" / "gen_landsend.py", "--hierarchies", hierarchies]
    if not data.exists():
        part = data.with_suffix(".part")
        subprocess.run([*generator, "--rows", str(rows), "--out", part], check=True)
        part.rename(data)
    elif not all((hierarchies / f"{name}.csv").exists() for name in COLUMNS):
        subprocess.run([*generator, "--rows", "0", "--out", os.devnull], check=True)
    return data, hierarchies


def write_job(path, data, hierarchies):
    columns = "".join(
        f"[columns.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {{ file = '{hierarchies / name}.csv' }}\n"
        for name in COLUMNS
    )
    policy = '[policy]\nk = 10\nsuppression = "1%"\n'
    path.write_text(f"[input]\npath = '{data}'\n{policy}[output]\norder = \"shuffle\"\n{columns}", encoding="utf-8")


def timed(command):
    """Wall seconds, peak memory in bytes and standard output of a process that must succeed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=complaints)
        # This process's own usage, not the greatest of all so far.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        complaints.seek(0)
        if process.returncode != 0:
            sys.exit(f"{command[0]} ended with {process.returncode}:\n{complaints.read().decode()}")
        # Kilobytes, but on macOS bytes.
        unit = 1 if sys.platform == "darwin" else 1024
        return seconds, usage.ru_maxrss * unit, out.read().decode()


def main():
    arguments = argparse.ArgumentParser(description="End-to-end benchmark beside a plain copy by DuckDB.")
    arguments.add_argument("--rows", type=int, default=ROWS)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--incog", type=Path, default=PROJECT / "target" / "release" / "incog")
    arguments = arguments.parse_args()
    if not arguments.incog.exists():
        sys.exit(f"there is no {arguments.incog}: run `cargo build --release` first")
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = environment("venv", [DUCKDB])
    data, hierarchies = table(arguments.rows)
    job = FOLDER / f"landsend-{arguments.rows}.toml"
    write_job(job, data, hierarchies)
    copy, release = FOLDER / "copy.csv", FOLDER / "landsend.release.csv"
    size = data.stat().st_size
    # Both read from the page cache, from the first round on.
    with open(data, "rb") as file:
        while file.read(1 << 24):
            pass

    query, process, incog, memory = [], [], [], []
    for round_ in range(arguments.rounds):
        copy.unlink(missing_ok=True)
        seconds, _, told = timed([python, "-c", COPY, data, copy])
        query.append(float(told.split()[-1]))
        process.append(seconds)
        release.unlink(missing_ok=True)
        seconds, peak, _ = timed([arguments.incog, "anonymize", job, "--output", release])
        incog.append(seconds)
        memory.append(peak)
        print(f"round {round_ + 1}: duckdb {query[-1]:.2f} s, incog {seconds:.2f} s", file=sys.stderr)
    n_lines = sum(1 for _ in open(copy, "rb"))
    if n_lines != arguments.rows + 1:
        sys.exit(f"the copy has {n_lines} lines, not {arguments.rows + 1}: it is no fair comparison")
    start_up = [timed([arguments.incog, "--version"])[0] for _ in range(50)]

    best = min(query)
    print(f"{arguments.rows:,} rows, {size / 2**20:.1f} MiB, {arguments.rounds} rounds, {DUCKDB}\n")
    print("| | fastest | median | to the fastest query |\n|---|---|---|---|")
    for name, times in [("duckdb, the query", query), ("duckdb, the process", process), ("incog anonymize", incog)]:
        print(f"| {name} | {min(times):.3f} s | {statistics.median(times):.3f} s | {min(times) / best:.2f} |")
    print("\n| | |\n|---|---|")
    print(f"| incog to the query, medians | {statistics.median(incog) / statistics.median(query):.2f} |")
    print(f"| incog's peak memory | {max(memory) / 2**20:.1f} MiB, {max(memory) / size:.2f} of the CSV file |")
    print(f"| `incog --version`, median of {len(start_up)} | {1000 * statistics.median(start_up):.1f} ms |")


if __name__ == "__main__":
    main()
