"""What the documentation shows is true: docstrings, the pages on Python, and the gallery, executed; and what is typed is typed right."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import incog
import nbclient
import nbformat
import pytest
from conftest import ROOT

GALLERY = ROOT / "python" / "gallery"
NOTEBOOKS = sorted(path.name for path in GALLERY.glob("*.ipynb"))
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("python*.md"))]
MODULES = [
    name for _, name, _ in pkgutil.iter_modules(incog.__path__, "incog.") if name != "incog._incog"
]


@pytest.mark.parametrize("module", ["incog", *MODULES])
def test_the_examples_of_docstrings_are_true(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_docstrings_have_examples() -> None:
    finder = doctest.DocTestFinder()
    examples = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(examples) >= 14


def blocks(page: str) -> list[str]:
    """The Python of a page."""
    text = (ROOT / page).read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.symlink(ROOT / "examples", tmp_path / "examples")
    names: dict[str, Any] = {}
    ran = blocks(page)
    assert ran
    for block in ran:
        exec(compile(block, f"{page}", "exec"), names)


def adult() -> bool:
    places = [Path(os.environ["INCOG_DATA"])] if "INCOG_DATA" in os.environ else []
    places += [at / "shared" / "data" for at in GALLERY.resolve().parents]
    return any((at / "adult" / "adult.csv").exists() for at in places)


def skip(why: str) -> None:
    """Counted as skipped by what runs the stages, too."""
    if note := os.environ.get("INCOG_SKIPPED"):
        with open(note, "a", encoding="utf-8") as file:
            file.write(f"skipped: python: {why}\n")
    pytest.skip(why)


def notebook_of(name: str) -> Any:
    read: Any = nbformat.read
    return read(GALLERY / name, as_version=4)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_of_the_gallery_runs(name: str) -> None:
    if name == "adult.ipynb" and not adult():
        skip("the notebook on Adult: its rows are not here (INCOG_DATA)")
    notebook = notebook_of(name)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(GALLERY)}}).execute()
    shown = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    assert any("text/html" in out.get("data", {}) for out in shown), "notebooks see tables"
    assert not any(out.output_type == "error" for out in shown)


def test_the_gallery_has_three_notebooks_without_outputs() -> None:
    assert NOTEBOOKS == ["adult.ipynb", "hospital.ipynb", "many-tables.ipynb"]
    for name in NOTEBOOKS:
        notebook = notebook_of(name)
        assert all(not cell.get("outputs") for cell in notebook.cells), f"{name}: outputs may be cells of a table"


def code_of_the_gallery(folder: Path) -> list[Path]:
    """The code of the notebooks as modules."""
    made = []
    for name in NOTEBOOKS:
        notebook = notebook_of(name)
        code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        path = folder / name.replace("-", "_").replace(".ipynb", ".py")
        path.write_text("\n".join(code) + "\n", "utf-8")
        made.append(path)
    return made


def run(*words: object, cwd: Path = ROOT / "python") -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_are_right_by_mypy(tmp_path: Path) -> None:
    run(sys.executable, "-m", "mypy", "--strict", "-p", "incog", "--config-file", "pyproject.toml")
    run(sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", *code_of_the_gallery(tmp_path))
    run(sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", "tests")


def test_types_are_right_by_pyright(tmp_path: Path) -> None:
    package = Path(incog.__file__).parent
    run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, package, *code_of_the_gallery(tmp_path))


def test_stubs_of_the_binding_are_complete(tmp_path: Path) -> None:
    # Not from the folder of the sources, which have no binding.
    config = ROOT / "python" / "pyproject.toml"
    run(sys.executable, "-m", "mypy.stubtest", "incog._incog", "--mypy-config-file", config, cwd=tmp_path)
