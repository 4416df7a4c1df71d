"""Three devices of a user and one of a partner use every call of messages while their two nodes are killed by `kill -9`.

    python3 kills.py --countersign FILE --policies DIRECTORY --kills 6 --seed 1

Then every device has the same streams as a device that comes new, and all that was acknowledged is there, once.
"""

import argparse
import random
import threading
import time
import uuid
from collections import defaultdict

from Devices.people import Cluster, User, message, permit
from Devices.replica import Replica, insist
from Shared.checks import accepted, equal, expect


class Record:
    """What was acknowledged. Each name in metadata has one writer, so its last value is known."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sent = {}  # the number, by stream and message
        self.order = defaultdict(list)  # the messages of a device in a stream
        self.deleted, self.unsure = set(), set()
        self.hidden = defaultdict(set)  # by user
        self.values = {}  # by place and name
        self.receipts = defaultdict(int)  # by stream, user and kind
        self.counts = defaultdict(int)


class Writer:
    """A device that does something, again and again, and reads what the others did."""

    def __init__(self, label, device, streams, record, seed, partner):
        self.label, self.device, self.streams, self.record, self.partner = label, device, streams, record, partner
        self.random, self.replica = random.Random(f"{seed} {label}"), Replica(device)
        self.failure, self.number = None, 0
        self.steps = [
            self.append, self.append, self.reply, self.receive, self.share, self.keep, self.tag, self.mark, self.hide,
            self.delete, self.invite, self.remove, self.type]

    def run(self, stopping):
        """Until it is stopped."""
        try:
            while not stopping.is_set():
                step = self.random.choice(self.steps)
                step(f"{self.random.choice(self.streams)}")
                self.record.counts[step.__name__] += 1
                if self.random.random() < 0.3:
                    self.replica.synchronize()
                time.sleep(0.01)
        except BaseException as error:  # pylint: disable=broad-except
            self.failure = error

    def ask(self, method, path, *statuses, **arguments):
        """A request that is answered by one of these statuses; its body, the status, and whether one was lost before."""
        answer, lost = insist(self.device, method, path, self.random.randrange(2), **arguments)
        expect(answer.status_code in statuses, f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return (answer.json() if answer.text else None), answer.status_code, lost

    def pick(self, stream, own=False):
        """A message that the device has."""
        found = [
            one for one in self.replica.messages.get(stream, {}).values()
            if not one["deleted"] and (not own or one["sender"] == self.device.user.user_id)]
        return self.random.choice(found) if found else None

    def append(self, stream, **members):
        """A message."""
        self.number += 1
        made = message(f"{self.label} {self.number}") | members
        body, _, _ = self.ask("POST", f"/streams/{stream}/events", 201, json=made)
        with self.record.lock:
            self.record.sent[stream, made["id"]] = body["sequence"]
            self.record.order[stream, self.label].append(body["sequence"])

    def reply(self, stream):
        """A message to another."""
        if chosen := self.pick(stream):
            self.append(stream, in_reply_to=chosen["id"])

    def receive(self, stream):
        """Receipts, of one or both kinds."""
        last = max(self.replica.messages.get(stream, {}), default=0)
        kind = self.random.choice(("delivered_through", "read_through"))
        body, _, _ = self.ask(
            "POST", f"/streams/{stream}/receipts", 200, json={kind: self.random.randint(0, last)})
        with self.record.lock:
            for name, number in body.items():
                place = stream, self.device.user.user_id, name
                self.record.receipts[place] = max(self.record.receipts[place], number)

    def merge(self, path, place, *statuses):
        """Sets or removes the device's own name in metadata."""
        value = self.random.choice([None, self.random.randrange(1000), {"deep": [self.random.randrange(9)]}])
        _, status, _ = self.ask("PATCH", path, *statuses, json={"merge": {self.label: value}})
        if status == 200:
            self.record.values[place, self.label] = value

    def share(self, stream):
        """The stream's metadata that all see."""
        self.merge(f"/streams/{stream}/metadata", (stream, None, None), 200)

    def keep(self, stream):
        """The stream's metadata that the user sees."""
        self.merge(f"/streams/{stream}/metadata/private", (stream, None, self.device.user.user_id), 200)

    def tag(self, stream):
        """A message's metadata that all see."""
        if chosen := self.pick(stream):
            self.merge(f"/streams/{stream}/events/{chosen['id']}/metadata", (stream, chosen["id"], None), 200, 404)

    def mark(self, stream):
        """A message's metadata that the user sees."""
        if chosen := self.pick(stream):
            self.merge(f"/streams/{stream}/events/{chosen['id']}/metadata/private",
                       (stream, chosen["id"], self.device.user.user_id), 200, 404)

    def hide(self, stream):
        """Deletes a message for the user."""
        if (chosen := self.pick(stream)) and self.random.random() < 0.5:
            _, status, lost = self.ask("DELETE", f"/streams/{stream}/events/{chosen['id']}/copy", 204, 404)
            self.note(status, lost, self.record.hidden[self.device.user.user_id], chosen["id"])

    def delete(self, stream):
        """Deletes a message for all."""
        if (chosen := self.pick(stream, own=True)) and self.random.random() < 0.5:
            _, status, lost = self.ask("DELETE", f"/streams/{stream}/events/{chosen['id']}", 204, 404)
            self.note(status, lost, self.record.deleted, chosen["id"])

    def note(self, status, lost, known, event):
        """Keeps what was deleted. Nothing is known of a repetition that finds the message deleted otherwise."""
        with self.record.lock:
            if status == 204:
                known.add(event)
            elif lost:
                self.record.unsure.add(event)

    def invite(self, stream):
        """Adds another user to the conversation."""
        self.ask("PUT", f"/streams/{stream}/members/{self.partner.user_id}", 204)

    def remove(self, stream):
        """Removes the other user."""
        self.ask("DELETE", f"/streams/{stream}/members/{self.partner.user_id}", 204, 404)

    def type(self, stream):
        """Says that the user is writing."""
        self.ask("POST", f"/streams/{stream}/typing", 204)


