"""What ends between two users, and how soon: each act is done on one node and judged on all of them.

    python3 endings.py --countersign FILE --policies DIRECTORY

Two users have two devices each, with two apps. The acts are a ban, a ban of messaging, a block, a cancellation, a
forbidden app and a log-out. After each of them messages, presence and calls are refused on every node, calls that wait
are ended, and no push is sent. The time until then is printed and not judged.
"""

import argparse
import threading
import time
import uuid
from types import SimpleNamespace

import requests

from Messaging.herald_client import BANNED, NOT_AUTHENTICATED, OK, PUSH, Herald
from Devices.people import Cluster, User, message, opened, permit, rang
from Shared.checks import PATIENCE, accepted, equal, expect, soon

NODES = 3

# What a device is told after its session has ended, and what one is told whose user may not write to the other any more.
REQUESTS = ("append", "read", "answer", "call", "presence", "sync")
ENDED = dict.fromkeys(REQUESTS, "401 session_destroyed")
APART = {
    "append": "409 conflict closed", "read": "409 conflict closed", "answer": "409 conflict closed",
    "call": "409 conflict unauthorized", "presence": "offline", "sync": "200",
}
SILENCED = APART | {"append": "403 user_banned", "answer": "403 user_banned", "call": "403 user_banned"}


class Pair:
    """Two users who may write to each other."""

    def __init__(self, cluster, apps):
        self.cluster, self.apps = cluster, apps
        devices = {"phone": (apps[0], {"push_endpoint": "APNS"}), "tablet": (apps[1], {"push_endpoint": "GCM"})}
        self.alice, self.bob = (User(cluster, name, devices) for name in ("alice", "bob"))
        self.devices = [*self.alice.devices.values(), *self.bob.devices.values()]
        self.permission = permit(self.alice["phone"], self.bob["phone"])
        self.path = opened(self.alice["phone"], "direct", self.bob)
        self.call, self.waiting, self.done = None, {}, None

    def other(self, device):
        """The user on the other side of a device."""
        return self.bob if device.user is self.alice else self.alice

    def outcome(self, device, node, request):
        """What a device is told on a node."""
        other = self.other(device)
        method, path, body = {
            "append": ("POST", f"{self.path}/events", message("late")),
            "read": ("GET", f"{self.path}/events", None),
            "answer": ("POST", f"{self.call}/events", message("answer")),
            "call": ("POST", "/streams", {"id": str(uuid.uuid4()), "kind": "call", "members": [other.user_id]}),
            "presence": ("GET", f"/presence?users={other.user_id}", None),
            "sync": ("GET", "/sync?anchor=latest", None),
        }[request]
        try:
            answer = device.call(node, method, path, json=body)
        except requests.RequestException:
            return "the connection was closed"
        told = answer.json()
        if answer.status_code >= 400:
            return " ".join(filter(None, (str(answer.status_code), told["code"], told.get("state"))))
        if request == "presence":
            return "online" if told["presence"][0]["online"] else "offline"
        return str(answer.status_code)

    def begin(self):
        """Everything is permitted on every node. Then a push is due soon each way, a call rings, and all devices wait."""
        for device in self.devices:
            for node in range(NODES):
                equal([self.outcome(device, node, request) for request in ("append", "read")], ["201", "200"], "before")
        for device in (self.alice["phone"], self.bob["phone"]):
            last = accepted(device.call(0, "GET", self.path))["last_sequence"]
            accepted(device.call(0, "POST", f"{self.path}/receipts", json={"read_through": last}))
        for device in (self.alice["phone"], self.bob["phone"]):
            equal(self.outcome(device, 0, "append"), "201", "the message whose push is due in ten seconds")
        self.call = rang(self.bob["phone"], self.alice, 1)
        for endpoint in self.alice.endpoints:
            self.cluster.carrier.awaited(endpoint, "CALL", self.call.split("/")[2])
        self.waiting = {device: Waiting(self.cluster, device) for device in self.devices}
        for device in self.devices:
            for node in range(NODES):
                soon(lambda: self.outcome(device, node, "presence") == "online", "each is online to the other")

    def after(self, act, wanted):
        """Does an act, and waits until each node tells each device what is wanted, and stays with it."""
        self.begin()
        act(self)
        self.done = time.monotonic()
        slowest, failures = {}, []

        def ask(device, node):
            for request, answer in wanted[device].items():
                while (told := self.outcome(device, node, request)) != answer:
                    if time.monotonic() - self.done > PATIENCE:
                        return failures.append(f"{request} on node {node}: {told!r}, not {answer!r}")
                taken = time.monotonic() - self.done
                slowest[request] = max(slowest.get(request, 0), taken)
            return None

        askers = [threading.Thread(target=ask, args=(device, node)) for device in wanted for node in range(NODES)]
        for one in askers:
            one.start()
        for one in askers:
            one.join()
        equal(failures, [], f"what was not refused after {act.__name__}")
        # What comes now, if anything may come, is not for a call that waits since before.
        sent = self.bob["phone"].call(2, "POST", f"{self.path}/events", json=message("not for those who have gone"))
        number = sent.json()["sequence"] if sent.status_code == 201 else None
        for device, answers in wanted.items():
            for node in range(NODES):
                for request, answer in answers.items():
                    equal(self.outcome(device, node, request), answer, f"{request} after {act.__name__}, later")
            if answers is ENDED:
                slowest["waiting"] = max(slowest.get("waiting", 0), self.waiting[device].end(number) - self.done)
        figures = ", ".join(f"{name} {max(taken, 0):.2f} s" for name, taken in slowest.items())
        print(f"passed  {act.__name__}: {figures}", flush=True)

    def goes_on(self, *devices):
        """Devices that the act is not about are served on every node."""
        for device in devices:
            for node in range(NODES):
                equal([self.outcome(device, node, request) for request in ("append", "read", "presence", "sync")],
                      ["201", "200", "online", "200"], "another device's answers")

    def pushed(self, device):
        """The kinds of pushes to a device since the act."""
        found = self.cluster.carrier.published(device.endpoints["push_endpoint"], since=self.done)
        return sorted({one.data.get("type", "MESSAGE") for one in found})


