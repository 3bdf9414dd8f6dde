#!/usr/bin/env python3
"""How long does the release of a database take, end to end, beside the plainest copy of its tables? And what is left of a
realistic one?

  scale    students as in gen_students.py, 10,000 and 100,000: `incog anonymize` (MiRaCleX, k = 10, threshold 0.3, at most
           150 open clusters) by turns with DuckDB reading and writing the same three files, all columns as text; the ratio,
           the growth, and the peak memory beside the files' size
  synthea  1,171 patients in five tables, k = 5, by MiRaCle and MiRaCleX: what was removed and what each table lost,
           verified from the files

usage: bench/databases.py [scale | synthea] [--rounds N] [--incog FILE]
Needs `cargo build --release` before; scale also PyPI once (duckdb, into target/bench/venv), synthea the folder synthea/ in
INCOG_DATA or ../shared/data.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from end_to_end import DUCKDB, timed
from peers import FOLDER, PROJECT, environment

TABLES = ["student", "takes", "book"]

# Runs in the environment that has DuckDB: copies tables and prints how long that took.
COPY = """
import sys, time
import duckdb
connection = duckdb.connect(config={"threads": 2})
start = time.perf_counter()
for source, target in zip(sys.argv[1::2], sys.argv[2::2]):
    source, target = (path.replace("'", "''") for path in (source, target))
    connection.execute(f"COPY (SELECT * FROM read_csv('{source}', all_varchar=true)) TO '{target}'")
