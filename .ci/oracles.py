#!/usr/bin/env python3
"""Do others find the same numbers in our releases?

Makes releases with the `incog` binary and has each one measured three times: by incog, which writes what it finds into
the release record, by the checker below (standard library, written from the definitions), and by pyCANON. Every number
that two of them know must be the same; fractions are compared as fractions.

  Adult       45,222 people, k = 10, suppression 1 %; rows from INCOG_DATA or ../shared/data:
              nine quasi-identifiers; eight, with occupation sensitive; eight, with salary_class sensitive
  hospital    several visits a person, generated here; k counts persons
  combinations  Adult with every combination of at most three of nine quasi-identifiers 10-anonymous, rows left out as defined
  local       Adult once more, by `top-down`, `full-subgraph`, `cell-generalization` and `local`, and the hospital by visits
  university  the bundled database: students in three tables, by each algorithm for databases; classes of equal trees, loss
              and discernibility are recounted from the files by the checker below alone

The checker below also recodes the input by the hierarchy files and looks for the generalization that gives exactly
the released rows: so levels, suppressed rows, and persons, who are not in a release, are found independently too. A local
recoding, which it has in the order of the input, is compared row by row: each cell must be at some level. At last each
release is broken on purpose, and both must notice.

Exit code 0: all agree, or there was no Adult ("skipped"). Otherwise the first line says which number differs.
No value of a cell is printed.
"""
import csv
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TARGET = PROJECT / "target" / "oracles"
INCOG = Path(os.environ.get("INCOG", PROJECT / "target" / "debug" / "incog"))

K = 10
SUPPRESSION = "1%"
LOCAL = {"top-down", "full-subgraph", "cell-generalization", "local"}
ADULT = ["age", "gender", "race", "marital_status", "education", "native_country", "work_class", "occupation",
         "salary_class"]
# Sensitive column, algorithm, what is required of the column.
ADULT_RELEASES = [
    (None, None, None),
    ("occupation", None, None),
    ("salary_class", None, None),
    (None, "top-down", None),
    ("occupation", "top-down", None),
    ("occupation", None, 'model = "alpha-k"\nalpha = "0.5"'),
    ("occupation", "top-down", 'model = "alpha-k"\nalpha = "0.3"'),
    ("occupation", None, 'model = "distinct-l"\nl = 5'),
    ("salary_class", None, 'model = "t-closeness"\nt = "0.3"'),
    ("occupation", "full-subgraph", 'model = "alpha-k"\nalpha = "0.5"'),
    ("salary_class", "cell-generalization", 'model = "distinct-l"\nl = 2'),
    ("occupation", "local", 'model = "alpha-k"\nalpha = "0.4"'),
    ("occupation", "local", 'model = "distinct-l"\nl = 3'),
]


class Disagreement(Exception):
    """Two checkers say different things of one release."""


# --- what incog says ---------------------------------------------------------------------------------------------

class Claim:
    """A number as incog states it: a count, a fraction (which may be written 1.4), or rounded to some digits."""

    def __init__(self, name, text):
        self.value = Fraction(text)
        # The only number that is not a fraction.
        digits = len(text.partition(".")[2]) if name == "entropy_l" else None
        self.slack = Fraction(1, 2 * 10**digits) if digits else Fraction(0)

    def agrees_with(self, other):
        # A hair for the floats of whoever is compared; counts and fractions are compared exactly.
        hair = Fraction(1, 10**9) if isinstance(other, float) else 0
        return abs(self.value - Fraction(other)) <= self.slack + hair