class Waiting:
    """A synchronization that waits on the third node, and a push channel of Herald on the second."""

    def __init__(self, cluster, device):
        where = SimpleNamespace(client=cluster.nodes[1].client, ca=cluster.installation.authority)
        self.herald = Herald(where, device.at[1])
        equal((self.herald.auth(device.token), self.herald.add(1, PUSH)), (OK, OK), "the push channel")
        self.ended, self.status, self.seen = None, None, 0
        self.thread = threading.Thread(target=self.wait, args=(device,), daemon=True)
        self.thread.start()

    def wait(self, device):
        """Waits for a change, again and again until it is refused."""
        try:
            anchor = accepted(device.call(2, "GET", "/sync?anchor=latest"))["anchor"]
            while (answer := device.call(2, "GET", f"/sync?anchor={anchor}&wait=5")).status_code == 200:
                anchor = answer.json()["anchor"]
                rows = [one["stream"] for one in answer.json()["operations"] if one["stream"]]
                self.seen = max([self.seen, *(row["last_sequence"] for row in rows)])
            self.status = answer.status_code
        except requests.RequestException:
            pass  # the connection was closed
        self.ended = time.monotonic()

    def end(self, number):
        """Waits until both have ended, without a word of a message with that number; when the synchronization did."""
        expect(self.herald.ended() in ([], [NOT_AUTHENTICATED], [BANNED]), "what Herald's connection was told")
        self.thread.join(PATIENCE)
        expect(self.ended and self.status in (None, 401), f"the call that waited had the status {self.status}")
        expect(number is None or self.seen < number, "the call that waited had an answer after the act")
        return self.ended


