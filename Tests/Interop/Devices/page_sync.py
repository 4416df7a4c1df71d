"""What the page on streams says of lists, synchronization, typing, presence, calls, notifications and erasure: a part of
`page.py`, written without a look at the service."""

import json
import threading
import time
import urllib.parse

from Devices.page_streams import conflict, opens, page, sends, uuid4
from Devices.people import message
from Shared.checks import accepted, equal, expect, refused, soon

MEMBERS = {"operation", "stream_id", "event_id", "stream", "event", "notification"}


def latest(device):
    """The present anchor."""
    found = accepted(device.call(0, "GET", "/sync?anchor=latest"))
    equal(found["operations"], [], "the operations of the latest anchor")
    return found["anchor"]


def learned(device, anchor, wait=0, **more):
    """What a device learns after an anchor."""
    query = urllib.parse.urlencode({"anchor": anchor, "wait": wait, **more})
    found = accepted(device.call(0, "GET", f"/sync?{query}"))
    equal(set(found), {"anchor", "operations", "more", "typing", "presence", "wait"}, "the members of an answer")
    expect(all(set(one) == MEMBERS for one in found["operations"]), "the members of an operation")
    return found


def kinds_of(found):
    """The operations by their names."""
    return [one["operation"] for one in found["operations"]]


class Waits:
    """A synchronization that waits while something else is done."""

    def __init__(self, device, anchor, **more):
        self.thread = threading.Thread(target=lambda: setattr(self, "answer", learned(device, anchor, 20, **more)))
        self.began = time.monotonic()
        self.thread.start()
        time.sleep(0.3)

    def end(self):
        """The answer, which comes long before the end of the wait."""
        self.thread.join(60)
        expect(time.monotonic() - self.began < 15, "it waited to the end")
        return self.answer


def lists(world):
    """Lists are by the newest message, and by kind, member and declared metadata."""
    ann, bob = world.ann["phone"], world.bob["phone"]
    first, second = (opens(ann, "conversation", world.bob, metadata={"topic": "news", "size": 1}) for _ in range(2))
    sends(ann, first)
    found = lambda query: [f"/streams/{one['id']}" for one in accepted(ann.call(0, "GET", f"/streams?{query}"))["streams"]]
    equal(found("metadata.shared.topic=news"), [first, second], "the newest message first")
    sends(bob, second)
    equal(found("metadata.shared.topic=news"), [second, first], "the newest message first")
    for query in (f"member={world.bob.user_id}", f"member={urllib.parse.quote(world.bob.address, safe='')}",
                  "metadata.shared.size=1&metadata.shared.topic=news", "kind=conversation"):
        expect({first, second} <= set(found(query)), f"not found by {query}")
    expect(first not in found(f"member={world.cat.user_id}"), "found by another member")
    # A value is compared in the form of JSON; a string has no quotes there.
    for value, text, is_found in (("1", "1", True), (True, "true", True), ("true", "true", True), (1.5, "1.5", True),
                                  (None, "null", False), ([1], "[1]", False), ("A", "a", False)):
        accepted(ann.call(0, "PATCH", f"{first}/metadata/private", json={"set": {"topic": value}}))
        equal(first in found(f"metadata.private.topic={urllib.parse.quote(text)}"), is_found, f"{value!r} by {text}")
    wrong = ["metadata.shared.colour=x", "metadata.shared.topic=" + "x" * 257, "q=x", "kind=group",
             "kind=conversation&kind=direct", f"kind=forum&member={uuid4()}",
             "kind=forum&metadata.private.topic=x", "metadata.shared.topic=x&metadata.shared.topic=y"]
    for query in wrong:
        refused(ann.call(0, "GET", f"/streams?{query}"), 400, "malformed_request")
    forum = opens(ann, "forum", metadata={"topic": "rare"})
    equal(found("kind=forum&metadata.shared.topic=rare"), [forum], "a forum by its metadata")
    expect(forum not in found("metadata.shared.topic=rare"), "a forum is in the user's list")