def claims(path):
    """What incog says of a release: name -> Claim. The only place that knows where the record says so."""
    record = json.loads(path.read_text(encoding="utf-8"))
    of_all = record["claims"]
    found = {
        "asked_k": of_all["k"],
        "budget": of_all["suppression_budget"],
        "k": of_all["smallest_group"],
        "persons": of_all["fewest_persons"],
        "collected": record["input"]["rows"],
        "released": record["release"]["rows"],
        "suppressed": record["suppressed_rows"],
    }
    found |= {f"level of {name}": level for name, level in record["levels"].items()}
    for name, column in record.get("local", {"columns": {}})["columns"].items():
        found |= {f"rows of {name} at level {level}": rows for level, rows in column["rows"]}
    found |= {f"groups of {rows}": groups for rows, groups in record["group_sizes"]}
    for measured in of_all["sensitive"].values():
        # From l = 2 on.
        ratios = measured.pop("recursive_c")
        found |= measured | {f"recursive_c, l = {l}": ratio for l, ratio in enumerate(ratios, start=2)}
    return {name: Claim(name, value) for name, value in found.items() if value is not None}


def verify(release, *arguments):
    """The exit code of `incog verify`, and what it prints."""
    told = subprocess.run([INCOG, "verify", release, *arguments], capture_output=True, text=True, check=False)
    return told.returncode, told.stdout + told.stderr


# --- the definitions, spelled out ----------------------------------------------------------------------------------

