#!/usr/bin/env python3
"""How fast is incog in Python beside what Python people use, on frames in memory, and who loses less?

Each peer runs in an environment of its own, together with the wheel of this project, and by turns with it, on Adult (45,222 rows):

  anjana      `k_anonymity` beside `incog.anonymize`: nine quasi-identifiers, the same hierarchies, k = 5, 0 and 5 % of rows to suppress
  anonypy     Mondrian beside `incog.anonymize(algorithm="mondrian")`: eight quasi-identifiers, k = 10, no suppression
  polarfrost  the same, with its own Mondrian
  pycanon     k, alpha, l and t of a release beside `incog.verify`, which finds all four in one call
  binding     `incog.anonymize` beside the time that the engine itself takes (`release.seconds`)
  large       4.6 million rows (gen_landsend.py) as a polars frame beside `incog anonymize` from CSV to CSV

A whole call is timed: from the frame in memory to the released frame in memory. Of the Mondrians that is a frame with a row per released row for incog, and
one with a row per group for the others. Loss is LM: the mean over all cells of (values covered - 1) / (values of the column - 1). For
ANJANA it is computed from the labels of both releases; for the Mondrians from theirs, and as incog reports it for ours, where age is a number
with a step of 1 and every other column has the order of its hierarchy.

usage: bench/python.py [--only PEER]... [--rounds N] [--rows N] [--wheel FILE] [--data FOLDER] [--json FILE]
Needs `cargo build --release` and `maturin build --release` in `python/` before (or --wheel, the file or its folder), and PyPI once.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import anjana
import end_to_end
from peers import FOLDER, PROJECT, environment, program

ARROW = "pyarrow==26.0.1"
#: The packages of each peer; polarfrost names its version of polars itself.
PACKAGES = {
    "anjana": [anjana.PACKAGE, ARROW],
    "anonypy": ["anonypy==0.2.1", "pandas==2.3.3", ARROW],
    "polarfrost": ["polarfrost==0.2.1", "polars==1.30.0", "pandas==2.3.3", ARROW],
    "pycanon": ["pycanon==1.3.6", "numpy==2.0.2", "pandas==2.3.3", ARROW],
    "binding": ["polars==2.1.0", ARROW],
    "large": ["polars==2.1.0", ARROW],
}
MONDRIAN = ["age", "gender", "race", "marital_status", "education", "native_country", "work_class", "occupation"]

# What the programs below begin with: the table, its hierarchies, and a clock.
HEAD = """
import csv, json, sys, time, warnings
warnings.filterwarnings("ignore")
folder, rounds, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
import incog

