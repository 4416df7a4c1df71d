"""Opens sessions until the service goes away, and writes down each one that was acknowledged; or, with `--check`, asks
whether every one of them is still there and every nonce still spent."""

import json
import os
import sys
import threading
import time
import uuid
from pathlib import Path

import requests

from Shared import options
from Shared.client import Device, https

WORKERS = 4
ENOUGH = 100  # sessions, which the workers go on for after the deadline while the service is there
LONGEST = 120  # seconds after the deadline
REPLAYS = 200  # how many spent nonces are tried again


def device(chosen):
    """The one device of all rounds: certified in the first, its key and certificate kept in a directory."""
    made = Device(chosen.public, chosen.client, chosen.ca, "EC")
    directory = Path(chosen.identity)
    files = (str(directory / "certificate.pem"), str(directory / "key.pem"))
    if not Path(files[0]).exists():
        assert made.certify().status_code == 201
        directory.mkdir(mode=0o700, exist_ok=True)
        for source, target in reversed(list(zip(made.files, files))):
            with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(Path(source).read_bytes())
    made.files = files
    made.connection = https(chosen.ca, files)
    return made


def work(chosen, provider, shown, deadline, record, lock):
    """One worker on a connection of its own; ends when the service is gone, or after the deadline with its share."""
    acknowledged = 0
    with https(chosen.ca, shown.files) as connection:
        while time.monotonic() < deadline + (LONGEST if acknowledged < ENOUGH / WORKERS else 0):
            try:
                nonce = connection.post(chosen.client + "/nonces", timeout=60).json()["nonce"]
                token = provider.identity_token(f"user-{uuid.uuid4()}", nonce)
                answer = connection.post(chosen.client + "/sessions", json={"identity_token": token}, timeout=60)
            except (requests.RequestException, ValueError):
                return
            if answer.status_code == 201:
                line = json.dumps({"session": answer.json()["session_token"], "identity": token})
                acknowledged += 1
                with lock:
                    record.write(line + "\n")
                    record.flush()
            time.sleep(0.01)


def check(chosen, shown):
    """Asks for every acknowledged session, and shows some spent nonces again."""
    acknowledged = [json.loads(line) for line in Path(chosen.record).read_text().splitlines()]
    lost = sum(shown.call("GET", "/sessions/current", item["session"]).status_code != 200 for item in acknowledged)
    step = max(1, len(acknowledged) // REPLAYS)
    replayed = acknowledged[::step]
    revived = 0
    for item in replayed:
        answer = shown.call("POST", "/sessions", json={"identity_token": item["identity"]})
        revived += answer.status_code != 422 or answer.json().get("reason") != "nonce_used"
    print(f"{len(acknowledged)} sessions acknowledged, {lost} lost; {len(replayed)} nonces tried again, {revived} revived")
    return len(acknowledged) >= ENOUGH and lost == 0 and revived == 0


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--record", required=True)
    parser.add_argument("--identity", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    provider = options.provider(chosen)
    shown = device(chosen)
    if chosen.check:
        sys.exit(0 if check(chosen, shown) else 1)
    deadline = time.monotonic() + chosen.seconds
    lock = threading.Lock()
    with open(chosen.record, "a") as record:
        workers = [
            threading.Thread(target=work, args=(chosen, provider, shown, deadline, record, lock)) for _ in range(WORKERS)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


if __name__ == "__main__":
    try:
        main()
    except (requests.RequestException, AssertionError) as error:
        # The service may be gone before the first request: that is what the rounds are about.
        if "--check" in sys.argv:
            raise
        print(f"ended early: {type(error).__name__}")
