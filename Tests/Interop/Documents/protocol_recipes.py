"""Runs the shell blocks of documents in order, in one directory, and compares what each prints with the block behind it.

A block may wait without a bound of its own: it has two minutes, and ends with everything that it started.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from Shared import options
from Shared.checks import equal, expect

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


def run(script, directory, environment):
    """Runs a block: its exit code, and what it prints on standard output and on standard error."""
    process = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", script], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, errors = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
    return process.returncode, output, errors


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--documents", nargs="+", required=True)
    for name in ("policies", "texts", "pid"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    found = [step for document in chosen.documents for step in steps(Path(document).read_text())]
    expect(len(found) >= 10, f"only {len(found)} blocks")
    environment = {
        **os.environ, "PUBLIC": chosen.public, "CLIENT": chosen.client, "CA": chosen.ca, "POLICIES": chosen.policies,
        "TEXTS": chosen.texts, "SERVICE": chosen.pid, "NO_PROXY": "*", "no_proxy": "*",
        # The interpreter that has PyJWT, as `python3`.
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(chosen.provider, Path(directory, "provider.json"))
        shutil.copy(chosen.provider_key, Path(directory, "provider.key"))
        for heading, script, wanted in found:
            code, output, errors = run(script, directory, environment)
            said = f"under {heading}: {output}{errors}"
            equal(code, 0, f"the exit code {said}")
            equal(output, wanted, f"the output {said}")
    print(f"{len(found)} blocks do what the documents say")


if __name__ == "__main__":
    main()
