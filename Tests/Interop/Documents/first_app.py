"""Runs the app of FirstApp.md against the running service and a sample provider, with a card and the user's code."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from Shared import options
from Shared.checks import equal, expect
from Shared.client import TIMEOUT


def main():
    parser = options.parser(__doc__)
    for name in ("sample", "countersign", "app"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        sample = subprocess.Popen([
            chosen.sample, "--port", "0", "--service", chosen.public, "--ca", chosen.ca, "--key", chosen.provider_key,
            "--registration", chosen.provider, "--users", directory + "/users.json"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            backend = json.loads(sample.stdout.readline())["url"]
            for file, place in ((chosen.ca, "Keys/ca.pem"), (chosen.provider, ".run/provider.json")):
                Path(directory, place).parent.mkdir()
                shutil.copy(file, Path(directory, place))
            card = subprocess.run([chosen.countersign, "sample", "card"], cwd=directory, capture_output=True, check=True)
            Path(directory, "card.txt").write_bytes(card.stdout)
            places = {"CHECKOUT": directory, "PUBLIC": chosen.public, "CLIENT": chosen.client, "BACKEND": backend}
            # The code of a number of this range in development mode.
            done = subprocess.run(
                [chosen.app], cwd=directory, env={**os.environ, **places}, input=b"000000\n", capture_output=True,
                timeout=60)
        finally:
            sample.send_signal(signal.SIGTERM)
            sample.wait(timeout=TIMEOUT)
    said = done.stdout.decode() + done.stderr.decode()
    equal(done.returncode, 0, f"the exit code, after {said}")
    lines = done.stdout.decode().splitlines()
    address = lines[1].removeprefix("Signed in as ")
    expect(lines[0].startswith("This device is ") and "/ada-" in address, said)
    equal(
        lines[2:], [
            f"Still {address}", "Type the code of 6 digits:", "The card is verified, the level is barcode.",
            "A request to the backend has 2 headers that prove the session.",
            "The backend gave no token: CancellationError()"], "what the app printed")


if __name__ == "__main__":
    main()
