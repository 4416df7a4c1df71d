"""Runs the shell blocks of documents in order, in one directory, and compares what each prints with the block behind it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import options
from checks import equal, expect

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(document):
    """Each shell block, the heading above it, and the lines that it prints."""
    found = []
    for block in BLOCK.finditer(document):
        language, text = block.groups()
        heading = re.findall(r"^## (.*)$", document[:block.start()], re.MULTILINE)
        if language == "sh":
            found.append([heading[-1] if heading else "", text, ""])
        else:
            equal(language, "text", "a block's language")
            expect(found and not found[-1][2], "a block of output follows no shell block")
            found[-1][2] = text
    return found


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--documents", nargs="+", required=True)
    for name in ("policies", "pid"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    found = [step for document in chosen.documents for step in steps(Path(document).read_text())]
    expect(len(found) >= 10, f"only {len(found)} blocks")
    environment = {
        **os.environ, "PUBLIC": chosen.public, "CLIENT": chosen.client, "CA": chosen.ca, "POLICIES": chosen.policies,
        "SERVICE": chosen.pid, "NO_PROXY": "*", "no_proxy": "*",
        # The interpreter that has PyJWT, as `python3`.
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(chosen.provider, Path(directory, "provider.json"))
        shutil.copy(chosen.provider_key, Path(directory, "provider.key"))
        for heading, script, wanted in found:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=60, check=False)
            said = f"under {heading}: {done.stdout}{done.stderr}"
            equal(done.returncode, 0, f"the exit code {said}")
            equal(done.stdout, wanted, f"the output {said}")
    print(f"{len(found)} blocks do what the documents say")


if __name__ == "__main__":
    main()
