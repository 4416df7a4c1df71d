"""Two users with a permission who talk in a stream of messages: a part of `authorizations.py`."""

import threading
import time
import uuid

import requests

from Shared.checks import PATIENCE, accepted, equal, expect, refused

EFFECTIVE = 1.0  # seconds after which a ban must be in force
WAIT = 25  # seconds that a call which waits may take


def message(text, **members):
    """A message of one part."""
    return {"id": str(uuid.uuid4()), "parts": [{"type": "text/plain", "body": text}], **members}


class Waiting:
    """`GET /sync` that waits while something else is done."""

    def __init__(self, person, anchor):
        def wait():
            try:
                self.answer = person.call("GET", f"/sync?anchor={anchor}&wait={WAIT}")
            except requests.RequestException:
                pass  # the connection was closed
            self.ended = time.monotonic()

        self.answer, self.ended = None, None
        self.thread = threading.Thread(target=wait)
        self.thread.start()
        time.sleep(0.3)

    def end(self):
        """The answer; `None` if the connection was closed."""
        self.thread.join(PATIENCE)
        expect(self.ended is not None, "the call that waits had no end")
        return self.answer


def talk(judge, alice, bob):
    """A message, a reply as a thread, a receipt, and what the other side's devices learn of them; the stream's path."""
    stream = str(uuid.uuid4())
    path, events = f"/streams/{stream}", "/streams/{id}/events"
    opening = {"id": stream, "kind": "direct", "members": [bob.address], "title": "Two"}
    opened = [judge("/streams", alice.call("POST", "/streams", json=opening)) for _ in range(2)]
    equal(opened[0], opened[1], "the repeated opening")
    refused(bob.call("POST", "/streams", json=opening), 404, "not_found")

    anchor = judge("/sync", bob.call("GET", "/sync?anchor=0"))["anchor"]
    waiting = Waiting(bob, anchor)
    first = message("Hello, Bob")
    sent = [judge(events, alice.call("POST", f"{path}/events", json=first)) for _ in range(2)]
    equal((sent[0], sent[0]["sequence"]), (sent[1], 1), "the repeated message")
    learned = judge("/sync", waiting.end())
    [operation] = learned["operations"]
    equal((operation["operation"], operation["stream_id"], operation["stream"]["unread"]), ("NEW_MESSAGE", stream, 1),
          "what bob's device learns")

    reply = judge(events, bob.call("POST", f"{path}/events", json=message("Hello, Alice", in_reply_to=first["id"])))
    equal((reply["sequence"], reply["thread"]), (2, first["id"]), "the reply")
    receipts = judge("/streams/{id}/receipts", bob.call("POST", f"{path}/receipts", json={"read_through": 2}))
    equal(receipts, {"delivered_through": 2, "read_through": 2}, "the receipts")
    page = judge(events, alice.call("GET", f"{path}/events?after=0"))
    equal([(one["sequence"], one["sender"], one["parts"][0]["body"]) for one in page["events"]],
          [(1, alice.user_id, "Hello, Bob"), (2, bob.user_id, "Hello, Alice")], "the messages")
    addresses = {alice.user_id: alice.address, bob.user_id: bob.address}
    equal({one["user_id"]: one["address"] for one in page["profiles"]}, addresses, "the senders")
    row = judge("/streams/{id}", alice.call("GET", path))
    equal({one["user_id"]: one["read_through"] for one in row["members"]}, {alice.user_id: 1, bob.user_id: 2}, "read")
    equal({one["user_id"]: one["address"] for one in row["members"]}, addresses, "the members")

    # Nothing too large, too deep or too many; nobody else.
    for change in ({"set": nested(12)}, {"set": {f"k{number}": 1 for number in range(201)}}, {"merge": []}):
        refused(alice.call("PATCH", f"{path}/metadata", json=change), 400, "malformed_request")
    refused(alice.call("POST", f"{path}/events", json=message("x" * 70_000)), 413, "payload_too_large")
    for query in ("q=x", "kind=direct&kind=direct", "metadata.shared.colour=green"):
        refused(alice.call("GET", f"/streams?{query}"), 400, "malformed_request")
    # 64 KiB of content, which JSON escapes and base64url make longer.
    largest = [message("é" * 30_000), message("") | {"parts": [{"type": "image/png", "body_base64": "_" * 87_380 + "_w"}]}]
    for one in largest:
        judge(events, alice.call("POST", f"{path}/events", json=one))
    page = accepted(bob.call("GET", f"{path}/events?after=2"))
    equal([one["parts"] for one in page["events"]], [one["parts"] for one in largest], "the large messages")
    accepted(bob.call("POST", f"{path}/receipts", json={"read_through": 4}))
    equal([one["id"] for one in accepted(alice.call("GET", f"/streams?member={bob.user_id}"))["streams"]], [stream],
          "the streams with bob")
    judge("/streams/{id}/metadata", alice.call("PATCH", f"{path}/metadata", json={"merge": {"colour": "green"}}))
    tagged(judge, alice, bob, path, first["id"])
    export = accepted(alice.call("GET", "/me/export"))
    equal([one["id"] for one in export["messages"]], [one["id"] for one in (first, *largest)], "alice's export")
    equal([one["private_metadata"] for one in export["message_metadata"]], [{"later": True}], "her metadata of messages")
    return path