def read(path, delimiter=","):
    """Rows as strings: an empty cell stays an empty cell, 01 stays 01."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=delimiter, strict=True))


def read_table(path):
    header, *rows = read(path)
    if any(len(row) != len(header) for row in rows):
        raise Disagreement("a released row has more or fewer fields than the header")
    return header, rows


def groups_of(header, rows, quasi):
    at = [header.index(name) for name in quasi]
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[i] for i in at)].append(row)
    return groups


def measure(header, rows, quasi, sensitive):
    """k and group sizes; for a sensitive column alpha, l in three ways, and t (all values equally far apart)."""
    groups = groups_of(header, rows, quasi)
    found = {"k": min(map(len, groups.values())), "released": len(rows)}
    found |= {f"groups of {size}": n for size, n in Counter(map(len, groups.values())).items()}
    if sensitive is None:
        return found
    at = header.index(sensitive)
    overall = Counter(row[at] for row in rows)
    alpha, distinct, entropy, t, uniform = Fraction(0), math.inf, math.inf, Fraction(0), 0
    ratios = defaultdict(Fraction)
    for group in groups.values():
        counts, size = Counter(row[at] for row in group), len(group)
        alpha = max(alpha, Fraction(max(counts.values()), size))
        distinct = min(distinct, len(counts))
        entropy = min(entropy, -math.fsum(n / size * math.log(n / size) for n in counts.values()))
        distance = sum(abs(Fraction(counts[value], size) - Fraction(n, len(rows))) for value, n in overall.items())
        t = max(t, distance / 2)
        uniform += len(counts) == 1
        # Recursive (c, l): the most frequent value against the l-th and all after it.
        ranked = sorted(counts.values(), reverse=True)
        for l in range(2, len(ranked) + 1):
            ratios[l] = max(ratios[l], Fraction(ranked[0], sum(ranked[l - 1:])))
    # A group without an l-th value is not (c, l)-diverse for any c.
    found |= {f"recursive_c, l = {l}": ratio for l, ratio in ratios.items() if l <= distinct}
    return found | {"alpha": alpha, "distinct_l": distinct, "entropy_l": math.exp(entropy), "t": t,
                    "uniform_groups": uniform}


def recount(data, release, hierarchies, quasi, unit):
    """Levels, suppressed rows and the fewest persons of a group, from the input.

    Tries every combination of levels that has the released labels, recodes the input, leaves out the groups with
    fewer than K persons, and takes the combination that gives exactly the released rows.
    """
    in_header, in_rows = read_table(data)
    header, rows = read_table(release)
    paths = {name: {path[0]: path for path in read(hierarchies / f"{name}.csv", ";")} for name in quasi}
    levels = []
    for name in quasi:
        labels = {row[header.index(name)] for row in rows}
        height = len(next(iter(paths[name].values())))
        levels.append([level for level in range(height)
                       if labels <= {path[level] for path in paths[name].values()}])
    released = Counter(map(tuple, rows))
    source = [in_header.index(name) for name in header]
    person = None if unit is None else in_header.index(unit)
    for node in product(*levels):
        level_of = dict(zip(quasi, node))
        recoded = defaultdict(list)
        for row_idx, row in enumerate(in_rows):
            out = tuple(paths[name][row[i]][level_of[name]] if name in level_of else row[i]
                        for name, i in zip(header, source))
            key = tuple(cell for name, cell in zip(header, out) if name in level_of)
            recoded[key].append((out, row_idx if person is None else row[person]))
        kept = [group for group in recoded.values() if len({who for _, who in group}) >= K]
        if Counter(out for group in kept for out, _ in group) == released:
            return {"collected": len(in_rows), "suppressed": len(in_rows) - len(rows),
                    **{f"level of {name}": level for name, level in level_of.items()},
                    "persons": min(len({who for _, who in group}) for group in kept)}
    raise Disagreement("no generalization of the input gives the released rows")


def recount_local(data, release, hierarchies, quasi):
    """How many cells are at which level, given that rows are in the order of the input and none is suppressed."""
    (in_header, *in_rows), (header, *rows) = read(data), read(release)
    if len(rows) != len(in_rows):
        raise Disagreement(f"{len(rows)} rows are released, {len(in_rows)} were collected")
    paths = {name: {path[0]: path for path in read(hierarchies / f"{name}.csv", ";")} for name in quasi}
    found = Counter()
    for row_idx, (collected, released) in enumerate(zip(in_rows, rows)):
        for name, label in zip(header, released):
            value = collected[in_header.index(name)]
            path = paths[name][value] if name in paths else [value]
            if label not in path:
                raise Disagreement(f"row {row_idx + 1}, column {name}: the released label is no ancestor of the value")
            if name in paths:
                found[f"rows of {name} at level {path.index(label)}"] += 1
    return {"collected": len(in_rows), "suppressed": 0, **found}


def pycanon(release, quasi, sensitive):
    """The same by pyCANON, as far as it is right: its entropy l and recursive (c,l) are not."""
    import pandas
    from pycanon import anonymity

    # Strings only. By default pandas takes empty cells and NA as missing, and drops them from groups.
    table = pandas.read_csv(release, dtype=str, keep_default_na=False)
    found = {"k": anonymity.k_anonymity(table, quasi)}
    if sensitive is not None:
        found["alpha"], _ = anonymity.alpha_k_anonymity(table, quasi, [sensitive])
        found["distinct_l"] = anonymity.l_diversity(table, quasi, [sensitive])
        found["t"] = anonymity.t_closeness(table, quasi, [sensitive])
    return {name: float(value) for name, value in found.items()}


# --- jobs --------------------------------------------------------------------------------------------------------

def write_job(job, data, hierarchies, roles, unit, algorithm, require):
    """A job file; `roles` are in column order."""
    # With a model, groups may be left out that are large enough: recounting which is for the model's own tests.
    suppression = "0%" if require else SUPPRESSION
    policy = f'k = {K}\nsuppression = "{suppression}"\n' + (f'unit = "{unit}"\n' if unit else "")
    columns = []
    for name, role in roles.items():
        columns.append(f'[columns.{name}]\nrole = "{role}"\n')
        if role == "quasi-identifier":
            columns.append(f"hierarchy = {{ file = '{hierarchies / name}.csv' }}\n")
    search = f'[search]\nalgorithm = "{algorithm}"\n' if algorithm else ""
    # Local recoding is recounted row by row.
    output = "[output]\norder = 'input'\n" if algorithm in LOCAL else ""
    job.write_text(f"[input]\npath = '{data}'\n{output}[policy]\n{policy}{require or ''}{search}{''.join(columns)}", encoding="utf-8")


def hospital(folder):
    """Visits of 3,000 people: some come once, some thirty times; a few move or have a birthday in between."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(20050614)
    zips = [f"{area}{street:02}" for area in ("537", "538", "541") for street in range(0, 60, 4)] + [""]
    ills = ["flu", "asthma", "fracture", "diabetes", "hepatitis, B", 'so-called "cold"', ""]
    visits = []
    for patient in range(3000):
        age, sex, code = chance.randint(0, 99), chance.choice("fm"), chance.choice(zips)
        for _ in range(min(30, int(chance.paretovariate(1.2)))):
            visits.append([f"p{patient:04}", str(age), sex, code, chance.choice(ills)])
            age = min(99, age + (chance.random() < 0.05))
            code = chance.choice(zips) if chance.random() < 0.03 else code
    chance.shuffle(visits)
    band = lambda age, width: f"[{age // width * width}, {age // width * width + width})"
    hierarchies = {
        "age": [[str(age), band(age, 5), band(age, 10), band(age, 50), "*"] for age in range(100)],
        "sex": [["f", "*"], ["m", "*"]],
        "zip": [[code, code[:4] + "*", code[:3] + "**", "*"] if code else ["", "none", "none", "*"] for code in zips],
    }
    for name, rows in hierarchies.items():
        write(folder / f"{name}.csv", rows, ";")
    write(folder / "visits.csv", [["patient", "age", "sex", "zip", "ill"], *visits], ",")
    return folder / "visits.csv"


