"""Several nodes on one store, how they are asked, and how soon all of them agree."""

import json
import subprocess
import threading
import time
import uuid
from pathlib import Path

from Shared import options
from Shared.checks import PATIENCE, accepted, equal, expect, soon
from Shared.client import Device
from Shared.phones import code_of, texts

# Own writes are seen at once; those of other nodes within this many seconds.
BOUND = 1.0
# What one answer of a debug build on a busy machine may take besides.
ONE_ANSWER = 0.5


class Node:
    """One of the processes."""

    def __init__(self, public, client, ops, texts):
        self.public, self.client, self.ops, self.texts = public, client, ops, Path(texts)


class World:
    """The nodes, the provider, and the command line."""

    def __init__(self, chosen):
        first = Node(chosen.public, chosen.client, chosen.ops, Path(chosen.directory, "texts.jsonl"))
        self.chosen = chosen
        self.nodes = [first] + [Node(*node) for node in chosen.node]
        self.provider = options.provider(chosen)

    def admin(self, *arguments):
        """The JSON that a command of another process prints."""
        directory = self.chosen.directory
        done = subprocess.run(
            [
                self.chosen.countersign, *arguments, "--json", "--keys", f"{directory}/Keys", "--policies",
                f"{directory}/Policies", "--store", self.chosen.store,
            ],
            capture_output=True, timeout=PATIENCE)
        expect(done.returncode == 0, f"{arguments[:2]} ended with {done.returncode}: {done.stderr.decode()}")
        return json.loads(done.stdout)

    def device(self):
        """A new device, as it speaks to each node: one key and certificate, connections of their own."""
        device = Device(self.nodes[0].public, self.nodes[0].client, self.chosen.ca, "EC")
        accepted(device.certify(), 201)
        return [device] + [device.at(node.public, node.client) for node in self.nodes[1:]]

    def log_in(self, device, user=None, provider=None):
        """A session of a user, a new one unless it is named."""
        token = (provider or self.provider).identity_token(user or f"user-{uuid.uuid4()}", device.nonce())
        return accepted(device.create_session(token), 201)

    def codes(self, number, count=1):
        """The codes that went to a number, whichever node sent them."""
        def found():
            return [line for node in self.nodes for line in texts(node.texts, number)]

        soon(lambda: len(found()) >= count, lambda: f"only {found()} came to {number}")
        equal(len(found()), count, f"the number of texts to {number}")
        return [code_of(line) for line in found()]


def on_all(what, questions):
    """Asks every node until each has said yes; fails where one takes longer than the bound and one answer."""
    started, waiting, slowest = time.monotonic(), dict(enumerate(questions)), 0.0
    while waiting:
        for index, happened in list(waiting.items()):
            if happened():
                slowest = time.monotonic() - started
                del waiting[index]
        expect(
            not waiting or time.monotonic() - started < BOUND + ONE_ANSWER,
            f"{what} was not in force after {BOUND} s on nodes {sorted(waiting)}")
        time.sleep(0.01)
    print(f"passed  {what}: in force on {len(questions)} nodes after {slowest:.2f} s", flush=True)


def says(devices, token, status, code):
    """For each node a question: whether it refuses the session so."""

    def ask(device):
        answer = device.current(token)
        return answer.status_code == status and answer.json()["code"] == code

    return [lambda device=device: ask(device) for device in devices]


def is_shut_out(device, token):
    """Whether a node has nothing more to do with a certificate: it refuses, or lets no connection come about."""
    try:
        return device.current(token).status_code == 403
    except OSError:
        return True


def parallel(calls):
    """Makes calls at once; their results, in no order."""
    results, lock = [], threading.Lock()

    def work(call):
        result = call()
        with lock:
            results.append(result)

    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(len(results), len(calls), "the number of answers")
    return results
