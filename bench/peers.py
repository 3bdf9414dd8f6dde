"""Where the benchmarks in Python find the programs that incog is compared with."""
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
FOLDER = PROJECT / "target" / "bench"


def environment(name, packages):
    """A Python with these packages, in a folder of that name below the target folder; made on first use, from PyPI."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    venv = FOLDER / name
    python, complete = venv / "bin" / "python", venv / "complete"
    if not complete.exists() or complete.read_text() != " ".join(packages):
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        if subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=False).returncode != 0:
            sys.exit(f"cannot install {packages[0]} from PyPI: is it reachable?")
        complete.write_text(" ".join(packages))
    return python


def program(name):
    """A program of this project, as `cargo build --release` leaves it."""
    path = PROJECT / "target" / "release" / name
    if not path.exists():
        sys.exit(f"there is no {path}: run `cargo build --release -p incog-cli -p incog-bench` first")
    return path
