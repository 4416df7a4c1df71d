"""Starts the sample provider beside the running service and walks the tour, as `make run` does, as often as told; and what
it shows."""

import json
import re
import signal
import subprocess

from Shared import options
from Shared.checks import equal, expect
from Shared.client import TIMEOUT


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
    for words in ("assurance: barcode", "session challenge", "initials MT", "Both may talk",
                  "from ", "a thread of 2 messages, read through message 2", "state: BANNED", "state: closed", "ban lift",
                  "The token is no longer valid", "The provider opens a stream of security events",
                  "The session was challenged by the provider's event", "The provider has the event", "age_over_18: true"):
        expect(words in tour.stdout, f"{words!r} is not in {tour.stdout}")
    [received] = [line for line in lines if "The provider has the event" in line]
    expect(received.split()[-1] == "session-revoked", f"the event is {received!r}")
    sent = [index for index, line in enumerate(lines) if "POST /password" in line and " 204 " in line]
    expect(len(sent) == 1 and " 401 " in lines[sent[0] + 1], f"after the provider's event comes {lines[sent[0] + 1]!r}")
    print(f"tour {number}: {len(lines)} steps")


if __name__ == "__main__":
    main()
