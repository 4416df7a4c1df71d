"""Starts the sample provider beside the running service and walks the tour, as `make run` does, as often as told; and what
it shows."""

import json
import re
import signal
import subprocess

import options
from checks import equal, expect
from client import TIMEOUT


def main():
    parser = options.parser(__doc__)
    for name in ("countersign", "sample", "directory"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--times", type=int, default=1)
    chosen = parser.parse_args()
    sample = subprocess.Popen([
        chosen.sample, "--port", "0", "--service", chosen.public, "--ca", chosen.ca, "--key", chosen.provider_key,
        "--registration", chosen.provider, "--users", chosen.directory + "/users.json"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        ready = json.loads(sample.stdout.readline())
        equal(ready["ready"], True, "ready")
        for number in range(chosen.times):
            judge(number + 1, subprocess.run([
                chosen.countersign, "tour", "--public", chosen.public, "--client", chosen.client, "--provider",
                ready["url"], "--keys", chosen.directory + "/Keys", "--store",
                "sqlite:" + chosen.directory + "/store.db"], capture_output=True, text=True, timeout=60))
    finally:
        sample.send_signal(signal.SIGTERM)
        sample.wait(timeout=TIMEOUT)


def judge(number, tour):
    """Looks at what a tour showed."""
    equal(tour.returncode, 0, f"the exit code of tour {number}, after {tour.stdout}{tour.stderr}")
    lines = tour.stdout.splitlines()
    for index, line in enumerate(lines):
        expect(re.match(rf" *{index + 1}  ", line), f"step {index + 1} is {line!r}")
    for words in ("assurance: barcode", "session challenge", "initials MT", "Both may talk", "state: BANNED",
                  "ban lift", "The token is worth nothing now"):
        expect(words in tour.stdout, f"{words!r} is not in {tour.stdout}")
    print(f"tour {number}: {len(lines)} steps")


if __name__ == "__main__":
    main()
