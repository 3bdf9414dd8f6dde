#!/usr/bin/env python3
"""Does a release take time in proportion to the rows, and no more memory than it is allowed?

  scale  a hundred million rows against 4.6 million, Parquet to Parquet, both with `--memory 4GB`: k = 10, suppression 1 %, rows
         shuffled, eight quasi-identifiers (gen_landsend_parquet.py; the smaller table is the beginning of the larger one)
  bytes  a CSV table of four times the memory that is allowed, `--memory 512MB`, rows in the order of the input: the same bytes
         as without a limit?

Peak memory is the largest resident set of the process. Besides, the kernel refuses the process any byte of data beyond the same
limit (`ulimit -d`: everything it allocates, but no page of a file), so a run that ends well has kept it. `--soft` leaves that out.

usage: bench/large.py [scale | bytes] [--rows N] [--small N] [--csv-rows N] [--rounds N] [--soft] [--json FILE]
Needs `cargo build --release` before, PyPI once (numpy, pyarrow and duckdb, into target/bench/venv-large) and some 8 GB of disk.
"""
import argparse
import hashlib
import json
import subprocess
import sys

from end_to_end import COLUMNS, DUCKDB, ROWS, timed
from peers import FOLDER, PROJECT, environment, program

PACKAGES = ["pyarrow==26.0.1", "numpy==2.4.6", DUCKDB]
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}

# Runs in the environment that has DuckDB: does the table have every value of its hierarchies, and no other?
CHECK = """
import csv, sys
import duckdb
table, hierarchies, *columns = sys.argv[1:]
for name in columns:
    with open(f"{hierarchies}/{name}.csv", newline="") as file:
        values = {row[0] for row in csv.reader(file, delimiter=";")}
    found = {value for value, in duckdb.sql(f"SELECT DISTINCT {name} FROM read_parquet('{table}')").fetchall()}
    if found != values:
        sys.exit(f"column {name}: {len(found - values)} values have no hierarchy, {len(values - found)} do not occur")
"""

# The first rows of a Parquet table as CSV.
TO_CSV = """
import sys
import duckdb
source, target, rows = sys.argv[1:]
duckdb.execute(f"COPY (SELECT * FROM read_parquet('{source}') LIMIT {int(rows)}) TO '{target}' (HEADER)")
"""


def in_bytes(size):
    """A size as the command line takes it; nothing for none."""
    return size and int(size[:-2]) * UNITS[size[-2:]]


def table(python, rows):
    """A Parquet table of `rows` rows; made on first use."""
    data, hierarchies = FOLDER / f"landsend-{rows}-drawn.parquet", FOLDER / "landsend-hierarchies-drawn"
    if not data.exists() or not hierarchies.exists():
        print(f"making {rows:,} rows", file=sys.stderr)
        part = data.with_suffix(".part")
        generator = [python, PROJECT / "bench" / "gen_landsend_parquet.py", "--rows", str(rows), "--out", part]
        subprocess.run([*generator, "--hierarchies", hierarchies], check=True)
        part.rename(data)
    return data, hierarchies


def write_job(path, data, hierarchies, order):
    columns = "".join(
        f"[columns.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {{ file = '{hierarchies / name}.csv' }}\n" for name in COLUMNS
    )
    policy = '[policy]\nk = 10\nsuppression = "1%"\n'
    path.write_text(f"[input]\npath = '{data}'\n{policy}[output]\norder = \"{order}\"\n{columns}", encoding="utf-8")


