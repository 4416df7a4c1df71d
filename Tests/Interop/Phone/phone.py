"""Phone verification under force: guesses by the hundred on two processes, and a service killed amid its texts.

    python3 phone.py guesses|crash … --countersign FILE --directory DIRECTORY

`--directory` holds `Keys`, `Policies`, `store.db` and `texts.jsonl`; the processes are started and stopped here.
"""

import json
import signal
import statistics
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from pathlib import Path

import requests

from Shared import options
from Shared.checks import soon, whole_lines
from Shared.client import Device, https
from Shared.phones import begin, check, wait_for_texts, wrong

SENDS = 1000
WORKERS = 8
GUESSES = 200


class Service:
    """A `countersign serve` on free ports over the given files."""

    def __init__(self, chosen):
        directory = Path(chosen.directory)
        log = open(directory / "log", "ab")
        self.process = subprocess.Popen(
            [
                chosen.countersign, "serve", "--keys", directory / "Keys", "--policies", directory / "Policies",
                "--store", f"sqlite:{directory}/store.db", "--texts", directory / "texts.jsonl", "--public",
                "127.0.0.1:0", "--client", "127.0.0.1:0", "--ops", "127.0.0.1:0", "--limits", "off",
            ],
            stdout=subprocess.PIPE, stderr=log)
        ready = json.loads(self.process.stdout.readline())
        self.public, self.client = "https://" + ready["public"], "https://" + ready["client"]
        self.ops = "http://" + ready["ops"]

    def kill(self):
        """Ends it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Asks it to stop."""
        self.process.terminate()
        self.process.wait(timeout=60)


def session(chosen):
    """A device with a session of a new user."""
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    assert device.certify().status_code == 201
    provider = options.provider(chosen)
    answer = device.create_session(provider.identity_token(f"user-{uuid.uuid4()}", device.nonce()))
    assert answer.status_code == 201, answer.text
    return device, answer.json()["session_token"]


def counted(urls, verdict):
    """What the services' metrics say of checks with a verdict."""
    total = 0
    for url in urls:
        for line in requests.get(url + "/metrics", timeout=60).text.splitlines():
            if line.startswith("countersign_phone_checks_total{") and f'verdict="{verdict}"' in line:
                total += int(line.rsplit(" ", 1)[1])
    return total


def at_once(device, token, verification, codes, urls, workers=20):
    """Shows codes over many connections to all services at once, and gives how many answers had which status."""
    waiting, statuses, lock = list(enumerate(codes)), Counter(), threading.Lock()

    def work():
        with https(device.authority, device.files) as connection:
            while True:
                with lock:
                    if not waiting:
                        return
                    index, code = waiting.pop()
                answer = connection.post(
                    f"{urls[index % len(urls)]}/phone-verifications/{verification}/check", json={"code": code},
                    headers={"Authorization": f'Layer session-token="{token}"'}, timeout=60)
                with lock:
                    statuses[answer.status_code] += 1

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


def guesses(chosen, second):
    """Of 200 wrong guesses on two processes five are compared; the right one verifies, and again gives its answer."""
    path, clients, ops = Path(chosen.directory) / "texts.jsonl", [chosen.client, second.client], [chosen.ops, second.ops]
    device, token = session(chosen)
    started = begin(device, token, "+14155552671").json()["id"]
    [code] = wait_for_texts(path, "+14155552671")
    before = counted(ops, "wrong"), counted(ops, "not_compared")
    statuses = at_once(device, token, started, [wrong(code)] * GUESSES, clients)
    compared, refused = counted(ops, "wrong") - before[0], counted(ops, "not_compared") - before[1]
    print(f"{GUESSES} wrong guesses: {compared} compared, {refused} not; statuses {dict(statuses)}")
    assert statuses == {422: GUESSES} and compared == 5 and refused == GUESSES - 5
    assert check(device, token, started, code).status_code == 422, "the right code after five wrong ones"
    times(device, token, started)

    started = begin(device, token, "+14155552672").json()["id"]
    [code] = wait_for_texts(path, "+14155552672")
    statuses = at_once(device, token, started, [code] * 40, clients)
    print(f"40 right guesses: {dict(statuses)}")
    # The answer is repeated as often as codes are compared, however many come at once.
    assert set(statuses) == {200, 422} and 1 <= statuses[200] <= 10