def synchronization(world):
    """Each change is one operation with what it needs, and the last of a kind stands for all."""
    ann, bob, tablet = world.ann["phone"], world.bob["phone"], world.bob["tablet"]
    anchor = latest(tablet)
    waits = Waits(tablet, anchor)
    path = opens(ann, "conversation", world.bob, metadata={"a": 1})
    stream = path.rsplit("/", 1)[1]
    found = waits.end()
    equal({one["stream_id"] for one in found["operations"]}, {stream}, "the new stream")
    expect("NEW_MESSAGE" in kinds_of(found), "the stream is new")
    anchor = latest(tablet)
    for _ in range(3):
        sent = sends(ann, path)
    [new] = learned(tablet, anchor)["operations"]
    equal((new["operation"], new["event_id"], new["event"], new["stream"]["last_sequence"], "metadata" in new["stream"]),
          ("NEW_MESSAGE", None, None, 3, False), "one operation for three messages")
    anchor = latest(tablet)
    accepted(bob.call(0, "POST", f"{path}/receipts", json={"read_through": 2}))
    accepted(ann.call(0, "PATCH", f"{path}/metadata", json={"set": {"b": 2}}))
    accepted(bob.call(0, "PATCH", f"{path}/events/{sent['id']}/metadata/private", json={"set": {"c": 3}}))
    accepted(ann.call(0, "PUT", f"{path}/members/{world.cat.user_id}"), 204)
    equal(ann.call(0, "DELETE", f"{path}/events/{sent['id']}").status_code, 204, "the deletion")
    found = {(one["operation"], one["event_id"]): one for one in learned(tablet, anchor)["operations"]}
    equal(found["UPDATE_STATUS", None]["stream"]["unread"], 1, "the receipts")
    row = found["UPDATE_TAGS", None]["stream"]
    equal((row["metadata"], row.get("private_metadata", {})), ({"b": 2}, {}), "the metadata of the stream")
    equal(len(found["MEMBERS", None]["stream"]["members"]), 3, "the members")
    equal((found["DELETED", sent["id"]]["stream"], found["DELETED", sent["id"]]["event"]), (None, None), "the deletion")
    equal(ann.call(0, "DELETE", path).status_code, 204, "the deletion of the stream")
    found = learned(tablet, anchor)["operations"]
    equal({one["operation"] for one in found}, {"DELETED"}, "what is left of a deleted stream")
    gone = found[-1]
    equal([gone[name] for name in ("operation", "stream_id", "event_id", "stream")], ["DELETED", stream, None, None],
          "the end of the stream")
    for query in ("anchor=x", "anchor=", "anchor=1", "anchor=0&wait=-1", "anchor=0&wait=10000", "anchor=0&wait=x"):
        refused(tablet.call(0, "GET", f"/sync?{query}"), 400, "malformed_request")
    began = time.monotonic()
    equal(learned(tablet, latest(tablet), 1)["operations"], [], "nothing new")
    expect(time.monotonic() - began > 0.9, "it did not wait")
    expect(learned(tablet, "0", 26)["operations"], "a longer wait is 25 s")


def typing(world):
    """Who waits learns who is writing, once a second, and nobody later."""
    ann, bob = world.ann["phone"], world.bob["phone"]
    path = opens(ann, "conversation", world.bob)
    waits = Waits(bob, latest(bob))
    for _ in range(10):
        # The second notice has no effect. On a busy machine the first may come before the wait.
        for _ in range(2):
            equal(ann.call(0, "POST", f"{path}/typing").status_code, 204, "the notice, and again")
        waits.thread.join(1.1)
        if not waits.thread.is_alive():
            break
    found = waits.end()
    equal((found["typing"], found["operations"]),
          ([{"stream_id": path.rsplit("/", 1)[1], "user_id": world.ann.user_id}], []), "who is writing")
    # On a busy machine the second notice may come a second after the first, and has an effect.
    soon(lambda: not learned(bob, found["anchor"], 1)["typing"], "nobody is writing later")
    refused(world.eve["phone"].call(0, "POST", f"{path}/typing"), 404, "not_found")


