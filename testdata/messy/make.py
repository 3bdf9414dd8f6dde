#!/usr/bin/env python3
"""Makes the files of this folder: one small table of invented people, as people have such tables.

Each case has a file, a job, and either the release that the job must give (written here from what the table means, without incog) or what
the refusal must say. `cases.toml` has the jobs and the refusals, `expected/` has the releases. The files are committed; this script says how
they came to be. Needs pandas, pyarrow, openpyxl, xlsxwriter, xlwt, odfpy and msoffcrypto-tool for the formats that Python cannot write
by itself; the same versions give the same tables, though not always the same bytes.

    python3 testdata/messy/make.py
"""
import datetime
import gzip
import io
import json
import shutil
import zipfile
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = HERE / "files"
EXPECTED = HERE / "expected"

COLUMNS = ["id", "birth", "weight", "zip", "sex", "seen", "height", "count", "smoker", "ill"]
RELEASED = COLUMNS[1:]
ILL = ["Grippe", "Asthma", "Müdigkeit", "none"]


class Person:
    """What is true of somebody; how it is written is the file's affair."""

    def __init__(self, n):
        group = n % 4
        self.id = f"Person-{n:02}"
        self.birth = datetime.date(1960 + 10 * group, 1 + n % 12, 1 + (7 * n) % 28)
        self.weight = Decimal("60.5") + 5 * group + Decimal(n % 3) / 2
        self.zip = ["01001", "02139", "53715", "98101"][group]
        self.sex = "fm"[group % 2]
        self.seen = datetime.date(2003, 1 + n % 12, 13 + n % 15)
        self.height = Decimal("1.5") + Decimal(n) / 100
        self.count = 900 + 25 * n
        self.smoker = n % 3 == 0
        self.ill = ILL[n % len(ILL)]


def people():
    return [Person(n) for n in range(24)]


# --- how a table is written -----------------------------------------------------------------------------------------

def number(value, decimal=".", thousands=""):
    """A number with its marks."""
    whole, point, part = str(value).partition(".")
    if thousands:
        whole = f"{int(whole):,}".replace(",", thousands)
    return whole + (decimal + part if point else "")


class Style:
    """How cells are written."""

    def __init__(self, decimal=".", thousands="", date="%Y-%m-%d", zip=lambda text: text, boolean=("true", "false"), missing="",
                 count=str, birth=None):
        self.decimal, self.thousands, self.date, self.zip = decimal, thousands, date, zip
        self.boolean, self.missing, self.count, self.birth = boolean, missing, count, birth or date

    def cells(self, person):
        def written(name, write):
            value = getattr(person, name)
            return self.missing if value is None else write(value)
        return [
            person.id,
            written("birth", lambda day: day.strftime(self.birth)),
            written("weight", lambda value: number(value, self.decimal)),
            written("zip", self.zip),
            person.sex,
            written("seen", lambda day: day.strftime(self.date)),
            written("height", lambda value: number(value, self.decimal)),
            written("count", lambda value: number(value, self.decimal, self.thousands) if self.thousands else self.count(value)),
            written("smoker", lambda value: self.boolean[0] if value else self.boolean[1]),
            written("ill", str),
        ]


def quoted(field, delimiter, mark='"', special="\n\r", always=False):
    if always or any(letter in field for letter in delimiter + mark + special):
        return mark + field.replace(mark, mark + mark) + mark
    return field


def delimited(rows, delimiter=",", eol="\n", mark='"', always=False, last=True):
    lines = [delimiter.join(quoted(field, delimiter, mark, always=always) if mark else field for field in row) for row in rows]
    return eol.join(lines) + (eol if last else "")


def expected(table, style=Style(), delimiter=",", mark=b"", interval=("[", ", ", ")"), shown_zip=None, marker=None):
    """The release: birth by year, weight in steps of 2.5, two digits of the zip code hidden, everything else as it was written."""
    marker = style.missing if marker is None else marker
    rows = [RELEASED]
    for person in table:
        cells = dict(zip(COLUMNS, style.cells(person)))
        cells["birth"] = "(missing)" if person.birth is None else str(person.birth.year)
        if person.weight is None:
            cells["weight"] = "(missing)"
        else:
            start = person.weight // Decimal("2.5") * Decimal("2.5")
            ends = [number((end.normalize() + 0) if end != end.to_integral() else int(end), style.decimal)
                    for end in (start, start + Decimal("2.5"))]
            cells["weight"] = interval[0] + interval[1].join(ends) + interval[2]
        cells["zip"] = person.zip[:3] + "**"
        for name in ("seen", "height", "count", "smoker", "ill"):
            if getattr(person, name) is None:
                cells[name] = marker
        rows.append([cells[name] for name in RELEASED])
    lines = [delimiter.join(quoted(field, delimiter) for field in row) for row in rows]
    return mark + ("\n".join(lines) + "\n").encode()


# --- jobs -----------------------------------------------------------------------------------------------------------

