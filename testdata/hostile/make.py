#!/usr/bin/env python3
"""Makes the files of this folder, except those in `parquet/`: damaged and forged files, each small.

    python3 testdata/hostile/make.py [path of incog]

Good files are taken from `testdata/messy/files`, which are ours, and changed in one place. With the path of a binary the honest release in
`records/` is made anew, too. `cases.toml` is written by hand: what is said of each file. Needs nothing but Python.
"""
import gzip
import hashlib
import io
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOOD = HERE.parent / "messy/files"
PATIENTS = HERE.parents[1] / "examples/patients"


def write(path, data):
    path = HERE / path
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def changed(data, at, new):
    """With other bytes in one place; a negative place counts from the end."""
    at %= len(data)
    return data[:at] + new + data[at + len(new):]


def zipped(files, method=zipfile.ZIP_DEFLATED):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), content, method)
    return made.getvalue()


def arrow():
    file, stream = (GOOD / "typed.feather").read_bytes(), (GOOD / "stream.arrow").read_bytes()
    footer = struct.unpack("<i", file[-10:-6])[0]
    write("arrow/cut.arrow", file[:len(file) // 2])
    write("arrow/cut-stream.arrow", stream[:len(stream) // 2])
    write("arrow/footer-longer-than-the-file.arrow", changed(file, -10, struct.pack("<i", 2**31 - 1)))
    write("arrow/footer-of-negative-length.arrow", changed(file, -10, struct.pack("<i", -5)))
    write("arrow/footer-of-zeros.arrow", changed(file, -10 - footer, bytes(footer)))
    write("arrow/footer-that-points-out.arrow", changed(file, -10 - footer, struct.pack("<I", 2**31 - 8)))
    write("arrow/message-longer-than-the-file.arrow", changed(stream, 4, struct.pack("<i", 2**31 - 1)))
    write("arrow/message-of-negative-length.arrow", changed(stream, 4, struct.pack("<i", -2)))
    write("arrow/schema-that-points-out.arrow", changed(stream, 8, struct.pack("<I", 2**31 - 8)))
    # A buffer of the first batch that is said to have 2^62 bytes: the batch's message follows that of the schema.
    schema = struct.unpack("<i", stream[4:8])[0]
    at = 8 + schema
    message = struct.unpack("<i", stream[at + 4:at + 8])[0]
    lengths = [place for place in range(at + 8, at + 8 + message - 8, 8)
               if 0 < struct.unpack("<q", stream[place:place + 8])[0] <= 512]
    write("arrow/buffer-of-exabytes.arrow", changed(stream, lengths[-1], struct.pack("<q", 2**62)))
    write("arrow/rows-of-exabytes.arrow", changed(stream, lengths[0], struct.pack("<q", 2**62)))


def json_lines():
    line = '{"age": "30", "sex": "f"}\n'
    for name, last in {
        "key-twice": '{"age": "30", "sex": "f", "age": "31"}\n',
        "key-twice-in-another-form": '{"age": "30", "sex": "f", "\\u0061ge": "31"}\n',
        "nested": '{"age": ' + "[" * 3000 + "]" * 3000 + "}\n",
        "half-a-pair": '{"age": "\\ud800", "sex": "f"}\n',
        "not-a-number": '{"age": NaN, "sex": "f"}\n',
        "cut": '{"age": "30", "sex": "f',
        "two-on-a-line": '{"age": "30", "sex": "f"} {"age": "31", "sex": "f"}\n',
        "control": '{"age": "3\x000", "sex": "f"}\n',
        "comma-at-the-end": '{"age": "30", "sex": "f",}\n',
        "leading-zero": '{"age": 030, "sex": "f"}\n',
    }.items():
        write(f"json/{name}.jsonl", line * 3 + last)
    write("json/not-utf-8.jsonl", line.encode() * 3 + b'{"age": "\xff", "sex": "f"}\n')


def archives():
    people = b"age,sex\n" + b"30,f\n" * 8
    good = zipped([("people.csv", people)])
    at = good.rfind(b"PK\x01\x02")
    end = good.rfind(b"PK\x05\x06")
    write("zip/cut.zip", good[:len(good) // 2])
    write("zip/wrong-checksum.zip", changed(changed(good, 14, bytes(4)), at + 16, bytes(4)))
    write("zip/encrypted.zip", changed(changed(good, 6, b"\x01"), at + 8, b"\x01"))
    write("zip/unknown-method.zip", changed(changed(good, 8, b"\x63"), at + 10, b"\x63"))
    write("zip/directory-that-points-out.zip", changed(good, end + 16, struct.pack("<I", 2**32 - 2)))
    write("zip/within.zip", zipped([("people.zip", good)]))
    write("zip/larger-than-said.zip", changed(changed(good, 22, struct.pack("<I", 9)), at + 24, struct.pack("<I", 9)))
    write("zip/wrong-checksum.csv.gz", changed(gzip.compress(people, mtime=0), -8, bytes(4)))
    write("zip/cut.csv.gz", gzip.compress(people, mtime=0)[:-12])


def workbooks():
    with zipfile.ZipFile(GOOD / "book.xlsx") as archive:
        parts = [(name, archive.read(name)) for name in archive.namelist()]

    def book(name, change):
        new = [(part, change(part, text)) for part, text in parts]
        write(f"workbook/{name}.xlsx", zipped([(part, text) for part, text in new if text is not None]))

    def sheet(name, change):
        book(name, lambda part, text: change(text) if part.endswith("sheet1.xml") else text)

    def replaced(old, new):
        def change(text):
            assert old in text, (old, text[:600])
            return text.replace(old, new, 1)
        return change

    laughs = b'<!DOCTYPE x [<!ENTITY a "ha">' + b"".join(
        b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9)) + b"]>"
    book("without-sheets", lambda part, text: None if "sheet1" in part else text)
    book("without-workbook", lambda part, text: None if part.endswith("/workbook.xml") else text)
    book("without-texts", lambda part, text: None if part.endswith("sharedStrings.xml") else text)
    sheet("cell-far-away", replaced(b'r="A1"', b'r="ZZZZZZZZZ99999999999"'))
    sheet("cell-in-row-0", replaced(b'r="A1"', b'r="A0"'))
    sheet("text-that-is-not-there", replaced(b"<v>0</v>", b"<v>4000000000</v>"))
    sheet("cut", lambda text: text[:len(text) // 2])
    sheet("entities", lambda text: text.replace(b"?>", b"?>" + laughs, 1).replace(b"<v>0</v>", b"<v>&j;</v>", 1))


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def forged(record):
    """As a forger without the key writes it: with a checksum that is right."""
    bare = {key: value for key, value in record.items() if key not in ("seal", "checksum")}
    checksum = hashlib.sha256(canonical(bare).encode()).hexdigest()
    return canonical({**bare, "checksum": checksum, "seal": record["seal"]}) + "\n"


def records(incog):
    if incog:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "patients"
            shutil.copytree(PATIENTS, copy)
            run = [incog, "anonymize", "incog.toml", "--order", "input", "-o", "release.csv"]
            subprocess.run(run, cwd=copy, check=True, stderr=subprocess.DEVNULL)
            for name in ["release.csv", "release.csv.incog.json"]:
                write(f"records/{name}", (copy / name).read_bytes())
    text = (HERE / "records/release.csv.incog.json").read_text()
    record = json.loads(text)
    assert forged(record) == text, "the canonical form is another one"

    def edited(name, **edits):
        write(f"records/{name}.json", forged({**record, **edits}))

    twice = '{"claims":{"k":100},"suppressed_rows":0,' + text[1:]
    write("records/key-twice.json", twice)
    write("records/key-twice-inside.json", text.replace('"k":2,', '"k":200,"k":2,', 1))
    write("records/key-in-another-form.json", text.replace('"k":2,', '"\\u006b":2,', 1))
    write("records/spaced.json", text.replace('"k":2,', '"k": 2,', 1))
    write("records/cut.json", text[:len(text) // 2])
    write("records/nested.json", "[" * 3000 + "]" * 3000 + "\n")
    write("records/wrong-checksum.json", text.replace('"k":2,', '"k":3,', 1))
    edited("version-1", record=1)
    edited("suppressed-more", suppressed_rows=record["suppressed_rows"] + 1)
    edited("larger-k", claims={**record["claims"], "k": 3})


def main():
    arrow()
    json_lines()
    archives()
    workbooks()
    records(sys.argv[1] if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    main()
