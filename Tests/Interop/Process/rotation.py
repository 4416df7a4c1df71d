"""Rotates the wrapping key under a running service while clients read and new users come.

    python3 rotation.py … --countersign FILE --directory DIRECTORY --pid PID

`--directory` holds `Keys`, `Policies`, `store.db` and `texts.jsonl`.
"""

import json
import os
import random
import signal
import subprocess
import threading
import time
import uuid
from pathlib import Path

from Shared import options
from Shared.checks import accepted, equal, expect, soon
from Shared.client import Device
from Shared.phones import begin, check, new_number, wait_for_texts

USERS = 6
KILLS = 12
PAUSE = 0.02  # seconds between two reads of a client


def admin(chosen, *arguments):
    """Starts an admin command as a process of its own."""
    return subprocess.Popen(
        [
            chosen.countersign, *arguments, "--keys", f"{chosen.directory}/Keys", "--policies",
            f"{chosen.directory}/Policies", "--store", f"sqlite:{chosen.directory}/store.db",
        ],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def done(chosen, *arguments):
    """Runs an admin command to its end; its JSON answer."""
    process = admin(chosen, *arguments, "--json")
    output, errors = process.communicate(timeout=60)
    equal(process.returncode, 0, f"the exit code of {' '.join(arguments)}: {errors}")
    return json.loads(output)


class Person:
    """A user with a proven number on a device."""

    def __init__(self, chosen, provider):
        self.device = Device(chosen.public, chosen.client, chosen.ca, "EC")
        accepted(self.device.certify(), 201)
        self.external_id, self.number = f"user-{uuid.uuid4()}", new_number()
        token = provider.identity_token(
            self.external_id, self.device.nonce(), display_name=f"Person {self.number[-4:]}")
        opened = accepted(self.device.create_session(token), 201)
        self.user_id, self.token = opened["user_id"], opened["session_token"]

    def prove(self, texts):
        """Proves the number."""
        started = accepted(begin(self.device, self.token, self.number), 202)["id"]
        [code] = wait_for_texts(texts, self.number)
        accepted(check(self.device, self.token, started, code))

    def read(self):
        """Reads the own row, which holds the number."""
        own = accepted(self.device.call("GET", "/me", self.token))
        equal(own["phone_number"], self.number, "the own number")


class Traffic:
    """Clients that read, and new users that come, until they are stopped; the first failure is kept."""

    def __init__(self, chosen, provider, people, texts):
        self.stopped, self.failures, self.reads, self.newcomers = threading.Event(), [], 0, []
        half = len(people) // 2
        self.threads = [
            threading.Thread(target=self.guard, args=(self.read, people[:half])),
            threading.Thread(target=self.guard, args=(self.read, people[half:])),
            threading.Thread(target=self.guard, args=(self.come, chosen, provider, texts)),
        ]
        for thread in self.threads:
            thread.start()

    def guard(self, work, *arguments):
        """Runs work again and again."""
        try:
            while not self.stopped.is_set():
                work(*arguments)
        except Exception as failure:  # the thread's end must not hide it
            self.failures.append(failure)

    def read(self, people):
        """Everyone reads the own row."""
        for person in people:
            person.read()
            self.reads += 1
            time.sleep(PAUSE)

    def come(self, chosen, provider, texts):
        """A new user: a new data key."""
        person = Person(chosen, provider)
        person.prove(texts)
        person.read()
        self.newcomers.append(person)
        time.sleep(10 * PAUSE)

    def stop(self):
        """Stops, and fails where anything failed."""
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        if self.failures:
            raise self.failures[0]


def stage(chosen, provider, people):
    """A staged version is not in force; a service that is told to read its keys again uses it for new users."""
    staged = done(chosen, "keys", "rotate", "--stage")
    equal((staged["version"], staged["added"], staged["rewrapped"]), (2, True, 0), "the staged version")
    os.kill(chosen.pid, signal.SIGHUP)
    soon(lambda: "the keys were reloaded" in Path(chosen.directory, "log").read_text(),
         "the service does not read its keys again")
    Person(chosen, provider)
    report = done(chosen, "keys", "rotate")
    equal((report["version"], report["added"]), (2, False), "the version put in force")
    equal(report["rewrapped"], len(people), "the data keys wrapped anew, without the newest user's")


def main():
    """Stages, rotates, is killed, rotates again, prunes."""
    parser = options.parser(__doc__)
    for name in ("countersign", "directory"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--pid", required=True, type=int)
    chosen = parser.parse_args()
    provider, texts = options.provider(chosen), Path(chosen.directory) / "texts.jsonl"
    people = [Person(chosen, provider) for _ in range(USERS)]
    for person in people:
        person.prove(texts)
    stage(chosen, provider, people)
    traffic = Traffic(chosen, provider, people, texts)
    for version in (3, 4, 5):
        report = done(chosen, "keys", "rotate")
        equal((report["version"], report["added"], report["unreadable"]), (version, True, 0), "the rotation")
        expect(report["rewrapped"] >= USERS, f"only {report['rewrapped']} data keys were wrapped anew")
        equal(report["kept"], list(range(1, version + 1)), "the versions kept")
    random.seed(4)
    ended = 0
    for _ in range(KILLS):
        process = admin(chosen, "keys", "rotate", "--json")
        time.sleep(random.uniform(0.02, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        ended += process.returncode == 0
        for person in people:
            person.read()
    finished = done(chosen, "keys", "rotate")
    report = done(chosen, "keys", "rotate", "--prune")
    equal((report["version"], report["added"]), (finished["version"], False), "the version after pruning")
    equal(report["kept"], [finished["version"]], "the versions kept after pruning")
    equal(done(chosen, "keys", "rotate", "--prune")["removed"], [], "what a second pruning removes")
    before = len(traffic.newcomers)
    soon(lambda: len(traffic.newcomers) >= before + 2 or traffic.failures, "no user came after the pruning")
    traffic.stop()
    expect(len(traffic.newcomers) >= before + 2, "no user came after the pruning")
    print(
        f"{traffic.reads} reads and {len(traffic.newcomers)} new users beside the rotations, none failed; "
        f"{KILLS - ended} of {KILLS} kills hit; version {finished['version']}")
    # A process that reads the keys from the file alone opens everyone.
    for person in people + traffic.newcomers:
        equal(done(chosen, "user", "export", person.user_id, "--reason", "check")["phone_number"], person.number, "it")
    left = [path.name for path in Path(chosen.directory, "Keys").iterdir() if path.name.endswith(".new")]
    equal(left, [], "what the killed commands left")


if __name__ == "__main__":
    main()