def levels(name):
    with open(f"{folder}/hierarchies/{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=";"))

def timed(call):
    start = time.perf_counter()
    made = call()
    return time.perf_counter() - start, made

# The fastest of some rounds, by turns. What takes half a minute is not asked again.
def turns(*calls):
    best, made = [float("inf")] * len(calls), [None] * len(calls)
    for _ in range(rounds):
        for at, call in enumerate(calls):
            if 30 < best[at] < float("inf"):
                continue
            seconds, made[at] = timed(call)
            best[at] = min(best[at], seconds)
    return best, made
"""

ANJANA = HEAD + """
import pandas
from anjana.anonymity import k_anonymity
table = pandas.read_csv(f"{folder}/adult.csv", dtype=str)
columns = list(table.columns)
hierarchies = {name: {at: pandas.Series(of).values for at, of in enumerate(zip(*levels(name)))} for name in columns}
quasi = {name: incog.file(f"{folder}/hierarchies/{name}.csv") for name in columns}
told = []
for percent in (0, 5):
    theirs = lambda: k_anonymity(table, [], columns, 5, percent, hierarchies)
    ours = lambda: incog.anonymize(table, quasi_identifiers=quasi, k=5, suppression=f"{percent}%").frame
    (slow, fast), (their, our) = turns(theirs, ours)
    their[columns].to_csv(f"{out}/anjana-{percent}.csv", index=False)
    our[columns].to_csv(f"{out}/incog-{percent}.csv", index=False)
    told.append({"suppression": percent, "peer_seconds": slow, "incog_seconds": fast})
print(json.dumps(told))
"""

# The loss of groups whose labels are lists and ranges: a row with `count` each.
LOSS = """
def loss(groups, table_values):
    lost = rows = 0
    for group in groups:
        rows += group["count"]
        for name, values in table_values.items():
            label = group[name]
            label = label[0] if isinstance(label, list) else label
            if name == "age":
                ends = [int(end) for end in label.split("-")]
                share = (ends[-1] - ends[0]) / (max(values) - min(values))
            else:
                share = (len(set(label.split(","))) - 1) / (len(values) - 1)
            lost += share * group["count"]
    return lost / rows / len(table_values), rows

# In the order of their hierarchies, as labels that others cannot tell apart stand side by side there.
def ordered(name, values):
    leaves = sorted(levels(name), key=lambda path: path[::-1])
    return [path[0] for path in leaves if path[0] in values]

def question(columns, values):
    quasi = {name: None for name in columns}
    quasi["age"] = incog.intervals(1)
    orders = {name: {"order": ordered(name, values[name])} for name in columns if name != "age"}
    return {"quasi_identifiers": quasi, "columns": orders, "k": 10, "algorithm": "mondrian"}
"""

ANONYPY = HEAD + LOSS + """
import anonypy, pandas
columns = sys.argv[4].split(",")
table = pandas.read_csv(f"{folder}/adult.csv", dtype=str)[[*columns, "salary_class"]]
table["age"] = table["age"].astype(int)
for name in columns[1:]:
    table[name] = table[name].astype("category")
values = {name: set(table[name]) for name in columns}
asked = question(columns, values)
theirs = lambda: pandas.DataFrame(anonypy.Preserver(table, columns, "salary_class").anonymize_k_anonymity(10))
made = []
def ours():
    made[:] = [incog.anonymize(table, sensitive=["salary_class"], **asked)]
    return made[0].frame
(slow, fast), (their, our) = turns(theirs, ours)
lost, rows = loss(their.to_dict("records"), values)
assert rows == len(table) == len(our)
print(json.dumps({"peer_seconds": slow, "incog_seconds": fast, "peer_loss": lost, "incog_loss": made[0].report.loss}))
"""

# polarfrost imports pyspark for the functions that need Spark; those are not called, so there is a stand-in for it.
POLARFROST = HEAD + LOSS + """
import types
spark = types.ModuleType("pyspark.sql.functions")
spark.pandas_udf, spark.PandasUDFType, spark.col = None, None, None
for name in ("pyspark", "pyspark.sql"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["pyspark.sql.functions"] = spark
from polarfrost.mondrian import mondrian_k_anonymity_polars
import polars
columns = sys.argv[4].split(",")
table = polars.read_csv(f"{folder}/adult.csv", infer_schema_length=0).select([*columns, "salary_class"])
table = table.with_columns(polars.col("age").cast(polars.Int64))
values = {name: set(table[name]) for name in columns}
asked = question(columns, values)
theirs = lambda: mondrian_k_anonymity_polars(table, columns, "salary_class", 10, categorical=columns[1:])
made = []
def ours():
    made[:] = [incog.anonymize(table, sensitive=["salary_class"], **asked)]
    return made[0].frame
(slow, fast), (their, our) = turns(theirs, ours)
lost, rows = loss(their.to_dicts(), values)
assert rows == len(table) == len(our)
print(json.dumps({"peer_seconds": slow, "incog_seconds": fast, "peer_loss": lost, "incog_loss": made[0].report.loss}))
"""

PYCANON = HEAD + """
import pandas
import pycanon.anonymity as oracle
table = pandas.read_csv(f"{folder}/adult.csv", dtype=str)
quasi = [name for name in table.columns if name not in ("occupation", "salary_class")]
release = incog.anonymize(
    table, quasi_identifiers={name: incog.file(f"{folder}/hierarchies/{name}.csv") for name in quasi},
    sensitive=["occupation"], others=["salary_class"], k=5,
).frame
def theirs():
    at = (release, quasi)
    return (oracle.k_anonymity(*at), oracle.alpha_k_anonymity(*at, ["occupation"])[0], oracle.l_diversity(*at, ["occupation"]),
            oracle.t_closeness(*at, ["occupation"]))
def ours():
    found = incog.verify(release, quasi_identifiers=quasi, sensitive=["occupation"], k=1)
    measured = found.measured[0]
    return (found.smallest_group, measured.alpha[0] / measured.alpha[1], measured.distinct_l, measured.t)
(slow, fast), (their, our) = turns(theirs, ours)
same = all(abs(float(one) - float(other)) < 1e-9 for one, other in zip(their, our))
print(json.dumps({"peer_seconds": slow, "incog_seconds": fast, "same": same, "found": [float(one) for one in our]}))
"""

BINDING = HEAD + """
import polars
table = polars.read_csv(f"{folder}/adult.csv", infer_schema_length=0)
quasi = {name: incog.file(f"{folder}/hierarchies/{name}.csv") for name in table.columns}
calls, engine = [], []
for _ in range(rounds * 10):
    seconds, release = timed(lambda: incog.anonymize(table, quasi_identifiers=quasi, k=5, progress=False))
    calls.append(seconds)
    engine.append(release.seconds)
over = sorted(call - inside for call, inside in zip(calls, engine))
middle = len(over) // 2
print(json.dumps({"call_seconds": sorted(calls)[middle], "engine_seconds": sorted(engine)[middle], "overhead_seconds": over[middle]}))
"""

LARGE = HEAD + """
import os
import polars
data, hierarchies, columns = sys.argv[4], sys.argv[5], sys.argv[6].split(",")
table = polars.read_csv(data, infer_schema_length=0)
quasi = {name: incog.file(f"{hierarchies}/{name}.csv") for name in columns}
# What Python and the threads take is there before.
incog.anonymize(table.head(1000), quasi_identifiers=quasi, k=2, suppression="100%").frame
def resident(what):
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(what))
# What polars gives back late is not ours.
before = 0
while abs(resident("VmRSS") - before) > 1 << 20:
    before = resident("VmRSS")
    time.sleep(1)
with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
    file.write("5")
best, values = float("inf"), 0
for at in range(rounds):
    release = frame = None
    seconds, release = timed(lambda: incog.anonymize(table, quasi_identifiers=quasi, k=10, suppression="1%", progress=False))
    if at == 0:
        peak = resident("VmHWM") - before
    more, frame = timed(lambda: release.frame)
    best = min(best, seconds + more)
rows = len(frame)
coded = len(table) * len(columns) * 4 + sum(int(table[name].unique().str.len_bytes().sum()) for name in columns)
print(json.dumps({"seconds": best, "rows": rows, "coded_bytes": coded, "peak_bytes": peak}))
"""

PROGRAMS = {"anjana": ANJANA, "anonypy": ANONYPY, "polarfrost": POLARFROST, "pycanon": PYCANON, "binding": BINDING, "large": LARGE}


def ready(peer, wheel):
    """The Python of a peer, with this project's wheel."""
    python = environment(f"venv-python-{peer}", PACKAGES[peer])
    command = [python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", wheel]
    subprocess.run(command, check=True)
    return python


def asked(python, code, *arguments):
    done = subprocess.run([python, "-c", code, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def the_wheel(named):
    if named is not None and named.is_file():
        return named.resolve()
    folder = named or PROJECT / "crates" / "incog-py" / "target" / "wheels"
    wheels = sorted(folder.resolve().glob("incog-*.whl"), key=lambda at: at.stat().st_mtime)
    if not wheels:
        sys.exit("there is no wheel: run `maturin build --release` in python/ first, or give --wheel")
    return wheels[-1]


def against_the_command(python, arguments):
    data, hierarchies = end_to_end.table(arguments.rows)
    job, release = FOLDER / "python-large.toml", FOLDER / "python-large.release.csv"
    end_to_end.write_job(job, data, hierarchies)
    theirs = []
    for _ in range(arguments.rounds):
        release.unlink(missing_ok=True)
        theirs.append(end_to_end.timed([program("incog"), "anonymize", job, "--output", release])[0])
    ours = asked(python, LARGE, data.parent, arguments.rounds, ".", data, hierarchies, ",".join(end_to_end.COLUMNS))
    return {**ours, "command_seconds": min(theirs)}


def measured(peer, arguments, wheel):
    python = ready(peer, wheel)
    data = arguments.data.resolve()
    if peer == "large":
        return against_the_command(python, arguments)
    with tempfile.TemporaryDirectory() as out:
        told = asked(python, PROGRAMS[peer], data, arguments.rounds, out, ",".join(MONDRIAN))
        if peer == "anjana":
            n_rows = len(anjana.read(data / "adult.csv"))
            for one in told:
                for who in ("anjana", "incog"):
                    rows = anjana.read(Path(out) / f"{who}-{one['suppression']}.csv")
                    one["peer_loss" if who == "anjana" else "incog_loss"] = anjana.loss(rows, data, n_rows)[0]
        return told


def shown(peer, told):
    """Rows of the table: what, peer, incog, ratio, losses."""
    if peer == "anjana":
        for one in told:
            yield [f"{anjana.PACKAGE}, suppression {one['suppression']} %", *times(one), f"{one['peer_loss']:.4f}", f"{one['incog_loss']:.4f}"]
    elif peer in ("anonypy", "polarfrost"):
        yield [f"{PACKAGES[peer][0]}, Mondrian", *times(told), f"{told['peer_loss']:.4f}", f"{told['incog_loss']:.4f}"]
    elif peer == "pycanon":
        yield [f"{PACKAGES[peer][0]}, k, alpha, l, t", *times(told), "", "the same answers" if told["same"] else "**other answers**"]
    elif peer == "binding":
        ms = {name: 1000 * seconds for name, seconds in told.items()}
        ratio = told["call_seconds"] / told["engine_seconds"]
        yield ["the engine alone", f"{ms['engine_seconds']:.2f} ms", f"{ms['call_seconds']:.2f} ms", f"{ratio:.3f}", "", f"{ms['overhead_seconds']:.2f} ms over"]
    else:
        ratio = told["seconds"] / told["command_seconds"]
        over = told["peak_bytes"] / told["coded_bytes"]
        row = [f"the command line, {told['rows']:,} rows released", f"{told['command_seconds']:.2f} s", f"{told['seconds']:.2f} s", f"{ratio:.2f}"]
        yield [*row, "", f"peak {over:.2f} × the coded table"]


def times(one):
    slow, fast = one["peer_seconds"], one["incog_seconds"]
    return [f"{slow:.2f} s", f"{1000 * fast:.1f} ms", f"{slow / fast:,.0f} ×"]


def main():
    arguments = argparse.ArgumentParser(description="incog in Python beside its peers.")
    arguments.add_argument("--only", action="append", choices=list(PROGRAMS), metavar="PEER")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--rows", type=int, default=end_to_end.ROWS, help="rows of the large table")
    arguments.add_argument("--wheel", type=Path)
    shared = Path(os.environ.get("INCOG_DATA", PROJECT.parent / "shared" / "data"))
    arguments.add_argument("--data", type=Path, default=shared / "adult")
    arguments.add_argument("--json", help="write the figures into this file, too")
    arguments = arguments.parse_args()
    wheel = the_wheel(arguments.wheel)
    FOLDER.mkdir(parents=True, exist_ok=True)
    figures = {"wheel_bytes": wheel.stat().st_size}
    print(f"Adult, fastest of {arguments.rounds} rounds; the wheel has {wheel.stat().st_size / 1e6:.1f} MB\n")
    print("| beside | it | incog | times faster | its loss | our loss |\n|---|---|---|---|---|---|")
    for peer in arguments.only or PROGRAMS:
        figures[peer] = measured(peer, arguments, wheel)
        for row in shown(peer, figures[peer]):
            print(f"| {' | '.join(row)} |", flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(figures, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