def judge(record, fresh, user):
    """All that was acknowledged is in what a new device of a user reads, and nothing is there twice."""
    for stream, messages in fresh.messages.items():
        found = [messages[number] for number in sorted(messages)]
        equal([one["sequence"] for one in found], list(range(1, len(found) + 1)), "the numbers")
        equal(len({one["id"] for one in found}), len(found), "the number of different messages")
        sent = {event: number for (place, event), number in record.sent.items() if place == stream}
        equal({one["id"]: one["sequence"] for one in found}, sent, "the messages")
        gone = record.deleted | record.hidden[user.user_id]
        for one in found:
            expect(one["deleted"] == (one["id"] in gone) or one["id"] in record.unsure, f"deleted, or not: {one}")
        members = {one["user_id"]: one for one in fresh.rows[stream]["members"]}
        for (place, member, kind), number in record.receipts.items():
            if place == stream:
                expect(members[member][kind] >= number, f"{kind} of {member} fell below {number}")
        known = {one["id"]: one for one in found}
        for ((place, event, owner), name), value in record.values.items():
            if place != stream or owner not in (None, user.user_id):
                continue
            holder = known[event] if event else fresh.rows[stream]
            if not holder.get("deleted"):
                kind = "private_metadata" if owner else "metadata"
                equal(holder.get(kind, {}).get(name), value, f"the {kind} {name} of {event or stream}")
    for numbers in record.order.values():
        equal(numbers, sorted(numbers), "the order of a device's messages")


def settle(writers):
    """Synchronizes until nobody learns anything."""
    for _ in range(20):
        if not sum(one.replica.synchronize() for one in writers):
            return
    expect(False, "there is something new without end")


def main():
    """Writes, kills, and compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("countersign", "policies"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}", flush=True)
    chance, record = random.Random(chosen.seed), Record()
    with Cluster(chosen.countersign, chosen.policies, 2) as cluster:
        app = cluster.provider.app_id
        alice = User(cluster, "alice", {label: (app, {}) for label in ("phone", "tablet", "watch")})
        bob, carol = (User(cluster, name, {"phone": (app, {})}) for name in ("bob", "carol"))
        for one, other in ((alice, bob), (alice, carol), (bob, carol)):
            permit(one["phone"], other["phone"])
        streams = [str(uuid.uuid4()) for _ in range(2)]
        for stream in streams:
            made = {"id": stream, "kind": "conversation", "members": [bob.user_id], "title": stream[:8]}
            accepted(alice["phone"].call(0, "POST", "/streams", json=made), 201)
        writers = [
            Writer(f"{user.name[:3]} {label}", device, streams, record, chosen.seed, carol)
            for user in (alice, bob) for label, device in user.devices.items()]
        stopping = threading.Event()
        threads = [threading.Thread(target=one.run, args=(stopping,)) for one in writers]
        for thread in threads:
            thread.start()
        for _ in range(chosen.kills):
            time.sleep(chance.uniform(0.1, 1))
            node = chance.choice(cluster.nodes)
            node.kill()
            time.sleep(chance.uniform(0, 0.5))
            node.start()
        time.sleep(1)
        stopping.set()
        for thread in threads:
            thread.join()
        for one in writers:
            if one.failure:
                raise one.failure
        print(f"{len(record.sent)} messages, {dict(sorted(record.counts.items()))}", flush=True)
        settle(writers)
        fresh = [Replica(user["phone"], first) for user in (alice, bob) for first in (0, 1)]
        for one in fresh:
            one.synchronize()
        for first, user in ((0, alice), (2, bob)):
            equal(fresh[first].state(), fresh[first + 1].state(), "what two nodes say")
            judge(record, fresh[first], user)
            for one in writers:
                if one.device.user is user:
                    expect(one.replica.state() == fresh[first].state(),
                           f"{one.label} differs: {difference(one.replica.state(), fresh[first].state())}")
        cluster.installation.stop()
    print(f"one state after {chosen.kills} kills")


def difference(one, other):
    """The first place at which two states differ."""
    for stream in one.keys() | other.keys():
        for part in ("row", "messages"):
            left, right = (side.get(stream, {}).get(part, ()) for side in (one, other))
            if left != right:
                return [pair for pair in zip(left, right) if pair[0] != pair[1]][:2] or (len(left), len(right))
    return None


if __name__ == "__main__":
    main()
