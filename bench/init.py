"""How much CPU does `incog init` take for a wide table?

    python3 bench/init.py target/release/incog [ROWS]

Makes a table like a public tax file (68 columns: a record number, an age, codes, a state, 62 columns of amounts that are mostly 0), from a fixed seed, and
prints the CPU seconds and the wall time of `init`, three times.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time


def table(path, rows):
    draw = random.Random(7)
    header = ["RECID", "age_head", "MARS", "state", "nu18", "s006"]
    header += [f"e{200 + n * 100:05}" for n in range(46)] + [f"p{8000 + n * 250:05}" for n in range(16)]
    states = "TX NY CA WI VT FL OH GA WA CO".split()
    amounts = [str(draw.randrange(1, 10) * 10 ** draw.randrange(2, 6) + draw.randrange(100)) for _ in range(40_000)]
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(header) + "\n")
        for row in range(rows):
            cells = [str(row + 1), str(draw.randrange(18, 86)), str(draw.randrange(1, 6)), draw.choice(states)]
            cells += [str(draw.randrange(5)), f"{draw.randrange(20, 1500)}.{draw.randrange(100):02}"]
            cells += [draw.choice(amounts) if draw.random() < 0.3 else "0" for _ in range(62)]
            file.write(",".join(cells) + "\n")


def main(program, rows):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "tax.csv")
        table(data, rows)
        size = os.path.getsize(data) / 1e6
        for _ in range(3):
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
            job = os.path.join(folder, "job.toml")
            subprocess.run([program, "init", data, "-o", job, "--force"], check=True, stderr=subprocess.DEVNULL)
            wall, after = time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"{rows} x 68 ({size:.0f} MB): {cpu:.2f} s of CPU, {wall:.2f} s on the clock")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 280_005)