def write(path, rows, delimiter):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)


# --- the comparison ----------------------------------------------------------------------------------------------

def compare(who, claimed, found):
    for name, value in found.items():
        if name not in claimed:
            raise Disagreement(f"{name}: {who} finds {float(value):.6g}, incog says nothing of it")
        if not claimed[name].agrees_with(value):
            raise Disagreement(f"{name}: {who} finds {float(value):.6g}, incog {float(claimed[name].value):.6g}")


def broken_is_noticed(release, job, record, quasi, is_local):
    """Takes a row out of a smallest group: that group is not whole any more. With local recoding nobody can tell, so as
    many rows as make the group too small."""
    header, rows = read_table(release)
    smallest = min(groups_of(header, rows, quasi).values(), key=len)
    for row in smallest[:max(1, len(smallest) - K + 1) if is_local else 1]:
        rows.remove(row)
    broken = release.with_suffix(".broken.csv")
    write(broken, [header, *rows], ",")
    for arguments in [("--job", job), ("--record", record)]:
        code, _ = verify(broken, *arguments)
        if code != 1:
            raise Disagreement(f"a row was taken out of a smallest group: verify {arguments[0]} exits with {code}")
    if measure(header, rows, quasi, None)["k"] >= len(smallest):
        raise Disagreement("a row was taken out of a smallest group: the plain checker did not notice")