def job(file, keys="", columns=None, zip_rule="mask = \"right\", length = 5, levels = [2]", names=None, birth_rule="dates = [\"year\"], levels = [1]"):
    """The job of a case. `keys` go to [input], `columns` are more keys of single columns."""
    columns = columns or {}
    roles = {
        "id": 'role = "identifier"',
        "birth": f'role = "quasi-identifier"\nhierarchy = {{ {birth_rule} }}',
        "weight": 'role = "quasi-identifier"\nhierarchy = { intervals = [2.5], levels = [1] }',
        "zip": f'role = "quasi-identifier"\nhierarchy = {{ {zip_rule} }}',
        "sex": 'role = "quasi-identifier"\nhierarchy = { levels = [0] }',
        "seen": 'role = "other"',
        "height": 'role = "other"',
        "count": 'role = "other"',
        "smoker": 'role = "other"',
        "ill": 'role = "sensitive"',
    }
    if names:
        keys += "\nheader = false\nnames = " + json.dumps(names)
    text = f'[input]\npath = "{file}"\n{keys.strip()}\n[policy]\nk = 2\n'
    for name in COLUMNS:
        text += f"[columns.{name}]\n{roles[name]}\n" + (columns[name] + "\n" if name in columns else "")
    return text


class Cases:
    def __init__(self):
        self.cases = []

    def good(self, name, file, content, release, says=(), **about):
        (FILES / file).write_bytes(content)
        (EXPECTED / f"{name}.csv").write_bytes(release)
        self.cases.append({"name": name, "file": file, "job": job(file, **about), "says": list(says)})

    def bad(self, name, file, content, refused, **about):
        (FILES / file).write_bytes(content)
        self.cases.append({"name": name, "file": file, "job": job(file, **about), "refused": list(refused)})

    def write(self):
        text = "# Made by make.py.\n"
        for case in self.cases:
            text += "\n[[case]]\n"
            for key in ("name", "file", "says", "refused"):
                if key in case:
                    text += f"{key} = {json.dumps(case[key], ensure_ascii=False)}\n"
            text += f"job = '''\n{case['job']}'''\n"
        (HERE / "cases.toml").write_text(text, encoding="utf-8")


# --- the cases ------------------------------------------------------------------------------------------------------

def rows_of(table, style=Style()):
    return [COLUMNS] + [style.cells(person) for person in table]


def text_cases(cases):
    table = people()
    plain = delimited(rows_of(table))
    release = expected(table)
    utf8 = plain.encode()
    cases.good("plain", "plain.csv", utf8, release)
    cases.good("semicolons", "semicolons.csv", delimited(rows_of(table), ";").encode(), expected(table, delimiter=";"))
    cases.good("tsv", "tabs.tsv", delimited(rows_of(table), "\t").encode(), release)
    cases.good("tab-ending", "tabs.tab", delimited(rows_of(table), "\t").encode(), release)
    cases.good("tabs-in-txt", "tabs.txt", delimited(rows_of(table), "\t").encode(), expected(table, delimiter="\t"))
    cases.good("pipes-in-dat", "pipes.dat", delimited(rows_of(table), "|").encode(), expected(table, delimiter="|"))
    cases.good("no-ending", "people", utf8, release)
    cases.good("data-ending", "people.data", utf8, release)
    cases.good("upper-case-ending", "PEOPLE.CSV", utf8, release)
    cases.good("format-given", "people.export", utf8, release, keys='format = "csv"')
    cases.good("crlf", "crlf.csv", delimited(rows_of(table), eol="\r\n").encode(), release)
    cases.good("cr-only", "cr.csv", delimited(rows_of(table), eol="\r").encode(), release)
    cases.good("no-line-break-at-the-end", "open-end.csv", delimited(rows_of(table), last=False).encode(), release)
    cases.good("blank-lines", "blank-lines.csv", plain.replace("\nPerson-05", "\n\n\nPerson-05").encode() + b"\n\n", release)
    cases.good("quoted-everything", "quoted.csv", delimited(rows_of(table), always=True).encode(), release)
    cases.good("byte-order-mark", "mark.csv", b"\xef\xbb\xbf" + utf8, expected(table, mark=b"\xef\xbb\xbf"))
    cases.good("excel-csv-utf-8", "excel.csv", b"\xef\xbb\xbf" + delimited(rows_of(table, Style(decimal=",")), ";", "\r\n").encode(),
               expected(table, Style(decimal=","), ";", b"\xef\xbb\xbf", ("[", "; ", ")"), marker=""), keys='decimal = ","')
    cases.good("custom-delimiter", "colons.csv", delimited(rows_of(table), ":").encode(), expected(table, delimiter=":"), keys='delimiter = ":"')

    awkward = people()
    for n, text in [(0, "two\nlines"), (1, 'says "no"'), (2, "a, b; c"), (3, "\u00a0"), (4, "-"), (5, "=1+1")]:
        awkward[n].ill = text
    cases.good("cells-with-everything", "awkward.csv", delimited(rows_of(awkward)).encode(), expected(awkward))
    cases.good("single-quotes", "single-quotes.csv", delimited(rows_of(awkward), mark="'").encode(), expected(awkward), keys='quote = "\'"')
    inches = people()
    for person in inches[:6]:
        person.ill = '5" pipe'
    cases.good("no-quotes", "no-quotes.csv", delimited(rows_of(inches), mark="").encode(), expected(inches), keys='quote = ""')
    cases.good("comments", "comments.csv", ("# made by a machine; 2003, 1, 2\n" + plain.replace("\nPerson-07", "\n#Person-99,x\nPerson-07")
               + "# end").encode(), release, keys='comment = "#"')
    cases.good("title-lines", "title.csv", ("Survey of people\n\n" + plain).encode(), release, keys="skip_rows = 2")
    cases.good("title-lines-and-mark", "title-mark.csv", b"\xef\xbb\xbf" + ("Survey; of people\n" + plain).encode(),
               expected(table, mark=b"\xef\xbb\xbf"), keys="skip_rows = 1")
    separated = "sep=;\r\n" + delimited(rows_of(table), ";", "\r\n")
    said = ["says that `;` separates fields; it is no row"]
    cases.good("separator-line", "separator.csv", separated.encode(), expected(table, delimiter=";"), says=said)
    cases.good("separator-line-and-mark", "separator-mark.csv", b"\xef\xbb\xbf" + separated.encode(),
               expected(table, delimiter=";", mark=b"\xef\xbb\xbf"), says=said)
    cases.good("separator-line-in-utf-16", "separator-utf-16.csv", b"\xff\xfe" + separated.encode("utf-16-le"), expected(table, delimiter=";"),
               says=[*said, "is UTF-16; the release is UTF-8"])
    cases.good("no-header", "no-header.csv", delimited(rows_of(table)[1:]).encode(), release, names=COLUMNS)

    wide = plain.encode("utf-16-le")
    cases.good("utf-16-le", "utf-16-le.csv", b"\xff\xfe" + wide, release, says=["is UTF-16; the release is UTF-8"])
    cases.good("utf-16-be", "utf-16-be.csv", b"\xfe\xff" + plain.encode("utf-16-be"), release, says=["is UTF-16"])
    cases.good("utf-16-without-mark", "utf-16-bare.csv", wide, release, says=["is UTF-16"])
    cases.good("unicode-text-of-excel", "unicode.txt", b"\xff\xfe" + delimited(rows_of(table), "\t", "\r\n").encode("utf-16-le"),
               expected(table, delimiter="\t"), says=["is UTF-16"])
    cases.good("windows-1252", "windows-1252.csv", plain.encode("cp1252"), release, keys='encoding = "windows-1252"')
    cases.good("latin1", "latin1.csv", plain.encode("latin1"), release, keys='encoding = "latin1"')
    cases.good("macintosh", "macintosh.csv", plain.encode("mac-roman"), release, keys='encoding = "macintosh"')
    cases.good("utf-8-said", "utf-8.csv", utf8, release, keys='encoding = "utf-8"')
    japanese = people()
    for person in japanese:
        person.ill = {"Grippe": "風邪", "Müdigkeit": "疲労"}.get(person.ill, person.ill)
    cases.good("shift-jis", "shift-jis.csv", delimited(rows_of(japanese)).encode("shift_jis"), expected(japanese), keys='encoding = "shift_jis"')
    cases.good("gb18030", "gb18030.csv", delimited(rows_of(japanese)).encode("gb18030"), expected(japanese), keys='encoding = "gb18030"')

    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        file.write(utf8)
    cases.good("gzip", "packed.csv.gz", packed.getvalue(), release)
    cases.good("zip", "packed.zip", zipped({"people.csv": utf8}), release)
    cases.good("zip-of-a-mac", "mac.zip", zipped({"people/": b"", "people/people.tsv": delimited(rows_of(table), "\t").encode(),
               "__MACOSX/people/._people.tsv": b"x", "people/.DS_Store": b"x"}), release)