def times(device, token, used_up):
    """Shows what a failed check costs, whatever the reason; for the eye, since a busy machine measures noise."""
    fresh = begin(device, token, "+14155552679").json()["id"]
    for name, verification in (("used up", used_up), ("unknown", str(uuid.uuid4())), ("wrong", fresh)):
        taken = []
        for _ in range(5 if name == "wrong" else 50):
            started = time.perf_counter()
            check(device, token, verification, "000000")
            taken.append((time.perf_counter() - started) * 1000)
        print(f"a failed check, {name}: median {statistics.median(taken):.2f} ms")


def crash(chosen):
    """A kill amid 1,000 texts: every acknowledged number gets its text, fewer than 1 % get two."""
    path = Path(chosen.directory) / "texts.jsonl"
    state = {"service": Service(chosen)}
    device, token = session(chosen)
    numbers = [f"+1415{2000000 + index * 7:07d}" for index in range(SENDS)]
    waiting, acknowledged, lock = list(numbers), set(), threading.Lock()

    def work():
        connection = https(device.authority, device.files)
        while True:
            with lock:
                if not waiting:
                    return
                number, service = waiting.pop(), state["service"]
            try:
                answer = connection.post(
                    service.client + "/phone-verifications", json={"phone_number": number},
                    headers={"Authorization": f'Layer session-token="{token}"'}, timeout=60)
                assert answer.status_code == 202, answer.text
                with lock:
                    acknowledged.add(number)
            except requests.RequestException:
                with lock:
                    waiting.append(number)
                connection.close()
                connection = https(device.authority, device.files)
                time.sleep(0.1)

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < SENDS // 2 and any(thread.is_alive() for thread in threads):
        time.sleep(0.001)
    state["service"].kill()
    state["service"] = Service(chosen)
    for thread in threads:
        thread.join()
    # The outbox is asked by a process, when all may have been sent.
    soon(lambda: len(sent(path)) >= SENDS and not waits(chosen), lambda: f"{len(sent(path))} of {SENDS} were sent")
    state["service"].stop()
    sent_to = sent(path)
    lost = sum(number not in sent_to for number in numbers)
    again = sum(sent_to.values()) - len(sent_to)
    print(f"{len(acknowledged)} acknowledged, killed amid them: {lost} lost, {again} sent twice")
    assert len(acknowledged) == SENDS and lost == 0 and again < SENDS / 100


def sent(path):
    """How many texts went to each number."""
    return Counter(json.loads(line)["to"] for line in whole_lines(path))


def waits(chosen):
    """How many messages wait in the outbox, as an operator sees it."""
    directory = Path(chosen.directory)
    answer = subprocess.run(
        [
            chosen.countersign, "outbox", "list", "--state", "waiting", "--json", "--keys", directory / "Keys",
            "--policies", directory / "Policies", "--store", f"sqlite:{directory}/store.db",
        ],
        capture_output=True, check=True, timeout=60)
    return len(json.loads(answer.stdout))


def main():
    """Runs one of the two."""
    parser = options.parser(__doc__)
    parser.add_argument("what", choices=["guesses", "crash"])
    parser.add_argument("--countersign", required=True)
    parser.add_argument("--directory", required=True)
    chosen = parser.parse_args()
    if chosen.what == "crash":
        return crash(chosen)
    second = Service(chosen)
    try:
        guesses(chosen, second)
    finally:
        second.stop()


if __name__ == "__main__":
    main()
