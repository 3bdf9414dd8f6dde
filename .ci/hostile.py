"""Attacks incog for a while, and says how often.

  .ci/hostile [seconds] [--seed N] [stage ...]

Stages share the time. Each draws cases at random, runs the real binary and compares with something that shares no code:

  releases    changed releases of random tables: accepted by `verify --job` only if a plain reading of the promise holds,
              never accepted with the record
  records     changed and forged records: never accepted with the key or the publisher's public key
  databases   changed releases of random databases: accepted only if every person's tree is that of k persons, never accepted
              with the record
  parquet     corrupted Parquet and Arrow files: an answer or one sentence, never a crash
  kills       runs that are killed at any moment: the target is as it was or whole, and the next run sweeps what was left
  races       first runs at the same time: one key, and a record that verifies with it

Standard library only. A case that fails is kept in target/hostile, and its seed is printed.
"""

import argparse
import csv
import hashlib
import hmac
import itertools
import json
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCOG = ROOT / "target" / "debug" / "incog"
KEPT = ROOT / "target" / "hostile"
PATIENCE = 60  # seconds for one run: far more than any takes
MEMORY = 4 << 30  # bytes of address space for a run that reads a corrupted file


class Failed(Exception):
    """What was promised does not hold."""


def run(folder, *arguments, memory=None, env=None):
    """One run of the binary: exit code, standard output, standard error."""

    def limit():
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    try:
        done = subprocess.run(
            [INCOG, *map(str, arguments)], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=PATIENCE, preexec_fn=limit, env=env,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"no answer after {PATIENCE} s: {' '.join(map(str, arguments))}") from None
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if "panicked" in err or done.returncode not in (0, 1, 2):
        raise Failed(f"exit code {done.returncode}: {' '.join(map(str, arguments))}: {err.strip()[:400]}")
    return done.returncode, out, err


def wanted(code, answer, what):
    if answer[0] != code:
        raise Failed(f"{what}: exit code {answer[0]} instead of {code}: {(answer[1] + answer[2]).strip()[:600]}")
    return answer


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


# Tables


