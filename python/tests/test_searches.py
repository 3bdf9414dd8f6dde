"""Lattices, frontiers, comparisons, profiles and recodings: the command line's answers, as data."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import incog
import pandas
import polars
import pyarrow
import pytest
from conftest import KINDS, ROOT, arrow_of, cells, content, frame_of
from incog import reports
from test_command_line import text_table

Command = Callable[..., "subprocess.CompletedProcess[str]"]

PATIENTS = text_table(ROOT / "examples" / "patients" / "patients.csv")
HIERARCHIES = ROOT / "examples" / "patients" / "hierarchies"
POLICY: dict[str, Any] = {
    "quasi_identifiers": {name: incog.file(HIERARCHIES / f"{name}.csv") for name in ("birthdate", "sex", "zipcode")},
    "sensitive": ["disease"],
    "k": 2,
}
#: Of the same kind of frame, whatever that is called.
VOLATILE = ("search_ms", "milliseconds")


def without_times(said: Any) -> Any:
    if isinstance(said, dict):
        return {key: without_times(value) for key, value in said.items() if key not in VOLATILE}
    return [without_times(item) for item in said] if isinstance(said, list) else said


def without_durations(text: str) -> str:
    return re.sub(r" +[\d.]+ (ms|s)\b", " a while", text)


def test_a_search_is_the_one_of_the_command_line(command: Command) -> None:
    lattice = incog.search(PATIENTS, **POLICY)
    job = ROOT / "examples" / "patients" / "incog.toml"
    ran = command("search", job, "--format", "json")
    assert ran.returncode == 0, ran.stderr
    assert without_times(lattice.to_dict()) == without_times(json.loads(ran.stdout))
    assert lattice.satisfying == len(lattice) == len(lattice.all())
    assert lattice.best in lattice.all()
    assert [node.levels for node in lattice.minimal] == [
        node["levels"] for node in json.loads(ran.stdout)["minimal"]
    ]
    assert without_durations(str(lattice)) == without_durations(command("search", job).stdout)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lattice_is_a_frame_of_the_kind_of_the_data(kind: str) -> None:
    frame = frame_of(kind, PATIENTS)
    lattice = incog.search(frame, **POLICY)
    table = arrow_of(lattice.frame())
    assert type(lattice.frame()) is type(frame)
    assert table.num_rows == lattice.satisfying
    assert sum(table["minimal"].to_pylist()) == len(lattice.minimal)
    frontier = lattice.frontier(range(2, 7))
    assert type(frontier.frame()) is type(frame)
    assert arrow_of(frontier.frame())["k"].to_pylist() == [2, 3, 4, 5, 6]


def test_a_frontier_is_the_one_of_the_command_line(command: Command) -> None:
    frontier = incog.search(PATIENTS, **POLICY).frontier(range(2, 7))
    ran = command("search", ROOT / "examples" / "patients" / "incog.toml", "-k", "2..6", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    mine, theirs = frontier.to_dict(), json.loads(ran.stdout)
    assert (mine.pop("data"), theirs.pop("data")) == (frontier.data, "patients.csv") == ("a table in memory", "patients.csv")
    assert without_times(mine) == without_times(theirs)
    ran = command("search", ROOT / "examples" / "patients" / "incog.toml", "-k", "2..6")
    assert without_durations(str(frontier)) == without_durations(ran.stdout)
    assert [at.k for at in frontier] == [2, 3, 4, 5, 6]
    assert frontier._repr_html_().count("<svg") == 1
    for wrong in (range(2, 10, 2), range(5, 2), (0, 3)):
        with pytest.raises(incog.InputError):
            incog.search(PATIENTS, **POLICY).frontier(wrong)


def test_a_comparison_is_the_one_of_the_command_line(command: Command) -> None:
    comparison = incog.compare(PATIENTS, **POLICY)
    ran = command("compare", ROOT / "examples" / "patients" / "incog.toml", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert [at.model for at in comparison] == [at["model"] for at in said["models"]]
    for mine, theirs in zip(comparison, said["models"], strict=True):
        for key in set(incog.Compared.__dataclass_fields__) - {*VOLATILE}:
            assert getattr(mine, key) == theirs.get(key), (mine.model, key)
        assert mine.steps >= 0 and (mine.obstacle is None) == (mine.loss is not None)
    told = comparison.to_dict()
    assert (told.pop("data"), said.pop("data")) == (comparison.data, "patients.csv") == ("a table in memory", "patients.csv")
    assert without_times(told) == without_times(said)
    ran = command("compare", ROOT / "examples" / "patients" / "incog.toml")
    assert without_durations(str(comparison)) == without_durations(ran.stdout)
    frame = incog.compare(polars.DataFrame(PATIENTS), **POLICY, models=["full-domain", "mondrian"]).frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame["model"].to_list() == ["full-domain", "mondrian"]


def test_notebooks_see_tables_and_charts_and_no_cell() -> None:
    release = incog.anonymize(PATIENTS, **POLICY)
    shown = [
        release._repr_html_(),
        incog.search(PATIENTS, **POLICY)._repr_html_(),
        incog.search(PATIENTS, **POLICY).frontier(range(2, 5))._repr_html_(),
        incog.compare(PATIENTS, **POLICY, models=["full-domain", "top-down"])._repr_html_(),
        incog.profile(PATIENTS)._repr_html_(),
        incog.verify(release.frame, quasi_identifiers=["sex"], k=2)._repr_html_(),
    ]
    for html in shown:
        assert html.startswith("<")
        for cell in ("53715", "Hepatitis", "1/21/76"):
            assert cell not in html
    assert "&lt;b&gt;" in incog.profile(pyarrow.table({"<b>": ["x"]}))._repr_html_()


def test_a_recoding_does_the_same_to_other_rows() -> None:
    old = pyarrow.table({"zip": ["53715", "53715", "53703", "53706"], "age": [31, 32, 41, 45]})
    release = incog.anonymize(old, quasi_identifiers={"zip": incog.mask("right"), "age": incog.intervals(10)}, k=2)
    recoding = release.recoding
    assert recoding.levels == release.report.levels == {"zip": 1, "age": 1}
    new = pandas.DataFrame({"zip": ["10115", "10117", "10115"], "age": [20, 29, 28]})
    again = recoding.apply(new)
    assert isinstance(again.frame, pandas.DataFrame)
    assert set(again.frame["zip"]) == {"1011*"} and set(again.frame["age"]) == {"[20, 30)"}
    assert again.report.verified
    # A row that would stand alone is refused, not released.
    with pytest.raises(incog.Impossible):
        recoding.apply(pyarrow.table({"zip": ["10115", "60601"], "age": [20, 29]}))
    # It can be kept, and says the same.
    kept = incog.Recoding.from_dict(json.loads(json.dumps(recoding.to_dict())))
    assert kept == recoding == pickle.loads(pickle.dumps(recoding))
    assert set(kept.apply(new).frame["zip"]) == {"1011*"}


def test_a_recoding_row_by_row_belongs_to_its_rows() -> None:
    release = incog.anonymize(PATIENTS, **POLICY, algorithm="top-down")
    with pytest.raises(incog.PolicyError, match="row by row"):
        release.recoding  # noqa: B018


def test_the_adapter_verifies_or_refuses() -> None:
    old = pandas.DataFrame({"zip": ["53715", "53715", "53703", "53706"]})
    adapter = incog.Anonymizer(quasi_identifiers={"zip": incog.mask("right")}, k=2)
    with pytest.raises(incog.InputError, match="not fitted"):
        adapter.transform(old)
    assert sorted(adapter.fit_transform(old)["zip"]) == ["5370*", "5370*", "5371*", "5371*"]
    assert list(adapter.transform(pandas.DataFrame({"zip": ["53711", "53712"]}))["zip"]) == ["5371*", "5371*"]
    with pytest.raises(incog.Impossible):
        adapter.transform(pandas.DataFrame({"zip": ["53715", "10115"]}))
    assert adapter.get_params()["k"] == 2
    adapter.set_params(k=3)
    assert adapter.get_params()["k"] == 3
    with pytest.raises(incog.InputError, match="did you mean `k`|no argument"):
        incog.Anonymizer(kk=2)  # type: ignore[call-arg]


def test_a_profile_proposes_a_job_that_runs() -> None:
    table = text_table(ROOT / "examples" / "hospital" / "discharges.csv")
    found = incog.profile(table)
    assert found.rows == table.num_rows
    roles = {column.name: column.role for column in found.columns}
    assert roles["name"] == "identifier" and roles["sex"] == "quasi-identifier"
    job = found.job(k=5)
    decided = job.text.replace('role = "decide"', 'role = "other"')
    release = incog.Job.parse(decided).anonymize(table)
    assert release.report.smallest_group is not None and release.report.smallest_group >= 5
    assert arrow_of(found.frame(table))["name"].to_pylist() == table.column_names


def test_a_profile_of_a_file_is_that_of_the_frame(tmp_path: Path) -> None:
    path = ROOT / "examples" / "hospital" / "discharges.csv"
    assert incog.profile(path).to_dict() == incog.profile(text_table(path)).to_dict()
    job = incog.profile(path).job()
    (tmp_path / "here").mkdir()
    written = job.write(tmp_path / "here" / "incog.toml")
    assert written.path is not None and written.path.exists()
    with pytest.raises(incog.FileError):
        job.write(tmp_path / "here" / "incog.toml")


# ---- verify --------------------------------------------------------------------------------------------------------------------


def test_what_does_not_hold_is_a_finding_and_misuse_is_raised() -> None:
    release = pyarrow.table({"zip": ["1", "1", "2"], "ill": ["flu", "none", "flu"]})
    found = incog.verify(release, quasi_identifiers=["zip"], k=2, sensitive=["ill"])
    assert not found and found.smallest_group == 1 and found.group_sizes == [(1, 1), (2, 1)]
    assert found.measured[0].alpha == (1, 1) and found.measured[0].distinct_l == 1
    with pytest.raises(incog.InputError, match="quasi_identifiers and k|nothing is said"):
        incog.verify(release)
    with pytest.raises(incog.InputError, match="without|alone|how a release was made"):
        incog.verify(release, quasi_identifiers=["zip"], k=2, suppression="1%")
    with pytest.raises(incog.InputError, match="in no row"):
        incog.verify(release, quasi_identifiers=["zip"], k=1, require=[incog.alpha_k("ill", 0.5, values=["fluu"])])
    assert not incog.verify(release, quasi_identifiers=["zap"], k=1)


def test_findings_are_those_of_the_command_line(command: Command, tmp_path: Path) -> None:
    text = "zip,age,ill\n1*,a,flu\n1*,a,none\n1*,b,flu\n2*,b,none\n2*,b,cold\n"
    (tmp_path / "release.csv").write_text(text)
    table = text_table(tmp_path / "release.csv")
    for kind in KINDS:
        for k, alpha in ((1, "1/2"), (2, 0.5), (2, 0.34)):
            found = incog.verify(
                frame_of(kind, table), quasi_identifiers=["zip", "age"], k=k, require=[incog.alpha_k("ill", alpha)]
            )
            flags = ["--qi", "zip,age", "-k", k, "--sensitive", "ill", "--alpha", alpha]
            ran = command("verify", tmp_path / "release.csv", *flags)
            assert str(found) == ran.stdout
            assert bool(found) == (ran.returncode == 0)
            # A terminal breaks lines, and says the same.
            narrow = command("verify", tmp_path / "release.csv", *flags, columns=80).stdout
            assert narrow.split() == str(found).split()
            assert max(map(len, narrow.splitlines())) <= 80 < max(map(len, str(found).splitlines()))
            said = json.loads(command("verify", tmp_path / "release.csv", *flags, "--format", "json").stdout)
            mine = found.to_dict()
            exact = {key: mine.pop(key) for key in ("group_sizes", "measured", "tables")}
            assert {**mine, "release": said["release"]} == said
            assert exact["group_sizes"] == [list(at) for at in found.group_sizes]
            assert (found.verdict, found.warnings) == (said["verdict"], said["warnings"])
            for measured, theirs in zip(found.measured, said["sensitive"], strict=True):
                assert measured.alpha is not None
                assert measured.alpha[0] / measured.alpha[1] == theirs["alpha"]
                assert (measured.telling_groups, measured.telling_rows) == (theirs["telling_groups"], theirs["telling_rows"])


def names_of(said: dict[str, Any]) -> set[str]:
    """The fields of a JSON Schema."""
    return {*said["properties"]} - {"schema"}


def test_classes_have_the_fields_of_the_schemas_and_no_others(command: Command) -> None:
    def schema(name: str) -> dict[str, Any]:
        return dict(json.loads(command("schema", name).stdout))

    def fields(of: Any) -> set[str]:
        return {name for name in of.__dataclass_fields__ if not name.startswith("_")}

    of_release, of_comparison, of_findings = schema("anonymize"), schema("compare"), schema("verify")
    assert fields(incog.Report) - {"text"} == names_of(of_release) - {"path", "record"}
    assert fields(reports.Column) == names_of(of_release["$defs"]["ColumnJson"])
    assert fields(incog.Finding) == names_of(of_release["$defs"]["FindingJson"])
    assert fields(incog.Measured) == names_of(of_findings["$defs"]["SensitiveJson"]) | {"recursive_c"}
    # `measured` is `sensitive`, exactly; a release and its record are what was asked about.
    assert fields(incog.Findings) - {"text", "measured", "group_sizes"} == names_of(of_findings) - {
        "sensitive", "release", "record",
    }  # fmt: skip
    assert fields(incog.Comparison) - {"text", "svg"} == names_of(of_comparison)
    assert fields(incog.Compared) == names_of(of_comparison["$defs"]["ComparedModel"])
    for name in ("search", "search-k"):
        assert fields(incog.Node) == names_of(schema(name)["$defs"]["NodeReport"])
    assert fields(incog.Point) == names_of(schema("search-k")["$defs"]["FrontierPoint"])


def test_a_release_is_checked_against_its_data_and_a_forged_one_is_found() -> None:
    release = incog.anonymize(PATIENTS, **POLICY, suppression=2)
    assert bool(incog.verify(release.frame, data=PATIENTS, **POLICY, suppression=2))
    frame = release.frame.to_pandas()
    frame.loc[0, "disease"] = "Plague"
    forged = incog.verify(frame, data=PATIENTS, **POLICY, suppression=2)
    assert not forged
    assert any(finding.kind == "rows" and not finding.holds for finding in forged.findings)


def test_a_written_release_is_checked_by_its_record(tmp_path: Path) -> None:
    release = incog.anonymize(PATIENTS, **POLICY, key=tmp_path / "incog.key", order="input")
    for name in ("out.csv", "out.parquet", "out.arrow"):
        record = release.write(tmp_path / name)
        assert record is not None
        assert bool(incog.verify(tmp_path / name, record=record))
        assert bool(incog.verify(tmp_path / name, record=record, key=tmp_path / "incog.key", data=PATIENTS, **POLICY))
    text = (tmp_path / "out.csv").read_text()
    (tmp_path / "out.csv").write_text(text.replace("Flu", "Flu2", 1))
    assert not incog.verify(tmp_path / "out.csv", record=tmp_path / "out.csv.incog.json")
    with pytest.raises(incog.Error):
        incog.verify(tmp_path / "none.csv", quasi_identifiers=["sex"], k=2)


# ---- databases -----------------------------------------------------------------------------------------------------------------

UNIVERSITY = ROOT / "examples" / "university"


def university(kind: str) -> dict[str, incog.Relation]:
    frames = {name: frame_of(kind, text_table(UNIVERSITY / f"{name}.csv")) for name in ("student", "takes", "book")}
    return {
        "student": incog.relation(frames["student"], key="sid", sensitive=["gpa"]),
        "takes": incog.relation(
            frames["takes"],
            key="scid",
            parent=("student", "sid"),
            quasi_identifiers={"course": incog.file(UNIVERSITY / "dgh" / "course.csv")},
            sensitive=["grade"],
        ),
        "book": incog.relation(
            frames["book"],
            key="bid",
            parent=("takes", "scid"),
            quasi_identifiers={"book": incog.file(UNIVERSITY / "dgh" / "book.csv")},
            sensitive=["price"],
        ),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_a_database_are_released_as_its_files_are(command: Command, tmp_path: Path, kind: str) -> None:
    tables = university(kind)
    settings = {"algorithm": "miraclex", "threshold": "0.3", "cluster_limit": 150}
    released = incog.database(tables, person="student", k=10, complete=False, search=settings)
    shutil.copytree(UNIVERSITY, tmp_path / "university")
    ran = command("anonymize", tmp_path / "university" / "incog.toml", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    for key in ("released_rows", "suppressed_rows", "loss", "groups", "smallest_group", "discernibility", "verdict"):
        assert released.report.to_dict()[key] == said[key], key
    assert {at["name"]: at["removed_rows"] for at in released.report.tables} == {
        at["name"]: at["removed_rows"] for at in said["tables"]
    }
    assert bool(released.findings)
    assert [at.column for at in released.findings.measured] == [at["column"] for at in said["sensitive"]]
    for name, frame in released.frames.items():
        assert type(frame) is type(tables[name].data)
    # The same rows, but for keys, which are drawn anew each time.
    for name, of in (("student", 1), ("takes", 2), ("book", 2)):
        theirs = text_table(tmp_path / "university" / "release" / f"{name}.csv")
        columns = [column for column in theirs.column_names if not column.endswith("id")]
        mine = arrow_of(released.frames[name]).select(columns)
        assert len(columns) == of
        assert sorted(cells(mine)) == sorted(cells(theirs.select(columns))), name


def test_a_database_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    tables = university("pyarrow")
    with pytest.raises(incog.InputError, match="did you mean `student`"):
        incog.database(tables, person="studnt", k=10)
    with pytest.raises(incog.InputError, match="relation"):
        incog.database({"student": tables["student"].data}, person="student", k=10)


def test_a_database_is_written_with_a_record_that_says_the_same(tmp_path: Path) -> None:
    tables = university("pyarrow")
    key = tmp_path / "incog.key"
    written = incog.database(tables, person="student", k=10, output=tmp_path / "release", format="parquet", key=key, order="input")
    assert written.record_path is not None and written.record_path.exists()
    assert sorted(path.name for path in (tmp_path / "release").iterdir()) == [
        "book.parquet", "release.incog.json", "student.parquet", "takes.parquet",
    ]  # fmt: skip
    assert written.record.to_dict() == content(written.record_path)
    assert {*written.record.to_dict()} <= {*incog.DatabaseRecord.__dataclass_fields__}
    assert bool(incog.verify(tmp_path / "release", record=written.record_path, key=key))
    # Again, elsewhere, by its own name.
    assert written.write(tmp_path / "again") == tmp_path / "again" / "release.incog.json"
    assert (tmp_path / "again" / "takes.parquet").read_bytes() == (tmp_path / "release" / "takes.parquet").read_bytes()


def test_types_of_a_database_are_kept_and_sensitive_columns_may_stand_apart() -> None:
    tables = university("pyarrow")
    student = tables["student"].data
    gpa = pyarrow.array([float(value) for value in student["gpa"].to_pylist()])
    takes = tables["takes"].data
    grade = takes["grade"].dictionary_encode()
    tables["student"] = incog.relation(student.set_column(student.column_names.index("gpa"), "gpa", gpa), key="sid", sensitive=["gpa"])
    said = {key: value for key, value in tables["takes"].said.items() if key != "columns"}
    tables["takes"] = incog.relation(
        takes.set_column(takes.column_names.index("grade"), "grade", grade),
        key=said["key"],
        parent=("student", "sid"),
        quasi_identifiers={"course": incog.file(UNIVERSITY / "dgh" / "course.csv")},
        sensitive=["grade"],
    )
    released = incog.database(tables, person="student", k=10)
    assert released.frames["student"]["gpa"].type == pyarrow.float64()
    assert pyarrow.types.is_dictionary(released.frames["takes"]["grade"].type)
    apart = incog.database(
        tables, person="student", k=10, release="anatomized", suppression="100%", require=incog.distinct_l("takes.grade", 2)
    )
    assert list(apart.frames) == ["student", "student.gpa", "takes", "takes.grade", "book", "book.price"]
    assert apart.frames["student.gpa"]["gpa"].type == pyarrow.float64()
    assert len(apart) == apart.frames["student"].num_rows


def test_a_job_about_a_database_takes_frames_in_the_place_of_files(tmp_path: Path) -> None:
    job = incog.Job.read(UNIVERSITY / "incog.toml")
    frames = {name: at.data for name, at in university("polars").items()}
    mixed = job.database({"student": frames["student"]})
    assert isinstance(mixed.frames["student"], polars.DataFrame)
    assert isinstance(mixed.frames["takes"], pyarrow.Table)
    assert job.database(frames).report.to_dict()["loss"] == mixed.report.to_dict()["loss"]
    with pytest.raises(incog.InputError, match="did you mean `student`"):
        job.database({"studnt": frames["student"]})
