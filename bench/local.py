#!/usr/bin/env python3
"""What do local recodings lose, and how long do they take?

Adult with nine quasi-identifiers and Lands End with eight (100,000 rows, and 4.6 million), k = 2, 5, 10, 50: loss and geometric loss of every local
algorithm, of plain rounds (the stand-in for ARX's local recoding: full-domain generalizations of what is left, published as they are), and of
`local`. Algorithms other than these two run up to 100,000 rows. With `--hospital`, the bundled hospital by `incog compare` instead: every row of
that is a release that the independent checker has verified.

usage: bench/local.py [--only adult] [--landsend-rows N] [--json FILE] | --hospital
Needs `cargo build --release -p incog-cli -p incog-bench` before, and Adult.
"""
import subprocess
import sys

from peers import PROJECT, program


def main():
    if "--hospital" in sys.argv:
        command = [program("incog"), "compare", PROJECT / "examples" / "hospital" / "incog.toml"]
    else:
        command = [program("incog-bench"), "local", *sys.argv[1:]]
    sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()