class Case:
    """A random table with hierarchies and a job."""

    def __init__(self, folder, draw):
        self.folder, self.draw = folder, draw
        n_columns, n_rows = draw.randint(1, 4), draw.randint(8, 60)
        self.k = draw.randint(2, 4)
        self.budget = draw.randint(0, n_rows // 3)
        self.columns, job = [], []
        for at in range(n_columns):
            name, n_values = f"q{at}", draw.randint(2, 6)
            paths = {}
            for value in range(n_values):
                path = [f"v{value}"]
                half = value // 2
                # Labels may repeat on several levels, or be a value that they cover.
                path.append(path[0] if draw.random() < 0.15 else f"h{half}")
                path.append(path[1] if draw.random() < 0.1 else f"t{value // 4}")
                path.append("*")
                paths[path[0]] = path
            paths = consistent(paths)
            (folder / f"{name}.csv").write_text("".join(";".join(path) + "\n" for path in paths.values()))
            self.columns.append((name, paths))
            job.append(f'[columns.{name}]\nrole = "quasi-identifier"\nhierarchy = {{ file = "{name}.csv" }}\n')
        ills = ["flu", "cold", "cough", ""]
        self.header = [name for name, _ in self.columns] + ["ill"]
        self.rows = [
            [draw.choice(list(paths)) for _, paths in self.columns] + [draw.choice(ills)] for _ in range(n_rows)
        ]
        write_csv(folder / "data.csv", self.header, self.rows)
        (folder / "incog.toml").write_text(
            '[input]\npath = "data.csv"\n[output]\npath = "release.csv"\norder = "input"\n'
            f"[policy]\nk = {self.k}\nsuppression = {self.budget}\n" + "".join(job)
            + '[columns.ill]\nrole = "sensitive"\n'
        )

    def holds(self, rows):
        """Is this a release that the job promises: k, the budget, and every row the generalization of an input row?"""
        n_columns = len(self.columns)
        if any(len(row) != len(self.header) for row in rows):
            return False
        groups = Counter(tuple(row[:n_columns]) for row in rows)
        if any(n < self.k for n in groups.values()) or len(self.rows) - len(rows) > self.budget:
            return False
        released = Counter(map(tuple, rows))
        heights = [len(next(iter(paths.values()))) for _, paths in self.columns]
        for levels in itertools.product(*map(range, heights)):
            recoded = Counter(
                tuple(paths[cell][level] for (_, paths), cell, level in zip(self.columns, row, levels)) + (row[-1],)
                for row in self.rows
            )
            if not released - recoded:
                return True
        return False


def consistent(paths):
    """The same paths where a label has one parent, and no label is a value that it does not cover."""
    values = set(paths)
    for level in range(len(next(iter(paths.values()))) - 1):
        parents = {}
        for path in paths.values():
            path[level + 1] = parents.setdefault(path[level], path[level + 1])
        for path in paths.values():
            if path[level + 1] in values and path[level + 1] != path[0]:
                covered = {other[0] for other in paths.values() if other[level + 1] == path[level + 1]}
                if path[level + 1] not in covered:
                    path[level + 1] = f"x{level}{path[level + 1]}"
    return paths


def change_table(draw, header, rows):
    """A table that differs in one or two places, somehow."""
    header, rows = list(header), [list(row) for row in rows]
    for _ in range(draw.randint(1, 2)):
        how = draw.randrange(7)
        if not rows:
            rows.append(["*"] * len(header))
            continue
        row, column = draw.randrange(len(rows)), draw.randrange(len(header))
        if how == 0:
            rows[row][column] = draw.choice([other[column] for other in rows])
        elif how == 1:
            rows[row][column] = draw.choice(["*", "", "v0", "h1", "t0", "v9", " ", "\u202e", "*" * 300])
        elif how == 2:
            del rows[row]
        elif how == 3:
            rows.insert(draw.randint(0, len(rows)), list(draw.choice(rows)))
        elif how == 4:
            other = draw.randrange(len(rows))
            rows[row][column], rows[other][column] = rows[other][column], rows[row][column]
        elif how == 5:
            draw.shuffle(rows)
        else:
            for each in rows:
                if draw.random() < 0.5:
                    each[column] = "*"
    return header, rows


def releases(folder, draw):
    case = Case(folder, draw)
    code, _, err = run(folder, "anonymize", "incog.toml")
    if code == 2:
        raise Failed(f"an honest job: {err.strip()[:400]}")
    if code == 1:
        return 1
    header, rows = read_csv(folder / "release.csv")
    if not case.holds(rows):
        raise Failed("the release does not keep its promise")
    record = "release.csv.incog.json"
    for more in ([], ["--job", "incog.toml", "--key", "incog.key"]):
        wanted(0, run(folder, "verify", "release.csv", "--record", record, *more), "an honest release")
    wanted(0, run(folder, "verify", "release.csv", "--job", "incog.toml"), "an honest release")
    for _ in range(6):
        changed = change_table(draw, header, rows)
        write_csv(folder / "changed.csv", *changed)
        if (folder / "changed.csv").read_bytes() == (folder / "release.csv").read_bytes():
            continue
        for more in ([], ["--job", "incog.toml"]):
            code, out, _ = run(folder, "verify", "changed.csv", "--record", record, *more)
            if code == 0:
                raise Failed("a changed release is accepted with its record")
        code, out, err = run(folder, "verify", "changed.csv", "--job", "incog.toml")
        if code == 0 and not case.holds(changed[1]):
            raise Failed("a release that does not keep its promise is accepted")
        if code == 2 and "could not" not in err and "cannot" not in err:
            raise Failed(f"a changed release: {err.strip()[:300]}")
    return 10


# Records


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def with_checksum(record):
    """A record as a forger without a key writes it: the checksum is right."""
    marks = {key: record[key] for key in ("seal", "signature") if key in record}
    content = {key: value for key, value in record.items() if key not in ("checksum", "seal", "signature")}
    content["checksum"] = hashlib.sha256(canonical(content).encode()).hexdigest()
    return canonical({**content, **marks}) + "\n"


def change_value(draw, value):
    """Another value, somewhere inside."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(sorted(value))
        changed = dict(value)
        how = draw.random()
        if how < 0.1:
            del changed[key]
        elif how < 0.2:
            changed[key + draw.choice(["", " ", "x"])] = draw.choice([0, "x", None])
        else:
            changed[key] = change_value(draw, value[key])
        return changed
    if isinstance(value, list) and value and draw.random() < 0.9:
        at = draw.randrange(len(value))
        return value[:at] + [change_value(draw, value[at])] + value[at + 1:]
    if isinstance(value, int) and not isinstance(value, bool):
        return draw.choice([value + 1, value - 1, 0, 2**64 - 1, 2**64, -1, str(value), float(value)])
    if isinstance(value, str) and value:
        at = draw.randrange(len(value))
        return draw.choice([value[:at] + value[at + 1:], value + "0", value[::-1], "", value[:at] + "é" + value[at:]])
    return draw.choice([None, 0, 1, "", "x", [], {}])


def change_text(draw, text):
    """Another text of a record."""
    how = draw.randrange(8)
    at = draw.randrange(len(text))
    if how == 0:
        return text[:at] + chr(draw.randrange(32, 127)) + text[at + 1:]
    if how == 1:
        return text[:at]
    if how == 2:
        return text[:at] + draw.choice([" ", "\t", "\n", "\r\n"]) + text[at:]
    if how == 3:
        twice = draw.choice(['"suppressed_rows":0,', '"claims":{"k":100},', '"record":2,', '"checksum":"",'])
        return "{" + twice + text[1:]
    if how == 4:
        return text.replace('"k":', draw.choice(['"k":100,"k":', '"\\u006b":', '"k" :']), 1)
    if how == 5:
        return json.dumps(json.loads(text), indent=draw.choice([None, 1]))
    record = json.loads(text)
    changed = change_value(draw, record)
    try:
        return with_checksum(changed) if how == 6 else canonical(changed) + "\n"
    except (TypeError, KeyError, AttributeError):
        return canonical(changed) + "\n"


def records(folder, draw):
    Case(folder, draw)
    wanted(0, run(folder, "key", "new"), "a new pair of keys")
    if run(folder, "anonymize", "incog.toml", "--sign", "incog-sign.key")[0] != 0:
        return 1
    record = folder / "release.csv.incog.json"
    text = record.read_text(encoding="utf-8")
    with_key = ["verify", "release.csv", "--record", "forged.json", "--job", "incog.toml", "--key", "incog.key"]
    with_publisher = ["verify", "release.csv", "--record", "forged.json", "--publisher", "incog-sign.key.pub"]
    (folder / "forged.json").write_text(text, encoding="utf-8")
    for arguments in (with_key, with_publisher):
        wanted(0, run(folder, *arguments), "an honest record")
    n = 0
    for _ in range(12):
        changed = change_text(draw, text)
        if changed == text:
            continue
        (folder / "forged.json").write_bytes(changed.encode("utf-8", "surrogatepass"))
        for arguments in (with_key, with_publisher, with_publisher[:4]):
            code, _, _ = run(folder, *arguments)
            n += 1
            if code == 0 and arguments is not with_publisher[:4] and len(arguments) > 4:
                raise Failed(f"a forged record is accepted by {' '.join(arguments[4:])}")
    # A seal under another key, with everything else right.
    other = json.loads(text)
    content = {key: value for key, value in other.items() if key not in ("checksum", "seal", "signature")}
    other["seal"] = hmac.new(b"x" * 32, canonical(content).encode(), hashlib.sha256).hexdigest()
    (folder / "forged.json").write_text(canonical(other) + "\n", encoding="utf-8")
    wanted(2, run(folder, *with_key), "a seal under another key")
    return n + 1


# Databases


def make_database(folder, draw):
    n_persons, k = draw.randint(6, 14), draw.randint(2, 3)
    cities, grades, books = ["A", "B"], ["1", "2", "3"], ["x", "y", "z"]
    persons = [[f"P{at}", draw.choice(cities), f"name{at}"] for at in range(n_persons)]
    takes = [[f"T{at}", draw.choice(persons)[0], draw.choice(grades)] for at in range(draw.randint(4, 24))]
    reads = [[draw.choice(takes)[0], draw.choice(books)] for _ in range(draw.randint(2, 16))]
    write_csv(folder / "person.csv", ["pid", "city", "name"], persons)
    write_csv(folder / "takes.csv", ["tid", "pid", "grade"], takes)
    write_csv(folder / "reads.csv", ["tid", "book"], reads)
    (folder / "incog.toml").write_text(
        f"""[database]
person = "person"
output = "release/"
order = "input"
[policy]
k = {k}
[tables.person]
path = "person.csv"
key = "pid"
[tables.person.columns.city]
role = "quasi-identifier"
[tables.person.columns.name]
role = "identifier"
[tables.takes]
path = "takes.csv"
key = "tid"
parent = {{ table = "person", column = "pid" }}
[tables.takes.columns.grade]
role = "quasi-identifier"
[tables.reads]
path = "reads.csv"
parent = {{ table = "takes", column = "tid" }}
[tables.reads.columns.book]
role = "quasi-identifier"
"""
    )
    return k


def smallest_class(folder):
    """Persons of the smallest class of equal trees, from the released files alone; None if the files do not fit together."""
    try:
        tables = {}
        for name in ("person", "takes", "reads"):
            header, rows = read_csv(folder / f"{name}.csv")
            tables[name] = [dict(zip(header, row, strict=True)) for row in rows]
        books, lessons = defaultdict(list), defaultdict(list)
        for row in tables["reads"]:
            books[row["tid"]].append(row["book"])
        for row in tables["takes"]:
            lessons[row["pid"]].append((row["grade"], tuple(sorted(books[row["tid"]]))))
        trees = Counter((row["city"], tuple(sorted(lessons[row["pid"]]))) for row in tables["person"])
        return min(trees.values(), default=0)
    except (KeyError, ValueError, IndexError):
        return None


def databases(folder, draw):
    k = make_database(folder, draw)
    code, _, err = run(folder, "anonymize", "incog.toml")
    if code == 2:
        raise Failed(f"an honest job: {err.strip()[:400]}")
    if code == 1:
        return 1
    release, record = folder / "release", "release/release.incog.json"
    if (smallest_class(release) or 0) < k:
        raise Failed("the release does not keep its promise")
    wanted(0, run(folder, "verify", "release", "--record", record, "--job", "incog.toml", "--key", "incog.key"),
           "an honest release")
    n = 2
    for _ in range(5):
        shutil.rmtree(folder / "changed", ignore_errors=True)
        shutil.copytree(release, folder / "changed")
        name = draw.choice(["person", "takes", "reads"])
        header, rows = change_table(draw, *read_csv(release / f"{name}.csv"))
        write_csv(folder / "changed" / f"{name}.csv", header, rows)
        if (folder / "changed" / f"{name}.csv").read_bytes() == (release / f"{name}.csv").read_bytes():
            continue
        code, _, _ = run(folder, "verify", "changed", "--record", record)
        if code == 0:
            raise Failed("a changed database is accepted with its record")
        code, _, _ = run(folder, "verify", "changed", "--job", "incog.toml")
        if code == 0 and (smallest_class(folder / "changed") or 0) < k:
            raise Failed("a database that does not keep its promise is accepted")
        n += 2
    return n


# Parquet


def parquet(folder, draw):
    Case(folder, draw)
    qi = ",".join(read_csv(folder / "data.csv")[0][:-1])
    n = 0
    for ending in ("parquet", "arrow"):
        whole_name, broken_name = f"whole.{ending}", f"broken.{ending}"
        code, _, err = run(folder, "anonymize", "incog.toml", "-o", whole_name, "-k", "1", "--no-record")
        if code == 2 and "without " in err:
            return 0
        wanted(0, (code, "", err), f"a release as .{ending}")
        whole = (folder / whole_name).read_bytes()
        for _ in range(15):
            data = bytearray(whole)
            for _ in range(draw.randint(1, 6)):
                near_end = len(data) - 1 - draw.randrange(min(400, len(data)))
                at = draw.randrange(len(data)) if draw.random() < 0.4 else near_end
                how = draw.randrange(4)
                if how == 0:
                    data[at] = draw.randrange(256)
                elif how == 1:
                    data[at] ^= 1 << draw.randrange(8)
                elif how == 2:
                    del data[at:at + draw.randint(1, 8)]
                else:
                    data[at:at] = bytes(draw.randrange(256) for _ in range(draw.randint(1, 8)))
                if not data:
                    data = bytearray(b"P")
            (folder / broken_name).write_bytes(data)
            run(folder, "verify", broken_name, "--qi", qi, "-k", "1", memory=MEMORY)
            run(folder, "init", broken_name, "-o", "new.toml", "--force", memory=MEMORY)
            n += 2
    return n


# Kills and races


def unfinished(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith(".incog-"))


def kills(folder, draw):
    Case(folder, draw)
    rows = ["q,ill"] + [f"{draw.randrange(10)},x" for _ in range(draw.choice([20, 20_000, 60_000]))]
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    (folder / "incog.toml").write_text(
        '[input]\npath = "data.csv"\n[output]\npath = "release.csv"\n[policy]\nk = 2\nsuppression = 9\n'
        '[columns.q]\nrole = "quasi-identifier"\n[columns.ill]\nrole = "other"\n'
    )
    wanted(0, run(folder, "anonymize", "incog.toml"), "an honest job")
    verify = ["verify", "release.csv", "--record", "release.csv.incog.json", "--key", "incog.key"]
    n, was_pair = 0, True
    for _ in range(8):
        old, old_record = [(folder / name).read_bytes() for name in ("release.csv", "release.csv.incog.json")]
        left = unfinished(folder)
        process = subprocess.Popen([INCOG, "anonymize", "incog.toml"], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(draw.random() * draw.choice([0.005, 0.05, 0.2]))
        number = draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        process.send_signal(number)
        err = process.communicate(timeout=PATIENCE)[1].decode(errors="replace")
        if "panicked" in err:
            raise Failed(f"signal {number}: {err[:300]}")
        # 130 and 143 as the shell has it; killed before a handler was there, the system says so itself.
        allowed = {signal.SIGKILL: [-9], signal.SIGTERM: [143, -15], signal.SIGINT: [130, -2]}[number]
        if process.returncode not in [0, *allowed]:
            raise Failed(f"signal {number}: exit code {process.returncode}: {err[:300]}")
        new = (folder / "release.csv").read_bytes()
        if sorted(new.split(b"\n")) != sorted(old.split(b"\n")):
            raise Failed("a killed run left a release that is neither the old one nor whole")
        for name in set(unfinished(folder)) - set(left):
            if number != signal.SIGKILL:
                raise Failed(f"signal {number} left {name}")
            mode = stat.S_IMODE(os.stat(folder / name).st_mode)
            # What was replaced is kept until all is in place, and was for others to read before.
            if mode & 0o077 and (folder / name).read_bytes() not in (old, old_record):
                raise Failed(f"{name} can be read by others: {mode:o}")
        # A kill between the two renames leaves a pair that `verify` refuses, until the next run replaces both.
        is_pair = run(folder, *verify)[0] == 0
        if was_pair and not is_pair and number != signal.SIGKILL:
            raise Failed("after a signal, release and record are of different runs")
        was_pair = is_pair
        n += 1
    wanted(0, run(folder, "anonymize", "incog.toml"), "an honest job after kills")
    wanted(0, run(folder, *verify), "a release after kills")
    if unfinished(folder):
        raise Failed(f"left after another run: {unfinished(folder)}")
    return n


def races(folder, draw):
    Case(folder, draw)
    several = draw.randint(2, 5)
    outputs = [f"release{at if draw.random() < 0.3 else ''}.csv" for at in range(several)]
    runs = [
        subprocess.Popen([INCOG, "anonymize", "incog.toml", "-o", output, "--order", "shuffle"], cwd=folder,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for output in outputs
    ]
    codes = []
    for process in runs:
        err = process.communicate(timeout=PATIENCE)[1].decode(errors="replace")
        codes.append(process.returncode)
        if "panicked" in err or process.returncode not in (0, 1, 2):
            raise Failed(f"a race: exit code {process.returncode}: {err[:300]}")
    if 1 in codes:
        return several
    for output in {output for output, code in zip(outputs, codes) if code == 0}:
        answer = run(folder, "verify", output, "--record", output + ".incog.json", "--job", "incog.toml",
                     "--key", "incog.key")
        wanted(0, answer, "a release after a race")
    if unfinished(folder):
        raise Failed(f"left after a race: {unfinished(folder)}")
    return several


STAGES = {stage.__name__: stage for stage in (releases, records, databases, parquet, kills, races)}


COUNTING = threading.Lock()


def attack(name, until, seed, counts, failures):
    """Draws cases of one stage until the time is up."""
    for number in itertools.count():
        if time.monotonic() >= until or failures:
            return
        case = f"{name}-{seed}-{number}"
        folder = Path(tempfile.mkdtemp(prefix="incog-hostile-"))
        try:
            n_attacks = STAGES[name](folder, random.Random(case))
            with COUNTING:
                counts[name][0] += 1
                counts[name][1] += n_attacks
        except Failed as failed:
            KEPT.mkdir(parents=True, exist_ok=True)
            kept = KEPT / case
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept, symlinks=True)
            failures.append(f"{case}: {failed} (kept in {kept.relative_to(ROOT)})")
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=float, default=180, help="how long in all [180]")
    parser.add_argument("--seed", type=int, help="the same cases as another time; else others each time")
    parser.add_argument("stages", nargs="*", metavar="stage", help="only these")
    arguments = parser.parse_intermixed_args()
    unknown = [name for name in arguments.stages if name not in STAGES]
    if unknown:
        parser.error(f"no stage {unknown[0]}; there are: {', '.join(STAGES)}")
    names = arguments.stages or list(STAGES)
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    counts, failures = {name: [0, 0] for name in names}, []
    started = time.monotonic()
    for at, name in enumerate(names):
        until = started + arguments.seconds * (at + 1) / len(names)
        workers = [
            threading.Thread(target=attack, args=(name, until, f"{seed}.{worker}", counts, failures))
            for worker in range(2)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            break
        cases, runs = counts[name]
        if not cases:
            failures.append(f"{name}: no case was finished")
            break
        print(f"hostile: {name}: {cases} cases, {runs} attacks, none succeeds", flush=True)
    for failure in failures:
        print(f"hostile: FAILED: {failure}", file=sys.stderr)
    if failures:
        print(f"hostile: again with: .ci/hostile --seed {seed}", file=sys.stderr)
        return 1
    total = sum(runs for _, runs in counts.values())
    print(f"hostile: {total} attacks in {time.monotonic() - started:.0f} s with seed {seed}, none succeeds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