print(time.perf_counter() - start)
"""

STUDENTS = """[database]
person = "student"
[policy]
k = 10
[search]
algorithm = "miraclex"
threshold = 0.3
cluster_limit = 150
[tables.student]
path = "student.csv"
key = "sid"
columns.gpa = { role = "sensitive" }
[tables.takes]
path = "takes.csv"
key = "scid"
parent = { table = "student", column = "sid" }
columns.course = { role = "quasi-identifier", hierarchy = { file = "dgh/course.csv" } }
columns.grade = { role = "sensitive" }
[tables.book]
path = "book.csv"
key = "bid"
parent = { table = "takes", column = "scid" }
columns.book = { role = "quasi-identifier", hierarchy = { file = "dgh/book.csv" } }
columns.price = { role = "sensitive" }
"""

# What a neighbour may know of a patient is a quasi-identifier; codes say the same as descriptions and are left out.
SYNTHEA = {
    "patients": ("patient_id", None, {
        "birthdate": "birthdate", "gender": "gender", "race": "race", "ethnicity": "ethnicity", "marital": "marital",
        "city": "city", "county": "county", "zip": "zip", "healthcare_expenses": "sensitive"}),
    "encounters": ("encounter_id", ("patients", "patient_id"), {"date": "encounter_date"}),
    "conditions": ("condition_id", ("encounters", "encounter_id"), {
        "code": "identifier", "description": "condition", "stop": "identifier"}),
    "careplans": ("careplan_id", ("patients", "patient_id"), {
        "start": ["year", "decade"], "code": "identifier", "description": "careplan", "reason": "sensitive"}),
    "immunizations": ("immunization_id", ("patients", "patient_id"), {
        "date": ["year", "decade"], "code": "identifier", "description": "immunization"}),
}


def students(count):
    """The folder of a database of `count` students; made on first use."""
    folder = FOLDER / f"students-{count}"
    if not (folder / "book.csv").exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        subprocess.run([sys.executable, PROJECT / "bench" / "gen_students.py", "--students", str(count), "--out", part],
                       check=True)
        part.rename(folder)
    (folder / "incog.toml").write_text(STUDENTS, encoding="utf-8")
    return folder


def scale(arguments):
    python = environment("venv", [DUCKDB])
    print(f"fastest of {arguments.rounds} rounds, {DUCKDB}, all columns as text\n")
    print("| students | rows | files | duckdb | incog | ratio | medians | peak memory | of the files |")
    print("|---|---|---|---|---|---|---|---|---|")
    for count in [10_000, 100_000]:
        folder = students(count)
        sources = [folder / f"{table}.csv" for table in TABLES]
        size = sum(source.stat().st_size for source in sources)
        rows = sum(sum(1 for _ in open(source, "rb")) - 1 for source in sources)
        copy, release = FOLDER / "copy", FOLDER / "students.release"
        copies, runs, memory = [], [], []
        for _ in range(arguments.rounds):
            shutil.rmtree(copy, ignore_errors=True)
            copy.mkdir()
            pairs = [path for source in sources for path in (source, copy / source.name)]
            copies.append(float(timed([python, "-c", COPY, *pairs])[2].split()[-1]))
            shutil.rmtree(release, ignore_errors=True)
            seconds, peak, _ = timed([arguments.incog, "anonymize", folder / "incog.toml", "--output", release])
            runs.append(seconds)
            memory.append(peak)
        medians = statistics.median(runs) / statistics.median(copies)
        print(f"| {count:,} | {rows:,} | {size / 2**20:.1f} MiB | {min(copies):.3f} s | {min(runs):.3f} s | "
              f"{min(runs) / min(copies):.1f} | {medians:.1f} | {max(memory) / 2**20:.0f} MiB | {max(memory) / size:.1f} |")


def write_synthea(path, data, algorithm):
    text = f'[database]\nperson = "patients"\n[policy]\nk = 5\n[search]\nalgorithm = "{algorithm}"\n'
    for table, (key, parent, columns) in SYNTHEA.items():
        text += f"[tables.{table}]\npath = '{data / table}.csv'\nkey = \"{key}\"\n"
        if parent:
            text += f'parent = {{ table = "{parent[0]}", column = "{parent[1]}" }}\n'
        for column, what in columns.items():
            if isinstance(what, list):
                role = f'role = "quasi-identifier", hierarchy = {{ dates = {json.dumps(what)} }}'
            elif what in ("sensitive", "identifier"):
                role = f'role = "{what}"'
            else:
                role = f"role = \"quasi-identifier\", hierarchy = {{ file = '{data / 'dgh' / what}.csv' }}"
            text += f"columns.{column} = {{ {role} }}\n"
    path.write_text(text, encoding="utf-8")


def synthea(arguments):
    data = Path(os.environ.get("INCOG_DATA", PROJECT / ".." / "shared" / "data")).resolve() / "synthea"
    if not data.exists():
        sys.exit("there is no folder synthea/ in INCOG_DATA")
    print("| algorithm | table | rows | removed | loss |\n|---|---|---|---|---|")
    for algorithm in ["miracle", "miraclex"]:
        job, release = FOLDER / f"synthea-{algorithm}.toml", FOLDER / f"synthea-{algorithm}.release"
        write_synthea(job, data, algorithm)
        shutil.rmtree(release, ignore_errors=True)
        seconds, _, _ = timed([arguments.incog, "anonymize", job, "--output", release])
        verified, _, _ = timed([arguments.incog, "verify", release, "--job", job])
        record = json.loads((release / "release.incog.json").read_text())
        for name in SYNTHEA:
            part = record["tables"][name]
            print(f"| {algorithm} | {name} | {part['input_rows']} | {part['removed_rows']} | {float(part['loss']):.4f} |")
        classes = sum(count for _, count in record["class_sizes"])
        print(f"| {algorithm} | all | | {record['suppressed_persons']} persons | {float(record['scores']['loss']):.4f} |")
        print(f"{algorithm}: {classes} classes, the smallest of {record['claims']['smallest_class']} persons; "
              f"{seconds:.2f} s, verified from the files in {verified:.2f} s", file=sys.stderr)


def main():
    arguments = argparse.ArgumentParser(description="Databases, end to end.")
    arguments.add_argument("what", choices=["scale", "synthea"], nargs="?")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--incog", type=Path, default=PROJECT / "target" / "release" / "incog")
    arguments = arguments.parse_args()
    if not arguments.incog.exists():
        sys.exit(f"there is no {arguments.incog}: run `cargo build --release` first")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if arguments.what != "synthea":
        scale(arguments)
    if arguments.what != "scale":
        synthea(arguments)


if __name__ == "__main__":
    main()