def warm(path):
    """Reads a file once: which of the runs is the first, and has to wait for the disk, should not matter."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def anonymize(arguments, job, release, memory):
    """Wall seconds and peak memory of one run, within so much memory if any is named."""
    release.unlink(missing_ok=True)
    command = [arguments.incog, "anonymize", job, "--output", release]
    if memory:
        command += ["--memory", memory]
        if not arguments.soft:
            kibibytes = str(in_bytes(memory) // 1024)
            command = ["sh", "-c", 'ulimit -d "$1" && shift && exec "$@"', "sh", kibibytes, *command]
    seconds, peak, _ = timed(command)
    return seconds, peak


def scale(arguments, python):
    told = {}
    print(f"Parquet to Parquet, k = 10, suppression 1 %, shuffled, memory: {arguments.memory or 'no limit'}\n")
    print("| rows | file | seconds | microseconds a row | peak memory |\n|---|---|---|---|---|")
    for name, rows in [("small", arguments.small), ("large", arguments.rows)]:
        data, hierarchies = table(python, rows)
        if name == "small" and rows >= ROWS:
            subprocess.run([python, "-c", CHECK, data, hierarchies, *COLUMNS], check=True)
        job, release = FOLDER / f"large-{name}.toml", FOLDER / f"large-{name}.release.parquet"
        write_job(job, data, hierarchies, "shuffle")
        warm(data)
        runs = [anonymize(arguments, job, release, arguments.memory) for _ in range(arguments.rounds)]
        release.unlink()
        seconds, peak = min(run[0] for run in runs), max(run[1] for run in runs)
        told |= {f"{name}_rows": rows, f"{name}_seconds": seconds, f"{name}_peak_memory": peak}
        size = data.stat().st_size / 1e6
        print(f"| {rows:,} | {size:,.0f} MB | {seconds:.2f} | {1e6 * seconds / rows:.3f} | {peak / 1e6:,.0f} MB |", flush=True)
    told["time_ratio"] = told["large_seconds"] / told["small_seconds"]
    times = arguments.rows / arguments.small
    print(f"\n{times:.1f} times the rows take {told['time_ratio']:.1f} times as long (limit 25)")
    return told


def same_bytes(arguments, python):
    source, hierarchies = table(python, max(arguments.csv_rows, arguments.rows))
    data = FOLDER / f"landsend-{arguments.csv_rows}-drawn.csv"
    if not data.exists():
        part = data.with_suffix(".part")
        subprocess.run([python, "-c", TO_CSV, source, part, str(arguments.csv_rows)], check=True)
        part.rename(data)
    job, release = FOLDER / "large-bytes.toml", FOLDER / "large-bytes.release.csv"
    write_job(job, data, hierarchies, "input")
    size, limit = data.stat().st_size, arguments.csv_memory
    print(f"\nCSV to CSV, {arguments.csv_rows:,} rows, {size / 1e6:,.0f} MB, k = 10, suppression 1 %, rows in the order of the input\n")
    print("| memory | seconds | peak memory | SHA-256 of the release |\n|---|---|---|---|")
    told, hashes = {"csv_rows": arguments.csv_rows, "csv_bytes": size, "csv_memory": in_bytes(limit)}, set()
    warm(data)
    for name, memory in [("unlimited", None), ("limited", limit)]:
        seconds, peak = anonymize(arguments, job, release, memory)
        with open(release, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        release.unlink()
        hashes.add(digest)
        told |= {f"{name}_seconds": seconds, f"{name}_peak_memory": peak}
        print(f"| {memory or 'no limit'} | {seconds:.2f} | {peak / 1e6:,.0f} MB | {digest[:16]} |", flush=True)
    told["same_bytes"] = len(hashes) == 1
    print("\nthe same bytes" if told["same_bytes"] else "\n**not the same bytes**")
    return told


def main():
    arguments = argparse.ArgumentParser(description="Many rows, little memory.")
    arguments.add_argument("part", nargs="?", choices=["scale", "bytes"])
    arguments.add_argument("--rows", type=int, default=100_000_000)
    arguments.add_argument("--small", type=int, default=ROWS)
    arguments.add_argument("--memory", default="4GB", help="of scale; '' for no limit")
    arguments.add_argument("--csv-rows", type=int, default=46_000_000, help="of bytes")
    arguments.add_argument("--csv-memory", default="512MB", help="of bytes; '' for no limit")
    arguments.add_argument("--rounds", type=int, default=4, help="of which the fastest counts")
    arguments.add_argument("--soft", action="store_true", help="measure memory, but let the kernel not enforce its limit")
    arguments.add_argument("--incog", default=program("incog"))
    arguments.add_argument("--json", help="write the figures into this file, too")
    arguments = arguments.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = environment("venv-large", PACKAGES)
    parts = {"scale": scale, "bytes": same_bytes}
    told, problem = {}, None
    for name in [arguments.part] if arguments.part else parts:
        try:
            told |= parts[name](arguments, python)
        except SystemExit as stopped:
            # The other part is worth having all the same.
            problem = stopped
            print(f"\n**{name} failed**")
            print(stopped, file=sys.stderr)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(told, file, indent=2)
    sys.exit(1 if problem else 0)


if __name__ == "__main__":
    main()