def zipped(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def number_cases(cases):
    table = people()
    comma = Style(decimal=",")
    ends = ("[", "; ", ")")
    cases.good("decimal-comma", "comma.csv", delimited(rows_of(table, comma), ";").encode(), expected(table, comma, ";", interval=ends), keys='decimal = ","')
    cases.good("decimal-comma-in-quotes", "comma-quoted.csv", delimited(rows_of(table, comma)).encode(), expected(table, comma, interval=ends), keys='decimal = ","')
    cases.good("decimal-comma-of-one-column", "comma-weight.csv", delimited(rows_of(table, comma), ";").encode(), expected(table, comma, ";", interval=ends),
               columns={"weight": 'decimal = ","'})
    german = Style(decimal=",", thousands=".")
    cases.good("thousands-by-points", "thousands-points.csv", delimited(rows_of(table, german), ";").encode(), expected(table, german, ";", interval=ends),
               keys='decimal = ","\nthousands = "."')
    english = Style(thousands=",")
    cases.good("thousands-by-commas", "thousands-commas.csv", delimited(rows_of(table, english)).encode(), expected(table, english), keys='thousands = ","')
    french = Style(decimal=",", thousands="\u00a0")
    cases.good("thousands-by-spaces", "thousands-spaces.csv", delimited(rows_of(table, french), ";").encode(), expected(table, french, ";", interval=ends),
               keys='decimal = ","\nthousands = " "')
    swiss = Style(thousands="'")
    cases.good("thousands-by-apostrophes", "thousands-swiss.csv", delimited(rows_of(table, swiss)).encode(), expected(table, swiss), keys='thousands = "\'"')
    floats = Style(count=lambda value: f"{value}.0")
    cases.good("whole-floats", "floats.csv", delimited(rows_of(table, floats)).encode(), expected(table, floats))
    exponents = Style(count=lambda value: f"{value}e0")
    cases.good("exponents", "exponents.csv", delimited(rows_of(table, exponents)).encode(), expected(table, exponents))
    long = people()
    for n, person in enumerate(long):
        person.weight += Decimal(f"0.{n + 1:02}4175824175333")
        person.count = 1234567890123456789012345 + n
    cases.good("long-numbers", "long.csv", delimited(rows_of(long)).encode(), expected(long))

    bare = Style(zip=lambda text: str(int(text)))
    pad = dict(zip_rule='mask = "right", length = 5, pad = 5, levels = [2]')
    cases.good("lost-zeros", "lost-zeros.csv", delimited(rows_of(table, bare)).encode(), expected(table), **pad)
    floating = Style(zip=lambda text: f"{int(text)}.0")
    cases.good("zip-codes-as-floats", "zip-floats.csv", delimited(rows_of(table, floating)).encode(), expected(table), **pad)


def date_cases(cases):
    table = people()
    for name, form, found in [
        ("german", "%d.%m.%Y", True), ("american", "%m/%d/%Y", True), ("british", "%d/%m/%Y", True), ("slashes", "%Y/%m/%d", True),
        ("compact", "%Y%m%d", True), ("month-names", "%d-%b-%Y", True), ("english", "%b %d, %Y", True), ("dashes", "%d-%m-%Y", True),
        ("words", "%d of %B %Y", False), ("short-years", "%d.%m.%y", None),
    ]:
        style = Style(date=form)
        file, content = f"dates-{name}.csv", delimited(rows_of(table, style)).encode()
        # Years of two digits from 69 on are of the last century; the first people were born before.
        if found is None:
            for person in table:
                person.birth = person.birth.replace(year=person.birth.year + 10)
            content = delimited(rows_of(table, style)).encode()
        if found is not False:
            cases.good(f"dates-{name}", file, content, expected(table, style), says=[f"column `birth`: its dates are read as {form}"])
        else:
            cases.good(f"dates-{name}", file, content, expected(table, style), keys=f'date_format = "{form}"')
    table = people()
    for person in table:
        person.birth = person.birth.replace(day=1 + person.birth.day % 12)
        person.seen = person.seen.replace(day=1)
    style = Style(date="%m/%d/%Y")
    content = delimited(rows_of(table, style)).encode()
    cases.good("dates-said-for-one-column", "dates-said.csv", content, expected(table, style), columns={"birth": 'date_format = "%m/%d/%Y"'})
    cases.bad("dates-ambiguous", "dates-ambiguous.csv", content,
              ["column `birth`: all", "are dates by %d/%m/%Y and by %m/%d/%Y alike", "date_format"])
    timed = Style(birth="%Y-%m-%d %H:%M:%S")
    cases.good("dates-with-times", "dates-times.csv", delimited(rows_of(people(), timed)).encode(), expected(people(), timed))


def missing_cases(cases):
    def holes():
        table = people()
        for n in (0, 4, 8):
            table[n].weight = None
        for n, name in enumerate(["seen", "height", "count", "smoker", "ill"]):
            setattr(table[n + 6], name, None)
        return table

    table = holes()
    cases.good("missing-as-empty-cells", "missing-empty.csv", delimited(rows_of(table)).encode(), expected(table))
    na = Style(missing="NA")
    cases.good("missing-as-na", "missing-na.csv", delimited(rows_of(table, na)).encode(), expected(table, na), keys='missing = ["NA"]')
    mixed = rows_of(table, Style(missing="NULL"))
    mixed[1][2], mixed[5][2], mixed[7][5] = "-9", "", "n/a"
    cases.good("missing-as-several", "missing-several.csv", delimited(mixed).encode(), expected(table, Style(missing="NA")),
               keys='missing = ["NA", "NULL", "-9", "n/a", ""]')
    cases.good("missing-first-is-empty", "missing-emptied.csv", delimited(rows_of(table, na)).encode(), expected(table),
               keys='missing = ["", "NA"]')
    nines = people()
    for n in (0, 4, 8):
        nines[n].weight = None
    cases.good("missing-of-one-column", "missing-one.csv", delimited(rows_of(nines, Style(missing="-9"))).encode(), expected(nines),
               columns={"weight": 'missing = ["-9"]'})
    named = (HERE / "sex.csv")
    named.write_text("f;person;*\nm;person;*\nNA;unknown;*\n", encoding="utf-8")
    sexes = rows_of(people())
    sexes[1][4] = sexes[5][4] = "NA"
    content = delimited(sexes).encode()
    text = job("missing-clash.csv", keys='missing = ["NA"]').replace("hierarchy = { levels = [0] }", 'hierarchy = { file = "sex.csv" }')
    (FILES / "missing-clash.csv").write_bytes(content)
    cases.cases.append({"name": "missing-is-a-value", "file": "missing-clash.csv", "job": text,
                        "refused": ["column `sex`: 1 of the 1 texts in `missing` are values or labels of its hierarchy, too"]})


def typed_cases(cases):
    import pandas
    import pyarrow
    import pyarrow.feather
    import pyarrow.ipc
    import pyarrow.parquet

    table = people()
    release = expected(table)
    frame = pandas.DataFrame({name: [getattr(person, name) for person in table] for name in COLUMNS})
    frame["weight"] = frame["weight"].astype(float)
    frame["height"] = frame["height"].astype(float)
    arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)

    def file_of(write):
        made = io.BytesIO()
        write(made)
        return made.getvalue()

    cases.good("parquet", "typed.parquet", file_of(lambda made: pyarrow.parquet.write_table(arrow, made)), release)
    decimals = arrow.set_column(6, "height", pyarrow.array([person.height.quantize(Decimal("0.01")) for person in table], pyarrow.decimal128(5, 2)))
    exact = people()
    for person in exact:
        person.height = person.height.quantize(Decimal("0.01"))
    cases.good("parquet-decimals", "decimals.parquet", file_of(lambda made: pyarrow.parquet.write_table(decimals, made)), expected(exact))
    days = arrow.set_column(5, "seen", arrow["seen"].cast(pyarrow.date64())).set_column(7, "count", arrow["count"].cast(pyarrow.uint32()))
    cases.good("parquet-date64-and-unsigned", "date64.parquet", file_of(lambda made: pyarrow.parquet.write_table(days, made)), release)
    cases.good("feather", "typed.feather", file_of(lambda made: pyarrow.feather.write_feather(arrow, made, compression="lz4")), release)
    cases.good("feather-zstd", "zstd.arrow", file_of(lambda made: pyarrow.feather.write_feather(arrow, made, compression="zstd")), release)

    def stream(made):
        with pyarrow.ipc.new_stream(made, arrow.schema) as writer:
            writer.write_table(arrow)

    cases.good("arrow-stream", "stream.arrow", file_of(stream), release)
    holes = frame.copy()
    holes["count"] = holes["count"].astype(float)
    holes.loc[[6, 7], "count"] = None
    lost = people()
    for person in lost:
        person.count = f"{person.count}.0"
    lost[6].count = lost[7].count = None
    cases.good("parquet-of-pandas-with-holes", "pandas.parquet",
               file_of(lambda made: holes.to_parquet(made, index=False)), expected(lost))

    def plain(person):
        return {"id": person.id, "birth": str(person.birth), "weight": float(person.weight), "zip": person.zip, "sex": person.sex,
                "seen": str(person.seen), "height": float(person.height), "count": person.count, "smoker": person.smoker, "ill": person.ill}

    # Python writes 1.5 for 1.50; so does the table.
    lines = "".join(json.dumps(plain(person), ensure_ascii=False) + "\n" for person in table)
    short = people()
    for person in short:
        person.height = Decimal(repr(float(person.height)))
    shown = expected(short)
    cases.good("json-lines", "lines.jsonl", lines.encode(), shown)
    cases.good("ndjson", "lines.ndjson", ("\n" + lines).encode(), shown)
    gaps = [plain(person) for person in table]
    missing = people()
    for person in missing:
        person.height = Decimal(repr(float(person.height)))
    del gaps[6]["seen"]
    gaps[7]["count"] = None
    missing[6].seen = missing[7].count = None
    cases.good("json-lines-with-gaps", "gaps.jsonl", "".join(json.dumps(line) + "\n" for line in gaps).encode(), expected(missing))
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        file.write(lines.encode())
    cases.good("json-lines-gzip", "lines.jsonl.gz", packed.getvalue(), shown)


