"""Load on several nodes at once: sessions are opened, looked at and ended, numbers proven and users banned.

Each request is recorded in a history.
"""

import random
import threading
import time
import uuid

from Shared import phones
from Shared.checks import PATIENCE, accepted, soon
from Shared.client import Device

WORKERS = 3
PAUSE = 0.02  # seconds between two acts of a worker


class Load:
    """Threads that ask until they are stopped."""

    def __init__(self, installation, history, seed=1):
        self.installation, self.history = installation, history
        self.stopping = threading.Event()
        self.random = random.Random(seed)
        self.live = []
        self.sessions = {}
        self.threads, self.devices = [], []
        self.failures = []
        self.nodes = list(installation.nodes)
        self.provider = installation.provider(self.nodes[0])

    def device(self):
        """A newly certified device, on connections to each node."""
        first = Device(self.nodes[0].public, self.nodes[0].client, self.installation.authority, "EC")
        accepted(first.certify(), 201)
        self.devices.append({node.name: first.at(node.public, node.client) for node in self.nodes})
        first.close()
        return self.devices[-1]

    def start(self, bans=True):
        """Begins; the devices are certified before it returns."""
        acts = [self.visit] * WORKERS + [self.prove] + [self.ban] * bans
        for number, act in enumerate(acts):
            chance = random.Random(self.random.random())
            self.threads.append(threading.Thread(target=self.repeat, args=(act, self.device(), chance, number)))
        for thread in self.threads:
            thread.start()
        return self

    def repeat(self, act, device, chance, number):
        """One worker."""
        try:
            while not self.stopping.is_set():
                act(device, chance)
                time.sleep(PAUSE)
        except Exception as failure:  # pylint: disable=broad-except
            # Told to the test by `stop`, since a thread's own end is silent.
            self.failures.append((act.__name__, number, repr(failure)))

    def stop(self):
        """Ends it, and fails if a worker had to give up."""
        self.stopping.set()
        for thread in self.threads:
            thread.join(timeout=PATIENCE)
        if self.failures:
            raise AssertionError(self.failures)

    def close(self):
        """Closes every device's connections."""
        for device in self.devices:
            for connections in device.values():
                connections.close()

    # What a worker does

    def open(self, device, chance, user=None):
        """A nonce of one node, spent on another; where the answer is lost, shown again."""
        user = user or f"user-{uuid.uuid4()}"
        issuing, spending = chance.choices(list(device), k=2)
        asked = self.history.ask("nonce", user, issuing, device[issuing].ask_nonce)
        if asked.outcome != "done":
            return None
        token = self.provider.identity_token(user, asked.body["nonce"])
        opened = self.history.ask("open", user, spending, lambda: device[spending].create_session(token))
        if opened.outcome != "done" or chance.random() < 0.1:
            other = chance.choice(list(device))
            again = self.history.ask("open", user, other, lambda: device[other].create_session(token))
            opened = again if again.outcome == "done" else opened
        if opened.outcome != "done":
            return None
        return user, opened.body["session_token"], opened.body

    def look(self, device, chance, user, token, node=None):
        """Whether a session lives."""
        node = node or chance.choice(list(device))
        return self.history.ask("look", user, node, lambda: device[node].current(token))

    def insist(self, device):
        """A session that is acknowledged, however often it takes: a busy machine may answer 503 at any time."""
        return soon(lambda: self.open(device, self.random), "no session could be opened")

    def look_until_answered(self, device, user, token, node):
        """A look that is judged."""
        def answered():
            look = self.look(device, self.random, user, token, node)
            return look if look.outcome in ("done", "refused") else None

        return soon(answered, f"{node} answers no look")

    def visit(self, device, chance):
        """Opens a session, looks at it and at others of the same device on any node, ends some."""
        known = self.sessions.setdefault(id(device), [])
        opened = self.open(device, chance)
        if opened:
            user, token, body = opened
            known.append((user, token))
            with self.history.lock:
                self.live.append((user, token, device, body))
            self.look(device, chance, user, token)
        for user, token in chance.sample(known, min(2, len(known))):
            self.look(device, chance, user, token)
        if known and chance.random() < 0.2:
            user, token = chance.choice(known)
            node = chance.choice(list(device))
            self.history.ask("end", user, node, lambda: device[node].end_session(token))
            self.look(device, chance, user, token)

    def prove(self, device, chance):
        """Shows wrong codes for a number, then the right one twice, on any node."""
        opened = self.open(device, chance)
        if not opened:
            return
        _, token, _ = opened
        number = phones.new_number()
        node = chance.choice(list(device))
        begun = self.history.ask("begin", number, node, lambda: phones.begin(device[node], token, number))
        if begun.outcome != "done":
            return
        code = self.code(number)
        codes = [phones.wrong(code or "000000")] * chance.randrange(5) + ([code, code] if code else [])
        for shown in codes:
            node = chance.choice(list(device))
            self.history.ask(
                "check", begun.body["id"], node,
                lambda node=node, shown=shown: phones.check(device[node], token, begun.body["id"], shown))

    def code(self, number):
        """The code that was texted, where it was within a while: a carrier's node may be cut off."""
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            if found := phones.texts(self.installation.texts, number):
                return phones.code_of(found[-1])
            time.sleep(0.05)
        return None

    def ban(self, device, chance):
        """Opens a session, bans its user by the command line, looks at it on any node and tries to sign in."""
        opened = self.open(device, chance)
        if not opened:
            return
        user, token, body = opened
        self.history.told("ban", user, "admin", lambda: self.installation.admin(
            "ban", "add", "--user", body["user_id"], "--reason", "test", "--yes"))
        for _ in range(3):
            self.look(device, chance, user, token)
            time.sleep(0.5)
