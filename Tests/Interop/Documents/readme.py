"""Runs the README's flow in `curl` as it stands, but for the ports, against the running service and a sample provider."""

import json
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from Shared import options
from Shared.checks import equal, expect
from Shared.client import TIMEOUT


def block(readme):
    """The shell block of the flow."""
    found = re.search(r"^## The flow in `curl`\n.*?^```sh\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    expect(found, "the README has no flow")
    return found[1]


def answers(printed):
    """The JSON values that were printed one behind the other."""
    found, decoder = [], json.JSONDecoder()
    while printed := printed.lstrip():
        value, end = decoder.raw_decode(printed)
        found.append(value)
        printed = printed[end:]
    return found


def main():
    parser = options.parser(__doc__)
    for name in ("sample", "countersign", "readme"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        sample = subprocess.Popen([
            chosen.sample, "--port", "0", "--service", chosen.public, "--ca", chosen.ca, "--key", chosen.provider_key,
            "--registration", chosen.provider, "--users", directory + "/users.json"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            script = block(Path(chosen.readme).read_text())
            places = {
                "https://127.0.0.1:8440": chosen.public, "https://127.0.0.1:8441": chosen.client,
                "http://127.0.0.1:8450": json.loads(sample.stdout.readline())["url"]}
            for usual, here in places.items():
                expect(usual in script, f"the flow does not speak to {usual}")
                script = script.replace(usual, here)
            Path(directory, "Keys").mkdir()
            shutil.copy(chosen.ca, Path(directory, "Keys", "ca.pem"))
            Path(directory, ".build/debug").mkdir(parents=True)
            Path(directory, ".build/debug/countersign").symlink_to(chosen.countersign)
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script], cwd=directory, capture_output=True, text=True, timeout=60)
        finally:
            sample.send_signal(signal.SIGTERM)
            sample.wait(timeout=TIMEOUT)
    said = f"{done.stdout}\n{done.stderr}"
    equal(done.returncode, 0, f"the exit code, after {said}")
    found = answers(done.stdout)
    names = ["username", "session_id", "user_id", "id", "user_id"]
    equal([next(iter(answer)) for answer in found], names, f"the first members of the answers in {said}")
    equal(found[1]["state"], "authenticated", "the session's state")
    equal([answer["assurance"] for answer in found[2:]], ["phone", "barcode", "barcode"], f"the levels in {said}")
    print(found[-1])


if __name__ == "__main__":
    main()