def sheet_cases(cases):
    import pandas
    import xlsxwriter
    import xlwt

    table = people()
    release = expected(short_heights(table))

    def workbook(write):
        made = io.BytesIO()
        book = xlsxwriter.Workbook(made, {"in_memory": True})
        book.set_properties({"created": datetime.datetime(2000, 1, 1)})
        write(book)
        book.close()
        return made.getvalue()

    def fill(book, sheet, row=0, column=0, header=True, formula=False):
        day = book.add_format({"num_format": "dd/mm/yyyy"})
        if header:
            for at, name in enumerate(COLUMNS):
                sheet.write_string(row, column + at, name)
            row += 1
        for n, person in enumerate(table):
            sheet.write_string(row + n, column, person.id)
            sheet.write_datetime(row + n, column + 1, datetime.datetime.combine(person.birth, datetime.time()), day)
            sheet.write_number(row + n, column + 2, float(person.weight))
            sheet.write_string(row + n, column + 3, person.zip)
            sheet.write_string(row + n, column + 4, person.sex)
            sheet.write_datetime(row + n, column + 5, datetime.datetime.combine(person.seen, datetime.time()), day)
            sheet.write_number(row + n, column + 6, float(person.height))
            if formula:
                sheet.write_formula(row + n, column + 7, f"=900+25*{n}", None, person.count)
            else:
                sheet.write_number(row + n, column + 7, person.count)
            sheet.write_boolean(row + n, column + 8, person.smoker)
            sheet.write_string(row + n, column + 9, person.ill)

    cases.good("excel", "book.xlsx", workbook(lambda book: fill(book, book.add_worksheet())), release)
    cases.good("excel-formulas", "formulas.xlsx", workbook(lambda book: fill(book, book.add_worksheet(), formula=True)), release)

    nobody = short_heights(people())
    nobody[3].ill = nobody[8].ill = None

    def empty_texts(book):
        sheet = book.add_worksheet()
        fill(book, sheet)
        for n in (3, 8):
            sheet.write_formula(n + 1, 9, '=IF(H2>0,"","x")', None, "")

    cases.good("excel-formulas-of-empty-texts", "empty-texts.xlsx", worked_out_as_text(workbook(empty_texts)), expected(nobody),
               says=["has formulas that come to an empty text: 2 cells, missing values"])

    def several(book):
        book.add_worksheet("About").write_string(0, 0, "nothing")
        sheet = book.add_worksheet("People")
        sheet.write_string(0, 0, "Survey of people")
        sheet.write_string(40, 3, "made in 2003")
        fill(book, sheet, 3, 1)

    cases.good("excel-sheet-and-range", "several.xlsx", workbook(several), release, keys='sheet = "People"\nrange = "B4:K28"')
    cases.good("excel-title-rows", "titles.xlsx", workbook(lambda book: titled(book, fill)), release, keys="skip_rows = 2")
    cases.good("excel-without-header", "bare.xlsx", workbook(lambda book: fill(book, book.add_worksheet(), header=False)), release, names=COLUMNS)
    cases.good("excel-first-of-two-sheets", "two.xlsx", workbook(lambda book: (fill(book, book.add_worksheet("A")), book.add_worksheet("B"))), release,
               says=["has several sheets; `A` is read"])
    cases.good("excel-in-a-zip", "book.zip", zipped({"book.xlsx": workbook(lambda book: fill(book, book.add_worksheet()))}), release)

    lost = people()
    cases.good("excel-zip-codes-as-numbers", "numbers.xlsx", workbook(lambda book: numbers(book, lost)), release,
               zip_rule='mask = "right", length = 5, pad = 5, levels = [2]')

    old = old_workbook(table)
    cases.good("excel-of-old", "old.xls", made_of(old), release)
    cases.good("excel-of-old-formulas", "old-formulas.xls", made_of(old_workbook(nobody, missing=lambda: xlwt.Formula('IF(H2>0,"","x")'))), expected(nobody),
               says=["has formulas that come to an empty text or have not been worked out: 2 cells, missing values"])

    frame = pandas.DataFrame({name: [getattr(person, name) for person in table] for name in COLUMNS})
    frame["weight"], frame["height"] = frame["weight"].astype(float), frame["height"].astype(float)
    made = io.BytesIO()
    frame.to_excel(made, engine="odf", index=False)
    cases.good("open-document", "people.ods", made.getvalue(), release)
    spread = made.getvalue()

    book = workbook(lambda book: fill(book, book.add_worksheet("People")))
    cases.bad("sheet-that-is-not-there", "sheet.xlsx", book, ["the workbook has no sheet `Peopel`", "there are: People"], keys='sheet = "Peopel"')
    cases.bad("range-that-is-none", "range.xlsx", book, ["`range` is no range of cells"], keys='range = "B4-K28"')
    cases.bad("workbook-that-is-damaged", "damaged.xlsx", book[: len(book) // 2], ["it is no workbook of that format, or damaged"])
    cases.bad("workbook-named-csv", "book.csv", book, ["it is an Excel workbook, not delimited text", "name it .xlsx"])
    cases.bad("old-workbook-named-csv", "old.csv", made_of(old), ["it is an Excel workbook, not delimited text"])
    cases.bad("workbook-with-a-cell-beside-the-table", "beside.xlsx", workbook(lambda book: beside(book, fill)),
              ["row 6 of the sheet has a cell beside the table's columns"])
    cases.bad("workbook-without-cells", "empty.xlsx", workbook(lambda book: book.add_worksheet()), ["the sheet has no filled cells"])
    cases.bad("workbook-with-formulas-nobody-worked-out", "formulas-only.xlsx", with_bare_formulas(book),
              ["the formula in cell H2 of the sheet has no value in the file", "save it again"])
    cases.bad("spreadsheet-with-formulas-nobody-worked-out", "formulas-only.ods", with_bare_ods_formulas(spread),
              ["the formula in cell H2 of the sheet has no value in the file", "save it again"])
    cases.bad("old-workbook-with-a-password", "sealed.xls", sealed_old(old), ["the workbook is protected by a password", "save a copy without"])
    cases.bad("spreadsheet-with-a-password", "sealed.ods", sealed_ods(spread), ["the workbook is protected by a password", "save a copy without"])
    cases.bad("workbook-with-a-password", "sealed.xlsx", sealed(book), ["the workbook is protected by a password"])


def short_heights(table):
    """A sheet shows 1.5 where the table has 1.50."""
    for person in table:
        person.height = Decimal(repr(float(person.height)))
    return table


def made_of(book):
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def old_workbook(table, missing=None):
    import xlwt
    old = xlwt.Workbook()
    sheet = old.add_sheet("People")
    day = xlwt.easyxf(num_format_str="DD/MM/YYYY")
    for at, name in enumerate(COLUMNS):
        sheet.write(0, at, name)
    for n, person in enumerate(table, start=1):
        for at, name in enumerate(COLUMNS):
            value = getattr(person, name)
            if value is None:
                sheet.write(n, at, missing())
            elif isinstance(value, datetime.date):
                sheet.write(n, at, value, day)
            else:
                sheet.write(n, at, float(value) if isinstance(value, Decimal) else value)
    return old


def worked_out_as_text(book):
    """As Excel writes formulas that come to an empty text; xlsxwriter leaves the type out, as if they were not worked out."""
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    assert sheet.count(b'"><f>IF') == 2
    parts["xl/worksheets/sheet1.xml"] = sheet.replace(b'"><f>IF', b'" t="str"><f>IF')
    return zipped(parts)


def with_bare_formulas(book):
    """As openpyxl writes formulas: it does not work them out."""
    import openpyxl
    opened = openpyxl.load_workbook(io.BytesIO(book))
    for n in range(2, 26):
        opened.active.cell(n, 8).value = f"=900+25*{n - 2}"
    made = io.BytesIO()
    opened.save(made)
    return made.getvalue()


def with_bare_ods_formulas(book):
    from odf.opendocument import load
    from odf.table import TableCell, TableRow
    opened = load(io.BytesIO(book))
    for row in opened.getElementsByType(TableRow)[1:]:
        cell = row.getElementsByType(TableCell)[7]
        for name in list(cell.attributes):
            if name[1] in ("value", "value-type"):
                del cell.attributes[name]
        cell.childNodes.clear()
        cell.setAttrNS("urn:oasis:names:tc:opendocument:xmlns:table:1.0", "formula", "of:=900+25")
    made = io.BytesIO()
    opened.save(made)
    return made.getvalue()


def titled(book, fill):
    sheet = book.add_worksheet()
    sheet.write_string(0, 0, "Survey of people")
    fill(book, sheet, 2)


def beside(book, fill):
    sheet = book.add_worksheet()
    fill(book, sheet)
    sheet.write_string(5, 14, "a remark")


def numbers(book, table):
    sheet = book.add_worksheet()
    for at, name in enumerate(COLUMNS):
        sheet.write_string(0, at, name)
    for n, person in enumerate(table, start=1):
        cells = Style().cells(person)
        for at, name in enumerate(COLUMNS):
            if name in ("weight", "zip", "height", "count"):
                sheet.write_number(n, at, float(cells[at]))
            else:
                sheet.write_string(n, at, cells[at])


def sealed(book):
    from msoffcrypto.format.ooxml import OOXMLFile
    made = io.BytesIO()
    OOXMLFile(io.BytesIO(book)).encrypt("secret", made)
    return made.getvalue()


def sealed_old(old):
    """As Excel 97 to 2003 encrypts: RC4 with a new key for each 1,024 bytes. Names and lengths of records stay as they are."""
    import struct
    from hashlib import md5
    from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
    from cryptography.hazmat.primitives.ciphers import Cipher
    from xlwt.CompoundDoc import XlsDoc

    salt, verifier = bytes(range(16)), bytes(range(16, 32))
    start = md5("secret".encode("utf-16-le")).digest()[:5]
    start = md5((start + salt) * 16).digest()[:5]

    def stream(block):
        return Cipher(ARC4(md5(start + struct.pack("<I", block)).digest()), mode=None).encryptor()

    first = stream(0)
    header = struct.pack("<HHH", 1, 1, 1) + salt + first.update(verifier) + first.update(md5(verifier).digest())
    plain = old.get_biff_data()
    end = 4 + struct.unpack_from("<H", plain, 2)[0]
    added = struct.pack("<HH", 0x2F, len(header)) + header
    plain = bytearray(plain[:end] + added + plain[end:])
    keys = b"".join(stream(block).update(bytes(1024)) for block in range(len(plain) // 1024 + 1))
    at = 0
    while at < len(plain):
        kind, length = struct.unpack_from("<HH", plain, at)
        at += 4
        bare = length if kind in (0x809, 0x2F, 0xE1) else 0
        if kind == 0x85:
            # Where a sheet begins stays readable.
            struct.pack_into("<I", plain, at, struct.unpack_from("<I", plain, at)[0] + len(added))
            bare = 4
        for byte in range(at + bare, at + length):
            plain[byte] ^= keys[byte]
        at += length
    made = io.BytesIO()
    XlsDoc().save(made, bytes(plain))
    return made.getvalue()


def sealed_ods(book):
    """As OpenDocument 1.2 encrypts: AES of each part, and the manifest says how."""
    import base64
    import zlib
    from hashlib import pbkdf2_hmac, sha256
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    salt, start = bytes(range(16)), bytes(range(16, 32))
    key = pbkdf2_hmac("sha1", sha256(b"secret").digest(), salt, 50_000, 32)
    written = {name: base64.b64encode(value).decode() for name, value in (("salt", salt), ("start", start))}
    parts, entries = {"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}, ""
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        for name in ("content.xml", "styles.xml"):
            content = archive.read(name)
            packed = zlib.compress(content)[2:-4]
            digest = base64.b64encode(sha256(packed[:1024]).digest()).decode()
            packed += bytes(16 - len(packed) % 16 - 1) + bytes([16 - len(packed) % 16])
            cipher = Cipher(algorithms.AES(key), modes.CBC(start)).encryptor()
            parts[name] = cipher.update(packed) + cipher.finalize()
            entries += f"""
 <manifest:file-entry manifest:full-path="{name}" manifest:media-type="text/xml" manifest:size="{len(content)}">
  <manifest:encryption-data manifest:checksum-type="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0#sha256-1k" manifest:checksum="{digest}">
   <manifest:algorithm manifest:algorithm-name="http://www.w3.org/2001/04/xmlenc#aes256-cbc" manifest:initialisation-vector="{written["start"]}"/>
   <manifest:start-key-generation manifest:start-key-generation-name="http://www.w3.org/2000/09/xmldsig#sha256" manifest:key-size="32"/>
   <manifest:key-derivation manifest:key-derivation-name="PBKDF2" manifest:key-size="32" manifest:iteration-count="50000" manifest:salt="{written["salt"]}"/>
  </manifest:encryption-data>
 </manifest:file-entry>"""
    parts["META-INF/manifest.xml"] = f"""<?xml version="1.0" encoding="UTF-8"?>
<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2">
 <manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>{entries}
</manifest:manifest>
""".encode()
    return zipped(parts)


def bad_cases(cases):
    table = people()
    plain = delimited(rows_of(table))
    utf8 = plain.encode()
    cases.bad("latin1-not-said", "latin1-unsaid.csv", plain.encode("latin1"), ["line 4: column 10 is not UTF-8", "encoding = \"windows-1252\""])
    cases.bad("encoding-that-does-not-fit", "strange.csv", plain.encode("cp1252").replace(b"M\xfcdigkeit", b"M\x81digkeit"),
              ["line 4 has bytes that are no character of windows-1252"], keys='encoding = "windows-1252"')
    cases.bad("shift-jis-that-is-none", "not-jis.csv", utf8.replace("ü".encode(), b"\xff"),
              ["line 4 has bytes that are no character of Shift_JIS"], keys='encoding = "shift_jis"')
    cases.bad("encoding-nobody-knows", "unknown-encoding.csv", utf8, ["line 3 of", "nobody knows the encoding of that name"], keys='encoding = "latin-nine"')
    cases.bad("utf-32", "utf-32.csv", b"\xff\xfe\x00\x00" + plain.encode("utf-32-le"), ["it is UTF-32"])
    almost = rows_of(table, Style(date="%d.%m.%Y"))
    almost[5][1] = "soon"
    content = delimited(almost).encode()
    cases.bad("dates-that-almost-fit", "almost.csv", content, ["column `birth`: no common form of dates fits all", "%d.%m.%Y fits all but 1"])
    cases.bad("date-format-that-almost-fits", "almost-said.csv", content, ["column `birth`: 1 of 13 values are not dates like 17.04.2003"],
              keys='date_format = "%d.%m.%Y"')
    cases.bad("date-format-that-is-none", "no-format.csv", utf8, ["`%d.%m` is not a date format"], keys='date_format = "%d.%m"')
    comma = delimited(rows_of(table, Style(decimal=",")), mark="")
    cases.bad("decimal-comma-between-commas", "bare-comma.csv", comma.encode(), ["line 2 has 12 fields, the header has 10", "decimal comma"], keys='decimal = ","')
    cases.bad("two-decimal-marks", "marks.csv", utf8, ["thousands are separated by another character"], keys='decimal = ","\nthousands = ","')
    cases.bad("zip-of-two-tables", "two.zip", zipped({"a.csv": utf8, "b.csv": utf8}), ["it has 2 files in it, and one table is read"])
    cases.bad("zip-of-nothing", "nothing.zip", zipped({}), ["it has 0 files in it"])
    cases.bad("zip-that-is-none", "none.zip", utf8, ["it is no zip archive"])
    cases.bad("zip-named-csv", "zipped.csv", zipped({"people.csv": utf8}), ["it is a zip archive, not delimited text", "name it .zip"])
    cases.bad("gzip-named-csv", "gzipped.csv", gzip.compress(utf8, mtime=0), ["it is compressed with gzip, not delimited text"])
    cases.bad("html-named-csv", "page.csv", b"<!DOCTYPE html>\n<html><table><tr><td>id</td></tr></table></html>\n", ["it is an HTML page, not delimited text"])
    cases.bad("binary-named-csv", "binary.csv", bytes(range(256)) * 4, ["NUL bytes"])
    cases.bad("parquet-named-csv", "parquet.csv", b"PAR1" + bytes(100) + b"PAR1", ["it is Parquet, not delimited text"])
    cases.bad("json-named-csv", "lines.csv", b'{"id": "Person-01"}\n', ["it is JSON, not delimited text"])
    cases.bad("json-line-that-is-no-object", "no-object.jsonl", b'{"id": "Person-01"}\n["Person-02"]\n', ["line 2 is not a JSON object"])
    cases.bad("json-line-with-nested-values", "nested.jsonl", b'{"id": "Person-01", "birth": {"year": 1960}}\n', ["line 1: value 2 is an object or a list"])
    cases.bad("json-list", "list.jsonl", b'[{"id": "Person-01"}]\n', ["line 1 is not a JSON object"])
    cases.bad("arrow-that-is-damaged", "damaged.arrow", b"ARROW1\0\0" + bytes(50), ["it is no Arrow IPC file, or damaged"])
    cases.bad("ending-nobody-knows", "people.doc", utf8, ["nobody knows the format of a name that ends in .doc", ".csv, .txt"])
    cases.bad("spss", "people.sav", b"$FL2@(#) SPSS DATA FILE", ["nobody knows the format of a name that ends in .sav", "save it as .parquet or .csv first"])
    cases.bad("json-ending", "people.json", b"[]", ["JSON lines, one object a line, end in .jsonl"])
    cases.bad("names-that-are-too-few", "few-names.csv", delimited(rows_of(table)[1:]).encode(), ["has 10 columns, and `names` has 9"], names=COLUMNS[:-1])
    cases.bad("names-beside-a-header", "two-headers.csv", utf8, ["`names` is for data without a header"], keys='names = ["a"]')
    cases.bad("more-rows-skipped-than-there-are", "skipped.csv", utf8, ["has 25 lines, and `skip_rows` passes over 99"], keys="skip_rows = 99")
    cases.bad("quote-of-two-characters", "two-quotes.csv", utf8, ["`quote` is not one character"], keys="quote = \"''\"")
    cases.bad("pad-without-mask", "pad.csv", utf8, ["`pad` is for masks"], birth_rule='dates = ["year"], pad = 5')


def main():
    for folder in (FILES, EXPECTED):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    cases = Cases()
    for make in (text_cases, number_cases, date_cases, missing_cases, typed_cases, sheet_cases, bad_cases):
        make(cases)
    cases.write()
    n_bad = sum("refused" in case for case in cases.cases)
    print(f"{len(cases.cases) - n_bad} tables to be released, {n_bad} to be refused")


if __name__ == "__main__":
    main()