def tagged(judge, alice, bob, path, event):
    """A message with metadata of both kinds, which bob then deletes for himself alone."""
    route = "/streams/{id}/events/{event}"
    anchor = judge("/sync", alice.call("GET", "/sync?anchor=latest"))["anchor"]
    shared = judge(f"{route}/metadata", bob.call("PATCH", f"{path}/events/{event}/metadata", json={"merge": {"heart": 1}}))
    own = judge(f"{route}/metadata/private",
                alice.call("PATCH", f"{path}/events/{event}/metadata/private", json={"set": {"later": True}}))
    equal((shared, own), ({"metadata": {"heart": 1}}, {"private_metadata": {"later": True}}), "the metadata")
    [operation] = judge("/sync", alice.call("GET", f"/sync?anchor={anchor}"))["operations"]
    equal((operation["operation"], operation["event_id"], operation["event"]),
          ("UPDATE_TAGS", event, {"sequence": 1, **shared, **own}), "what alice's devices learn")
    refused(bob.call("PATCH", f"{path}/events/{event}/metadata", json={"set": {"x": "y" * 4096}}), 400, "malformed_request")
    equal(bob.call("DELETE", f"{path}/events/{event}/copy").status_code, 204, "the deletion for bob")
    refused(bob.call("PATCH", f"{path}/events/{event}/metadata", json={"set": {}}), 404, "not_found")
    for person, members in ((alice, {"deleted": False, **shared, **own}), (bob, {"deleted": True, "parts": None})):
        read = judge("/streams/{id}/events", person.call("GET", f"{path}/events?after=0&limit=1"))["events"][0]
        equal({name: read[name] for name in members}, members, "the message")


def nested(levels):
    """An object in an object in an object."""
    return {"a": nested(levels - 1)} if levels else {}


def closed(*people, path):
    """Neither of them reads or writes there any more."""
    for person in people:
        for answer in (person.call("GET", f"{path}/events"), person.call("POST", f"{path}/events", json=message("x"))):
            equal(refused(answer, 409, "conflict")["state"], "closed", "the state")


def banned(alice, bob, path, ban):
    """A ban closes the stream within the second, and whoever waits is answered."""
    accepted(alice.call("GET", f"{path}/events"))
    waiting = Waiting(bob, accepted(bob.call("GET", "/sync"))["anchor"])
    ban(bob.address)
    done = time.monotonic()
    while (answer := alice.call("POST", f"{path}/events", json=message("late"))).status_code == 201:
        expect(time.monotonic() - done < EFFECTIVE, "a banned user's stream takes messages")
    equal(refused(answer, 409, "conflict")["state"], "closed", "the state")
    answer = waiting.end()
    expect(answer is None or answer.status_code in (401, 403), "a banned user's call had an answer")
    expect(waiting.ended - done < WAIT / 2, "a banned user's call waited on")
