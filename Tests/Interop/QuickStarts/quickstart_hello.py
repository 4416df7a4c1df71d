"""Runs what `make hello` runs, for one language: a user signs in and out, and nothing is left."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from Shared.checks import equal, expect


def left(folder):
    """Processes whose environment names the folder."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and folder.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            pass
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--countersign", required=True)
    chosen = parser.parse_args()
    sources = chosen.root / "Sources" / "QuickStarts"
    before = sorted(sources.rglob("*"))
    with tempfile.TemporaryDirectory(prefix="countersign-quickstart-") as folder, \
            tempfile.TemporaryDirectory() as build:
        done = subprocess.run(
            [sys.executable, sources / "hello.py", chosen.language, "--countersign", chosen.countersign, "--policies",
             chosen.root / "Policies", "--build", build],
            env={**os.environ, "TMPDIR": folder, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True)
        equal(done.returncode, 0, f"the exit code, after {done.stdout}{done.stderr}")
        for words in ('"external_id": "ada"', '"jkt":', "the backend says: the session has ended"):
            expect(words in done.stdout, f"{words!r} is not in {done.stdout}")
        equal(os.listdir(folder), [], "what is left of files")
        equal(left(folder), [], "what is left running")
    equal(sorted(sources.rglob("*")), before, "the files beside the sources")
    print(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
