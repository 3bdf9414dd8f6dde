#!/usr/bin/env python3
"""How long does it take to read a workbook, and numbers of many digits?

Two ratios within one run, each with its limit:

  xlsx       100,000 x 20 cells: openpyxl reading them (read-only mode) / `incog anonymize` from the workbook to a CSV release   at least 10
  decimals   a column of 15-digit decimals / a column of short ones, both in intervals, a million rows of CSV                    at most 1.3

Needs openpyxl and xlsxwriter. INCOG names the binary, target/release/incog unless given. --quick takes a tenth of the rows.
"""
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

INCOG = os.environ.get("INCOG", str(Path(__file__).resolve().parent.parent / "target" / "release" / "incog"))
SCALE = 10 if "--quick" in sys.argv else 1


def least(runs, work):
    """The shortest of some runs, in seconds."""
    def timed():
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    return min(timed() for _ in range(runs))


def incog(folder, data, *rules):
    subprocess.run([INCOG, "anonymize", data, *rules, "-k", "2", "--suppression", "100%", "--order", "input", "--no-record",
                    "-o", "release.csv"], cwd=folder, check=True, capture_output=True)


def workbook(folder):
    import openpyxl
    import xlsxwriter
    n_rows = 100_000 // SCALE
    drawn = random.Random(7)
    book = xlsxwriter.Workbook(str(folder / "book.xlsx"), {"constant_memory": True})
    sheet = book.add_worksheet()
    for at in range(20):
        sheet.write_string(0, at, f"c{at}")
    for row in range(1, n_rows + 1):
        for at in range(20):
            if at % 2:
                sheet.write_number(row, at, drawn.randrange(100_000) / 100)
            else:
                sheet.write_string(row, at, f"value {drawn.randrange(500)}")
    book.close()

    def theirs():
        book = openpyxl.load_workbook(folder / "book.xlsx", read_only=True)
        for row in book.active.iter_rows(values_only=True):
            len(row)

    ours = least(3, lambda: incog(folder, "book.xlsx", "--qi", "c0", "--rest", "other"))
    return least(1, theirs) / ours


def decimals(folder):
    n_rows = 1_000_000 // SCALE
    drawn = random.Random(7)
    values = [drawn.randrange(10_000) for _ in range(n_rows)]
    short = "n,m\n" + "".join(f"{value / 100},{value % 7}\n" for value in values)
    # As many different values, each with fifteen digits.
    long = "n,m\n" + "".join(f"{value // 100}.{value % 100:02}41758241{value % 1000:03}3,{value % 7}\n" for value in values)
    (folder / "short.csv").write_text(short)
    (folder / "long.csv").write_text(long)
    rules = ["--qi", "n", "--rest", "other", "--hierarchy", "n={ intervals = [5, 10, 50] }"]
    times = {name: least(5, lambda name=name: incog(folder, name, *rules)) for name in ("short.csv", "long.csv")}
    return times["long.csv"] / times["short.csv"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        found = [("xlsx", workbook(Path(folder)), ">=", 10.0), ("decimals", decimals(Path(folder)), "<=", 1.3)]
    failed = False
    for name, ratio, sign, limit in found:
        holds = ratio >= limit if sign == ">=" else ratio <= limit
        failed |= not holds
        print(f"{name:10} {ratio:6.2f}   {sign} {limit}   {'holds' if holds else 'FAILS'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