def presence(world):
    """A user who waits is online to those who may know, until one hides."""
    ann, bob, eve = world.ann["phone"], world.bob["phone"], world.eve["phone"]

    def shown(device, *users):
        found = accepted(device.call(0, "GET", "/presence?users=" + ",".join(users)))["presence"]
        equal([one["user_id"] for one in found], list(users), "the users")
        return [(one["online"], one["last_seen"]) for one in found]

    learned(ann, latest(ann), 1)
    soon(lambda: shown(bob, world.ann.user_id)[0][0], "ann is online")
    unknown = shown(eve, world.ann.user_id, uuid4(), world.eve.user_id)
    equal(unknown, [(False, None)] * 3, "to a stranger, of nobody, and the user's own")
    found = learned(bob, latest(bob), presence=world.ann.user_id)
    equal([one["online"] for one in found["presence"]], [True], "in an answer")
    accepted(ann.call(0, "PATCH", "/me", json={"presence": "hidden"}))
    soon(lambda: shown(bob, world.ann.user_id) == [(False, None)], "a hidden user looks as if never online")
    learned(bob, latest(bob), 1)
    equal(shown(ann, world.bob.user_id), [(False, None)], "a hidden user does not see others either")
    accepted(ann.call(0, "PATCH", "/me", json={"presence": "visible"}))
    for wrong in (world.ann.address, "x", ",".join(uuid4() for _ in range(51))):
        refused(bob.call(0, "GET", f"/presence?users={urllib.parse.quote(wrong, safe=',')}"), 400, "malformed_request")


def calls(world):
    """A call has an offer and an answer, in turn, and whoever deletes it ends it."""
    ann, bob = world.ann["phone"], world.bob["phone"]
    expect("ice_servers" in accepted(ann.call(0, "GET", "/calls/servers")), "the servers")
    path, anchor = opens(ann, "call", world.bob), latest(bob)
    conflict(bob.call(0, "POST", f"{path}/events", json=message("answer")), "turn")
    sends(ann, path, "offer")
    conflict(ann.call(0, "POST", f"{path}/events", json=message("answer")), "turn")
    equal([one["stream"]["last_sequence"] for one in learned(bob, anchor)["operations"]], [1], "the ringing")
    sends(bob, path, "answer")
    conflict(world.bob["tablet"].call(0, "POST", f"{path}/events", json=message("answer")), "answered")
    equal(bob.call(0, "DELETE", path).status_code, 204, "to hang up")
    [ended] = learned(ann, anchor)["operations"][-1:]
    equal((ended["operation"], ended["event_id"], ended["stream_id"]), ("DELETED", None, path.rsplit("/", 1)[1]), "the end")
    refused(ann.call(0, "POST", "/streams", json={"id": uuid4(), "kind": "call", "members": []}), 400, "malformed_request")


def notifications(world):
    """The provider's words reach each device once, with all that the page names."""
    bob, tablet = world.bob["phone"], world.bob["tablet"]
    anchor = latest(bob)
    sent = {"id": uuid4(), "title": "T", "body": "B", "data": {"k": "v"}}
    path = f"/provider/users/{urllib.parse.quote(world.bob.name, safe='')}/notifications"
    for _ in range(2):
        equal(accepted(world.cluster.provider.call("POST", path, json=sent), 202), {"id": sent["id"]}, "the answer")
    for device in (bob, tablet):
        [one] = [one for one in learned(device, anchor)["operations"] if one["operation"] == "NOTIFICATION"]
        equal({name: one["notification"][name] for name in sent}, sent, "the notification")
        equal((one["stream_id"], one["stream"]), (None, None), "its stream")
    for wrong in ({"data": {"aps": "x"}}, {"data": {"k": 1}}, {"data": {"k": "v" * 4096}}, {"id": "x"}):
        answer = world.cluster.provider.call("POST", path, json={**sent, "id": uuid4(), **wrong})
        expect(answer.status_code in (400, 413), f"{wrong}: {answer.status_code} {json.dumps(answer.json())[:200]}")


def erasure(world):
    """An erased member's messages have neither parts nor sender, and the others' devices are told."""
    ann, cat = world.ann["phone"], world.cat["phone"]
    path = opens(ann, "conversation", world.cat)
    sends(cat, path, "mine")
    sends(ann, path, "hers")
    anchor = latest(ann)
    accepted(cat.call(0, "DELETE", "/me"), 202)
    soon(lambda: "ERASED" in kinds_of(learned(ann, anchor)), "ann's device is told")
    equal([(one["sender"], one["parts"] is None) for one in page(ann, path, "?after=0")["events"]],
          [(None, True), (world.ann.user_id, False)], "the messages")
    equal([one["user_id"] for one in accepted(ann.call(0, "GET", path))["members"]], [world.ann.user_id], "the members")
