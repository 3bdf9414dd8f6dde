"""Has a release any of the 18 identifiers of 45 CFR 164.514(b)(2)(i)? Shares nothing with incog.

    python3 safe_harbor.py INPUT.csv RELEASE.csv IDENTIFIER_COLUMN...

Looks for cells of the input's identifier columns, and for the forms of identifiers, in every cell of the release.
"""

import csv
import re
import sys

SPARSE = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893".split()
FORMS = {
    "an e-mail address": r"[^@\s]+@[^@\s]+\.[a-z]+",
    "a telephone number": r"(\+\d{1,3}[ -]?)?\(?\d{3}\)?[ -]\d{3}[ -]\d{4}",
    "a social security number": r"\d{3}-\d{2}-\d{4}",
    "an IP address": r"\d{1,3}(\.\d{1,3}){3}",
    "a web address": r"https?://.*",
    "a vehicle number": r"[A-HJ-NPR-Z0-9]{17}",
    "a date finer than a year": r".*\d{4}-\d{2}.*",
    "a ZIP code": r"\d{5}(-\d{4})?",
    "a time": r".*\d{2}:\d{2}.*",
}


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main(given, released, identifiers):
    found = []
    before, after = rows(given), rows(released)
    assert after, "the release has no rows"
    cells = {(column, cell) for row in after for column, cell in row.items()}
    known = {row[column]: column for row in before for column in identifiers if len(row[column]) > 3}
    assert known, "no identifiers are given"
    for column, cell in sorted(cells):
        if cell in known:
            found.append(f"{column}: a cell of {known[cell]}")
        for what, form in FORMS.items():
            # Years that are spans are no telephone numbers.
            if re.fullmatch(form, cell) and not re.fullmatch(r"\d{4}-\d{4}", cell):
                found.append(f"{column}: {what}")
        if re.fullmatch(r"\d{3}", cell) and cell in SPARSE:
            found.append(f"{column}: a sparse area that is not 000")
        if re.fullmatch(r"\d{2,3}", cell) and 90 <= int(cell) <= 130 and column in ("age", "c5"):
            found.append(f"{column}: an age over 89")
        if re.fullmatch(r"\[\d+, \d+\)", cell) and int(cell[1:-1].split(", ")[1]) > 90 and column in ("age", "c5"):
            found.append(f"{column}: ages over 89 among others")
    for row in after:
        for column in ("birth_date",):
            label = row.get(column, "*")
            year = re.match(r"\d{4}", label)
            if year and int(year.group()) < 1930:
                found.append(f"{column}: the year of birth of somebody over 89")
    for line in sorted(set(found)):
        print(line)
    print(f"{len(after)} rows, {len(cells)} distinct cells, {len(set(found))} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
