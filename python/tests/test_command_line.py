"""The same release, record and findings as the command line, through every kind of frame."""

from __future__ import annotations

import inspect
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import incog
import pyarrow
import pyarrow.csv
import pytest
from conftest import KINDS, ROOT, cells, content, frame_of, rows_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Command = Callable[..., "subprocess.CompletedProcess[str]"]


def text_table(path: Path) -> Any:
    """A file as a table of text, an empty cell being null, as the command line reads it."""
    header, rows = rows_of(path)
    columns = [[cell or None for cell in column] for column in zip(*rows, strict=True)]
    return pyarrow.table([pyarrow.array(column, pyarrow.string()) for column in columns], names=header)


def is_what_the_command_line_says(report: incog.Report, said: dict[str, Any]) -> bool:
    """The same fields with the same values, but for those about files: here there are none."""
    mine, theirs = report.to_dict(), dict(said)
    assert (mine.pop("schema"), theirs.pop("schema")) == ("incog-release-1", "incog-anonymize-1")
    assert Path(theirs.pop("path")).name == "released.csv"
    assert Path(theirs.pop("record")).name == "released.csv.incog.json"
    return mine == theirs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("example", ["hospital", "patients"])
def test_a_bundled_example_is_released_as_by_the_command_line(
    command: Command, tmp_path: Path, example: str, kind: str
) -> None:
    folder = tmp_path / example
    shutil.copytree(ROOT / "examples" / example, folder)
    job = folder / "incog.toml"
    in_order = "[output]\norder = \"input\"\n"
    text = job.read_text()
    text = text.replace("[output]\n", in_order) if "[output]" in text else text.replace("[policy]\n", in_order + "[policy]\n")
    job.write_text(text)
    released = folder / "released.csv"
    ran = command("anonymize", job, "--output", released, "--format", "json")
    assert ran.returncode == 0, ran.stderr

    data = text_table(next(folder.glob("[dp]*.csv")))
    release = incog.Job.read(job).anonymize(frame_of(kind, data))
    header, rows = rows_of(released)
    assert cells(release.frame) == rows
    assert release.record.release["columns"] == header
    assert release.record.to_dict() == content(folder / "released.csv.incog.json")
    assert is_what_the_command_line_says(release.report, json.loads(ran.stdout))
    assert all(finding.holds for finding in release.findings.findings)

    # What python wrote is what the command line wrote, and is found to be so.
    written = release.write(folder / "again.csv")
    assert written is not None
    assert (folder / "again.csv").read_bytes() == released.read_bytes()
    assert content(written) == content(folder / "released.csv.incog.json")
    checked = command("verify", folder / "again.csv", "--job", job, "--record", written, "--key", folder / "incog.key")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_job_runs_as_by_the_command_line(command: Command, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "hospital", tmp_path / "hospital")
    job = tmp_path / "hospital" / "incog.toml"
    published = incog.Job.read(job).run(output=tmp_path / "out.csv")
    assert published.path == tmp_path / "out.csv"
    assert published.record is not None and published.record.exists()
    assert bool(published.findings)
    assert bool(incog.verify(tmp_path / "out.csv", job=job))
    assert bool(incog.verify(tmp_path / "out.csv", record=published.record))
    again = command("verify", tmp_path / "out.csv", "--job", job, "--record", published.record)
    assert again.returncode == 0, again.stdout + again.stderr
    # What is said of it is said in the same words.
    ran = command("anonymize", job, "--output", tmp_path / "out.csv")
    assert ran.returncode == 0, ran.stderr
    assert str(published).strip() == ran.stderr.strip()