def check(title, data, hierarchies, roles, unit=None, algorithm=None, require=None):
    quasi = [name for name, role in roles.items() if role == "quasi-identifier"]
    sensitive = next((name for name, role in roles.items() if role == "sensitive"), None)
    job, release = TARGET / f"{title}.toml", TARGET / f"{title}.release.csv"
    record = release.with_name(f"{release.name}.incog.json")
    write_job(job, data, hierarchies, roles, unit, algorithm, require and f'[[policy.require]]\nsensitive = "{sensitive}"\n{require}\n')
    release.unlink(missing_ok=True)
    record.unlink(missing_ok=True)
    made = subprocess.run([INCOG, "anonymize", job, "--output", release], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Disagreement(f"incog anonymize exits with {made.returncode}:\n{made.stderr}")
    for arguments in [("--job", job), ("--record", record)]:
        code, text = verify(release, *arguments)
        if code != 0:
            raise Disagreement(f"incog verify {arguments[0]} refuses its own release:\n{text}")
    claimed = claims(record)
    if algorithm in LOCAL:
        counted = recount_local(data, release, hierarchies, quasi)
    else:
        counted = recount(data, release, hierarchies, quasi, unit)
        if unit is None and counted.pop("persons") < K:
            raise Disagreement("a group is too small")
    counted |= {"asked_k": K, "budget": 0 if require else counted["collected"] // 100}
    if counted["suppressed"] > counted["budget"]:
        raise Disagreement(f"{counted['suppressed']} rows are suppressed, more than {SUPPRESSION}")
    plain = measure(*read_table(release), quasi, sensitive) | counted
    smallest = plain["persons"] if unit else plain["k"]
    if smallest < K:
        raise Disagreement(f"k: the plain checker finds {smallest}, the job asks for {K}")
    compare("the plain checker", claimed, plain)
    compare("pyCANON", claimed, pycanon(release, quasi, sensitive))
    silent = set(claimed) - set(plain)
    if silent:
        raise Disagreement(f"incog claims what was not recounted: {', '.join(sorted(silent))}")
    broken_is_noticed(release, job, record, quasi, algorithm in LOCAL)
    numbers = [f"{name} {float(value):.6g}" for name, value in plain.items() if not name.startswith("groups of")]
    n_sizes = sum(name.startswith("groups of") for name in plain)
    print(f"oracles: {title}: all agree: {', '.join(numbers)}, and groups of {n_sizes} sizes")


# --- combinations of a few quasi-identifiers -------------------------------------------------------------------------

def rare(rows, most):
    """Rows that have a combination of at most `most` labels that fewer than K rows have."""
    found = set()
    for size in range(1, most + 1):
        for columns in combinations(range(len(rows[0]) if rows else 0), size):
            counts = Counter(tuple(row[at] for at in columns) for row in rows)
            found |= {at for at, row in enumerate(rows) if counts[tuple(row[at] for at in columns)] < K}
    return found


def check_combinations(title, data, hierarchies, quasi, most):
    """A release in which every combination of at most `most` quasi-identifiers is K-anonymous."""
    job, release = TARGET / f"{title}.toml", TARGET / f"{title}.release.csv"
    record = release.with_name(f"{release.name}.incog.json")
    write_job(job, data, hierarchies, dict.fromkeys(quasi, "quasi-identifier"), None, None, None)
    job.write_text(job.read_text(encoding="utf-8").replace("[policy]\n", f"[policy]\ncombinations = {most}\n"), encoding="utf-8")
    release.unlink(missing_ok=True)
    record.unlink(missing_ok=True)
    made = subprocess.run([INCOG, "anonymize", job, "--output", release], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Disagreement(f"incog anonymize exits with {made.returncode}:\n{made.stderr}")
    for arguments in [("--job", job), ("--record", record)]:
        code, text = verify(release, *arguments)
        if code != 0:
            raise Disagreement(f"incog verify {arguments[0]} refuses its own release:\n{text}")
    told = json.loads(record.read_text(encoding="utf-8"))
    if told["claims"]["combinations"] != most:
        raise Disagreement("the record does not say what was asked for")
    header, rows = read_table(release)
    at = [header.index(name) for name in quasi]
    if rare([tuple(row[i] for i in at) for row in rows], most):
        raise Disagreement(f"a combination of at most {most} labels stands in fewer than {K} rows")
    # The definition of what is left out: the input at the recorded levels, without rare rows until there are none.
    in_header, in_rows = read_table(data)
    paths = {name: {path[0]: path for path in read(hierarchies / f"{name}.csv", ";")} for name in quasi}
    kept = [tuple(paths[name][row[in_header.index(name)]][told["levels"][name]] for name in quasi) for row in in_rows]
    while out := rare(kept, most):
        kept = [row for at, row in enumerate(kept) if at not in out]
    if Counter(kept) != Counter(tuple(row[i] for i in at) for row in rows):
        raise Disagreement("other rows were left out than the definition says")
    if told["suppressed_rows"] != len(in_rows) - len(kept):
        raise Disagreement("the record says another number of suppressed rows")
    # Leaves K - 1 rows of some combination.
    counts = Counter((row[at[0]], row[at[1]]) for row in rows)
    pair, n = min(counts.items(), key=lambda item: item[1])
    broken = release.with_suffix(".broken.csv")
    spare = n - K + 1
    left = []
    for row in rows:
        if (row[at[0]], row[at[1]]) == pair and spare > 0:
            spare -= 1
        else:
            left.append(row)
    write(broken, [header, *left], ",")
    code, _ = verify(broken, "--qi", ",".join(quasi), "-k", str(K), "--combinations", str(most))
    if code != 1 or not rare([tuple(row[i] for i in at) for row in left], most):
        raise Disagreement(f"a combination was made rare: verify exits with {code}")
    print(f"oracles: {title}: all agree: {len(rows)} rows released, {told['suppressed_rows']} suppressed")


# --- databases ---------------------------------------------------------------------------------------------------

# Table, its key, the table above with the column that has its keys, its quasi-identifier.
UNIVERSITY = [("student", "sid", None, None), ("takes", "scid", ("student", "sid"), "course"),
              ("book", "bid", ("takes", "scid"), "book")]


def trees(folder):
    """Each person's tree of quasi-identifiers, in a form that is the same for equal trees."""
    below = defaultdict(list)
    tables = {name: read_table(folder / f"{name}.csv") for name, *_ in UNIVERSITY}

    def tree(name, row):
        header, _ = tables[name]
        _, key, _, quasi = next(table for table in UNIVERSITY if table[0] == name)
        children = [(child, tuple(sorted(tree(child, lower) for lower in below[child, row[header.index(key)]])))
                    for child, _, above, _ in UNIVERSITY if above and above[0] == name]
        return (row[header.index(quasi)] if quasi else "", tuple(children))

    for name, _, above, _ in UNIVERSITY:
        if above:
            header, rows = tables[name]
            for row in rows:
                below[name, row[header.index(above[1])]].append(row)
    return [tree("student", row) for row in tables["student"][1]]


def database_loss(source, folder):
    """LM of each table and of all: labels over m of L leaves cost (m - 1) / (L - 1), removed cells 1."""
    costs, cells = {}, {}
    for name, _, _, quasi in UNIVERSITY:
        if quasi is None:
            continue
        (_, collected), (header, rows) = read_table(source / f"{name}.csv"), read_table(folder / f"{name}.csv")
        paths = read(source / "dgh" / f"{quasi}.csv", ";")
        covered = defaultdict(set)
        for path in paths:
            for label in path:
                covered[label].add(path[0])
        cost = sum(Fraction(len(covered[row[header.index(quasi)]]) - 1, len(paths) - 1) for row in rows)
        costs[name], cells[name] = cost + len(collected) - len(rows), len(collected)
    return {name: costs[name] / cells[name] for name in costs} | {"all": sum(costs.values()) / sum(cells.values())}


def take_a_book(folder, k):
    """Takes a book out so that a class gets too small. Not any book: without it, its person may be like many others."""
    header, rows = read_table(folder / "book.csv")
    for at in range(len(rows)):
        write(folder / "book.csv", [header, *rows[:at], *rows[at + 1:]], ",")
        if min(Counter(trees(folder)).values()) < k:
            return
    raise Disagreement("whatever book is taken out, the plain checker does not notice")


def check_university(algorithm):
    source, folder = PROJECT / "examples" / "university", TARGET / f"university-{algorithm}"
    job, text = TARGET / f"university-{algorithm}.toml", (source / "incog.toml").read_text(encoding="utf-8")
    text = text.replace('"miraclex"', f'"{algorithm}"')
    if algorithm == "dmiracle":
        text = text.replace("[search]", '[[policy.require]]\nmodel = "distinct-l"\nsensitive = "takes.grade"\nl = 8\n[search]')
    for name, *_ in UNIVERSITY:
        text = text.replace(f'"{name}.csv"', f"'{source / name}.csv'").replace(f'"dgh/{name}.csv"', f"'{source / 'dgh' / name}.csv'")
    job.write_text(text.replace('"dgh/course.csv"', f"'{source / 'dgh' / 'course.csv'}'"), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    made = subprocess.run([INCOG, "anonymize", job, "--output", folder], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Disagreement(f"incog anonymize exits with {made.returncode}:\n{made.stderr}")
    record = json.loads((folder / "release.incog.json").read_text(encoding="utf-8"))
    classes = Counter(trees(folder))
    sizes = Counter(classes.values())
    if min(sizes) < record["claims"]["k"]:
        raise Disagreement(f"the smallest class has {min(sizes)} persons, the job asks for {record['claims']['k']}")
    if sorted(sizes.items()) != [tuple(pair) for pair in record["class_sizes"]]:
        raise Disagreement("the plain checker finds classes of other sizes")
    persons = len(read_table(source / "student.csv")[1])
    left_out = persons - sum(classes.values())
    discernibility = sum(size**2 for size in classes.values()) + left_out * persons
    if discernibility != int(record["scores"]["discernibility"]):
        raise Disagreement(f"discernibility: the plain checker finds {discernibility}")
    loss = database_loss(source, folder)
    for name, value in loss.items():
        claimed = record["scores"]["loss"] if name == "all" else record["tables"][name]["loss"]
        if abs(Fraction(claimed) - value) > Fraction(1, 20_000):
            raise Disagreement(f"loss of {name}: the plain checker finds {float(value):.9f}, incog {claimed}")
    take_a_book(folder, record["claims"]["k"])
    code, _ = verify(folder, "--job", job)
    if code != 1:
        raise Disagreement(f"a book was taken out: verify exits with {code}")
    print(f"oracles: university-{algorithm}: all agree: {len(classes)} classes, loss {float(loss['all']):.6g}, "
          f"discernibility {discernibility}")


def main():
    TARGET.mkdir(parents=True, exist_ok=True)
    at = "nothing"
    try:
        at = "hospital"
        folder = TARGET / "hospital"
        roles = dict.fromkeys(["age", "sex", "zip"], "quasi-identifier")
        roles = {"patient": "identifier", **roles, "ill": "sensitive"}
        visits = hospital(folder)
        check(at, visits, folder, roles, unit="patient")
        at = "hospital-local"
        check(at, visits, folder, roles, algorithm="top-down")

        for algorithm in ["miracle", "miraclex", "dmiracle"]:
            at = f"university-{algorithm}"
            check_university(algorithm)

        adult = Path(os.environ.get("INCOG_DATA", PROJECT / ".." / "shared" / "data")).resolve() / "adult" / "adult.csv"
        if not adult.exists():
            line = "skipped: stage oracles: Adult needs adult/adult.csv; set INCOG_DATA to the folder that has it"
            print(line)
            with open(os.environ.get("INCOG_SKIPPED", os.devnull), "a", encoding="utf-8") as skipped:
                skipped.write(line + "\n")
            return 0
        hierarchies = PROJECT / "testdata" / "hierarchies" / "adult"
        at = "adult-combinations"
        check_combinations(at, adult, hierarchies, ADULT, 3)
        for sensitive, algorithm, require in ADULT_RELEASES:
            model = re.search('"(.*?)"', require)[1] if require else None
            at = "-".join(filter(None, ["adult", sensitive or "nine", algorithm, model]))
            roles = {name: "sensitive" if name == sensitive else "quasi-identifier" for name in ADULT}
            check(at, adult, hierarchies, roles, algorithm=algorithm, require=require)
    except Disagreement as problem:
        print(f"oracles: {at}: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
