#!/usr/bin/env python3
"""How long does a release take, end to end, beside the plainest copy of the same table?

Times by turns, on the Lands End table (see gen_landsend.py), CSV to CSV and Parquet to Parquet:
  duckdb  COPY (SELECT * FROM ...) TO ..., CSV with all_varchar=true, with 2 threads; the query and the whole process
  incog   anonymize: k = 10, suppression 1 %, rows shuffled, all eight columns quasi-identifiers; with 2 threads and with 1

and prints Markdown tables: fastest and median wall time, the ratio of incog to the query, what the second thread brings,
incog's peak memory beside the size of the file, and the median time of `incog --version`. The Parquet file is the CSV file
as DuckDB writes it, every column text. Everything it makes is in the target folder.

usage: bench/end_to_end.py [--rows N] [--rounds N] [--only csv|parquet] [--incog FILE] [--json FILE]
Needs `cargo build --release` before, and PyPI once (duckdb, into target/bench/venv).
"""
import argparse
import json
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
is_csv = source.endswith(".csv")
table = f"read_csv('{source}', all_varchar=true)" if is_csv else f"read_parquet('{source}')"
start = time.perf_counter()
connection.execute(f"COPY (SELECT * FROM {table}) TO '{target}'" + ("" if target.endswith(".csv") else " (FORMAT parquet)"))
print(time.perf_counter() - start)
"""

# Runs there too: how many rows a table has.
COUNT = """
import sys
import duckdb
path = sys.argv[1].replace("'", "''")
print(duckdb.sql(f"SELECT count(*) FROM '{path}'").fetchone()[0])
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


def timed(command, threads=None):
    """Wall seconds, peak memory in bytes and standard output of a process that must succeed."""
    environ = os.environ if threads is None else {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=complaints, env=environ)
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


def compare(python, incog, data, job, rows, rounds):
    """Copies and releases a table by turns, and prints what that took. The figures behind bench/run.py, by name."""
    copy, release = FOLDER / f"copy{data.suffix}", FOLDER / f"landsend.release{data.suffix}"
    size = data.stat().st_size
    # Both read from the page cache, from the first round on.
    with open(data, "rb") as file:
        while file.read(1 << 24):
            pass

    query, process, both, alone, memory = [], [], [], [], []
    for round_ in range(rounds):
        copy.unlink(missing_ok=True)
        seconds, _, told = timed([python, "-c", COPY, data, copy])
        query.append(float(told.split()[-1]))
        process.append(seconds)
        # What runs first after the copy finds less memory at hand: by turns, too.
        for threads, times in [(2, both), (1, alone)][:: 1 if round_ % 2 == 0 else -1]:
            release.unlink(missing_ok=True)
            seconds, peak, _ = timed([incog, "anonymize", job, "--output", release], threads)
            times.append(seconds)
            memory.append(peak)
        times = f"duckdb {query[-1]:.2f} s, incog {both[-1]:.2f} s, with one thread {alone[-1]:.2f} s"
        print(f"{data.suffix[1:]}, round {round_ + 1}: {times}", file=sys.stderr)
    n_copied = int(timed([python, "-c", COUNT, copy])[2])
    if n_copied != rows:
        sys.exit(f"the copy has {n_copied} rows, not {rows}: it is no fair comparison")

    best = min(query)
    print(f"## {data.suffix[1:]}: {rows:,} rows, {size / 2**20:.1f} MiB, {rounds} rounds, {DUCKDB}\n")
    print("| | fastest | median | to the fastest query |\n|---|---|---|---|")
    for name, times in [
        ("duckdb, the query", query),
        ("duckdb, the process", process),
        ("incog anonymize, 2 threads", both),
        ("incog anonymize, 1 thread", alone),
    ]:
        print(f"| {name} | {min(times):.3f} s | {statistics.median(times):.3f} s | {min(times) / best:.2f} |")
    median = statistics.median
    print("\n| | |\n|---|---|")
    print(f"| incog to the query, medians | {median(both) / median(query):.2f} |")
    print(f"| 2 threads to 1, fastest (medians) | {min(alone) / min(both):.2f} ({median(alone) / median(both):.2f}) × |")
    print(f"| incog's peak memory | {max(memory) / 2**20:.1f} MiB, {max(memory) / size:.2f} of the file |\n")
    figures = {"ratio": min(both) / best, "median_ratio": median(both) / median(query)}
    figures |= {"threads_ratio": min(alone) / min(both), "duckdb_seconds": best, "seconds": min(both)}
    figures |= {"peak_memory": max(memory), "bytes": size}
    return {f"{data.suffix[1:]}_{name}": figure for name, figure in figures.items()}


def main():
    arguments = argparse.ArgumentParser(description="End-to-end benchmark beside a plain copy by DuckDB.")
    arguments.add_argument("--rows", type=int, default=ROWS)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--only", choices=["csv", "parquet"])
    arguments.add_argument("--incog", type=Path, default=PROJECT / "target" / "release" / "incog")
    arguments.add_argument("--json", help="write the figures into this file, too")
    arguments = arguments.parse_args()
    if not arguments.incog.exists():
        sys.exit(f"there is no {arguments.incog}: run `cargo build --release` first")
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = environment("venv", [DUCKDB])
    data, hierarchies = table(arguments.rows)
    figures = {}
    for kind in [arguments.only] if arguments.only else ["csv", "parquet"]:
        file = data.with_suffix(f".{kind}")
        if not file.exists():
            part = file.with_suffix(".part")
            timed([python, "-c", COPY, data, part])
            part.rename(file)
        job = FOLDER / f"landsend-{arguments.rows}-{kind}.toml"
        write_job(job, file, hierarchies)
        figures |= compare(python, arguments.incog, file, job, arguments.rows, arguments.rounds)
    start_up = [timed([arguments.incog, "--version"])[0] for _ in range(50)]
    print(f"`incog --version`, median of {len(start_up)}: {1000 * statistics.median(start_up):.1f} ms")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=2)


if __name__ == "__main__":
    main()