def test_a_database_is_released_as_by_the_command_line(command: Command, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "university", tmp_path / "university")
    job = tmp_path / "university" / "incog.toml"
    published = incog.Job.read(job).run()
    ran = command("anonymize", job, "--output", tmp_path / "by-the-command", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    mine = published.report.to_dict()
    for key in ("released_rows", "suppressed_rows", "loss", "groups", "smallest_group", "tables", "columns"):
        assert mine[key] == said[key], key
    assert bool(incog.verify(published.path, job=job))


# ---- the names of job files ------------------------------------------------------------------------------------------------------


def parameters(*functions: Callable[..., Any]) -> set[str]:
    return {name for function in functions for name in inspect.signature(function).parameters}


def test_everything_that_a_job_file_has_a_name_for_can_be_said(command: Command) -> None:
    schema = json.loads(command("schema").stdout)
    kinds = schema["$defs"]

    def keys(kind: str) -> set[str]:
        return set(kinds[kind]["properties"])

    job, database = next(at for at in kinds if at == "Job"), "DatabaseJob"
    asked = parameters(incog.anonymize)
    # What is open is said with a mapping of the same keys: input, output, search, columns.
    assert {"input", "output", "search", "columns", "preset"} <= asked
    assert set(kinds[job]["properties"]) <= asked | {"policy"}
    assert keys("PolicyJob") <= asked
    rules = ["builtin", "dates", "file", "frequent", "intervals", "mask", "rare", "suppress", "tree"]
    functions = [getattr(incog, rule) for rule in rules]
    assert keys("HierarchyJob") <= parameters(*functions) | set(rules)
    models = [getattr(incog, name.replace("-", "_")) for name in incog.names()["model"] if name != "k-anonymity"]
    assert keys("RequireJob") <= parameters(*models) | {"model"}
    assert set(kinds[database]["properties"]) <= {"database", "policy", "search", "tables"}
    assert keys("DatabasePart") <= parameters(incog.database)
    assert keys("DatabasePolicy") <= parameters(incog.database)
    # Of a table of files: `input`.
    assert keys("TableJob") - keys("Input") <= parameters(incog.relation)


@pytest.mark.parametrize("kind", KINDS)
def test_hierarchies_with_names_pseudonyms_and_presets_do_what_a_job_file_says(command: Command, tmp_path: Path, kind: str) -> None:
    codes = ["E11.9", "E11.2", "I10", "I11.0", "J45", "J44.1"]
    table = pyarrow.table(
        {
            "person": [f"p{at:03}" for at in range(120)],
            "code": [codes[at % 6] for at in range(120)],
            "country": [("DE", "FR", "JP", "US")[at % 4] for at in range(120)],
            "job": [("nurse", "cook", "judge", "vet", "clown")[min(at % 9, 4)] for at in range(120)],
            "age": [20 + at % 75 for at in range(120)],
        }
    )
    policy: dict[str, Any] = {
        "quasi_identifiers": {
            "code": incog.builtin("icd10", rare=30),
            "country": incog.builtin("iso-country", levels=[1, 2]),
            "job": incog.frequent(2),
            "age": incog.rare(12),
        },
        "identifiers": "person",
        "columns": {"person": {"replace": "keyed-hash"}},
        "k": 2,
        "suppression": "10%",
    }
    same_as_by_the_command_line(command, tmp_path / "hierarchies", frame_of(kind, table), table, policy)
    preset: dict[str, Any] = {"preset": "hipaa-safe-harbor", "quasi_identifiers": ["country"], "k": 2, "suppression": "20%"}
    release = same_as_by_the_command_line(command, tmp_path / "preset", frame_of(kind, table), table, preset)
    assert "person" not in release.record.release["columns"]
    with pytest.raises(incog.InputError, match="asks for k of at least 20"):
        incog.anonymize(frame_of(kind, table), preset="public-use", k=5)


def same_as_by_the_command_line(command: Command, folder: Path, frame: Any, table: Any, policy: dict[str, Any]) -> incog.Release:
    """Releases a frame, and the same table as a file by the same policy."""
    folder.mkdir()
    data, key = folder / "data.csv", folder / "incog.key"
    pyarrow.csv.write_csv(table, data)
    asked = {**policy, "key": key, "order": "input"}
    said = incog._policy.asked(data, asked).said
    said["output"]["path"] = str(folder / "released.csv")
    job = folder / "incog.toml"
    job.write_text(incog._jobs.to_toml(said), "utf-8")
    ran = command("anonymize", job, "--format", "json")
    assert ran.returncode == 0, ran.stderr
    release = incog.anonymize(frame, **asked)
    _, expected = rows_of(folder / "released.csv")
    assert cells(release.frame) == expected
    assert is_what_the_command_line_says(release.report, json.loads(ran.stdout))
    assert release.record.to_dict() == content(folder / "released.csv.incog.json")
    return release


# ---- hundreds of random frames -------------------------------------------------------------------------------------------------

ages = st.integers(0, 99)
zips = st.one_of(st.none(), st.sampled_from(["53715", "53703", "53706", "10115", "60601", "7"]))
sexes = st.one_of(st.none(), st.sampled_from(["f", "m", "x"]))
ills = st.one_of(st.none(), st.sampled_from(["flu", "cold, bad", 'a "quoted" one', "none", "é"]))
days = st.dates(min_value=__import__("datetime").date(1990, 1, 1), max_value=__import__("datetime").date(1993, 12, 31))
rows = st.lists(st.tuples(ages, zips, sexes, days, ills), min_size=1, max_size=40)


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of a question about these columns."""
    hierarchies: dict[str, Any] = {
        "age": draw(st.sampled_from([incog.intervals(5, 10, 20), incog.intervals(10, top=60), incog.suppress(), None])),
        "zip": draw(st.sampled_from([incog.mask("right"), incog.mask("left", length=6), None])),
        "born": draw(st.sampled_from([incog.dates("month", "year"), incog.intervals(30, 360, of="dates"), None])),
        "sex": None,
    }
    chosen = draw(st.lists(st.sampled_from(list(hierarchies)), min_size=1, unique=True))
    require = draw(
        st.sampled_from([(), (incog.distinct_l("ill", 2),), (incog.alpha_k("ill", 0.75),), (incog.t_closeness("ill", "1/2"),)])
    )
    policy: dict[str, Any] = {
        "quasi_identifiers": {name: hierarchies[name] for name in chosen},
        "sensitive": ["ill"],
        "others": [name for name in hierarchies if name not in chosen],
        "k": draw(st.integers(1, 4)),
        "suppression": draw(st.sampled_from([None, 0, 1, 0.1, "25%"])),
        "require": require,
        "order": "input",
    }
    algorithm = draw(st.sampled_from([None, None, None, "mondrian", "top-down", "cell-suppression"]))
    if algorithm:
        policy["algorithm"] = algorithm
    return policy


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(rows=rows, policy=policies(), kind=st.sampled_from(KINDS))
def test_a_random_frame_is_released_as_by_the_command_line(
    command: Command, tmp_path_factory: pytest.TempPathFactory, rows: list[Any], policy: dict[str, Any], kind: str
) -> None:
    folder = tmp_path_factory.mktemp("random")
    names = ["age", "zip", "sex", "born", "ill"]
    columns = [list(column) for column in zip(*rows, strict=True)]
    types = [pyarrow.int64(), pyarrow.string(), pyarrow.string(), pyarrow.date32(), pyarrow.string()]
    table = pyarrow.table(
        [pyarrow.array(column, of) for column, of in zip(columns, types, strict=True)], names=names
    )
    data = folder / "data.csv"
    pyarrow.csv.write_csv(table, data)

    key = folder / "incog.key"
    try:
        release = incog.anonymize(frame_of(kind, table), key=key, **policy)
    except incog.Error as error:
        problem: incog.Error | None = error
    else:
        problem = None

    said = incog._jobs.question(data, **{**incog._policy._DEFAULTS, **policy, "key": key}).said
    said["output"]["path"] = str(folder / "released.csv")
    job = folder / "incog.toml"
    job.write_text(incog._jobs.to_toml(said), "utf-8")
    ran = command("anonymize", job, "--format", "json")
    if problem is not None:
        expected = 1 if isinstance(problem, incog.Impossible) else 2
        assert ran.returncode == expected, (problem, ran.stderr)
        if isinstance(problem, incog.Impossible):
            assert problem.obstacle.text.strip() in ran.stderr
        return
    assert ran.returncode == 0, ran.stderr
    header, expected_rows = rows_of(folder / "released.csv")
    frame = release.frame
    assert [str(name) for name in frame.columns] == header if hasattr(frame, "columns") and kind != "pyarrow" else True
    assert cells(frame) == expected_rows
    assert is_what_the_command_line_says(release.report, json.loads(ran.stdout))
    # A date is text there and a date here; whatever depends on that is no part of what is compared.
    again = incog.anonymize(frame_of(kind, table), key=key, **policy)
    mine, theirs = again.record.to_dict(), content(folder / "released.csv.incog.json")
    assert mine == theirs