def ban(pair):
    """An operator bans one of them, by a process of its own."""
    pair.cluster.installation.admin("ban", "add", "--user", pair.alice.address, "--reason", "spam", "--yes")


def messaging_ban(pair):
    """An operator bans one of them from messaging alone."""
    pair.cluster.installation.admin(
        "ban", "add", "--user", pair.alice.address, "--reason", "spam", "--scope", "messaging", "--yes")


def block(pair):
    """One blocks the other."""
    accepted(pair.alice["phone"].call(0, "PUT", f"/blocks/{pair.bob.user_id}"), 204)


def cancellation(pair):
    """One takes the permission back."""
    accepted(pair.alice["phone"].call(0, "POST", f"/authorizations/{pair.permission}/cancellation"))


def forbidden_app(pair):
    """One forbids the app that the tablet has."""
    accepted(pair.alice["phone"].call(0, "DELETE", f"/me/apps/{pair.apps[1]}"), 204)


def log_out(pair):
    """The tablet's session ends."""
    accepted(pair.alice["tablet"].call(0, "DELETE", "/sessions/current"), 204)


def part(cluster, apps, act, told):
    """An act that ends all between two users; `told` is for the first of them."""
    pair = Pair(cluster, apps)
    wanted = dict.fromkeys(pair.alice.devices.values(), told) | dict.fromkeys(pair.bob.devices.values(), APART)
    pair.after(act, wanted)
    return pair


def leave(cluster, apps, act):
    """An act that ends one device's session: the calls of the other user make only the other device ring."""
    pair = Pair(cluster, apps)
    phone, tablet = pair.alice.devices.values()
    pair.after(act, {tablet: ENDED})
    pair.goes_on(phone, *pair.bob.devices.values())
    last = accepted(phone.call(1, "GET", pair.path))["last_sequence"]
    accepted(phone.call(1, "POST", f"{pair.path}/receipts", json={"read_through": last}))
    equal(pair.outcome(pair.bob["phone"], 1, "append"), "201", "a message whose push is due in ten seconds")
    accepted(pair.bob["phone"].call(2, "DELETE", pair.call), 204)
    cluster.carrier.awaited(phone.endpoints["push_endpoint"], "CALL_END", pair.call.split("/")[2])
    again = rang(pair.bob["phone"], pair.alice, 2)
    cluster.carrier.awaited(phone.endpoints["push_endpoint"], "CALL", again.split("/")[2])
    return pair


def main():
    """Each act, and then all pushes."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("countersign", "policies"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    with Cluster(chosen.countersign, chosen.policies, NODES) as cluster:
        apps = [cluster.provider.app_id, cluster.app("Second")]
        parted = [part(cluster, apps, act, told) for act, told in (
            (cancellation, APART), (block, APART), (messaging_ban, SILENCED), (ban, ENDED))]
        left = [leave(cluster, apps, act) for act in (forbidden_app, log_out)]
        # A push that is due later than all of theirs, between two users who may write to each other.
        others = Pair(cluster, apps)
        others.done = time.monotonic()
        equal(others.outcome(others.alice["phone"], 0, "append"), "201", "another pair's message")
        for device in others.bob.devices.values():
            soon(lambda: others.pushed(device), "another pair's push")
        time.sleep(1)
        for pair in parted:
            equal([pair.pushed(device) for device in pair.devices], [[]] * 4, "the pushes between two who are parted")
        for pair in left:
            phone, tablet = pair.alice.devices.values()
            # Another node may send it, in a round of its own.
            soon(lambda: "MESSAGE" in pair.pushed(phone), "the push of the message to the device that stays")
            equal(pair.pushed(phone), ["CALL", "CALL_END", "MESSAGE"], "the pushes to the device that stays")
            equal(pair.pushed(tablet), [], "the pushes to the device whose session has ended")
        cluster.installation.stop()
    print("parted on every node")


if __name__ == "__main__":
    main()
