"""What the page on streams says of streams, messages, receipts, members and metadata, sentence by sentence: a part of
`page.py`, written without a look at the service."""

import uuid

from Devices.people import message
from Shared.checks import accepted, equal, expect, refused


def uuid4():
    """A new id."""
    return str(uuid.uuid4())


def conflict(answer, state):
    """A `conflict` with a state."""
    equal(refused(answer, 409, "conflict")["state"], state, "the state")


def opens(device, kind, *members, **more):
    """A stream of a kind; its path."""
    made = {"id": uuid4(), "kind": kind, "members": [one.user_id for one in members], **more}
    body = accepted(device.call(0, "POST", "/streams", json=made), 201)
    equal((set(body), body["id"], body["kind"]), ({"id", "kind", "created_at"}, made["id"], kind), "the answer")
    return f"/streams/{made['id']}"


def sends(device, path, text="x", **more):
    """A message; what is answered, with its id."""
    return accepted(device.call(0, "POST", f"{path}/events", json=message(text) | more), 201)


def page(device, path, query=""):
    """A page of messages."""
    found = accepted(device.call(0, "GET", f"{path}/events{query}"))
    equal(set(found), {"events", "profiles", "more", "last_sequence"}, "the members of a page")
    return found


def opening(world):
    """A stream is opened once, under an id of the app's own, and its texts are bounded."""
    ann, bob, eve = world.ann["phone"], world.bob["phone"], world.eve["phone"]
    made = {"id": uuid4(), "kind": "direct", "members": [world.bob.address], "title": "é" * 127, "description": "d" * 4096,
            "image_url": "https://pictures.example/a.png"}
    first, again = (accepted(ann.call(0, "POST", "/streams", json=made), 201) for _ in range(2))
    equal(first, again, "the repeated opening")
    conflict(ann.call(0, "POST", "/streams", json={**made, "title": "other"}), "open")
    refused(bob.call(0, "POST", "/streams", json=made), 404, "not_found")
    other = {"id": uuid4(), "kind": "conversation", "members": []}
    for wrong in ({"title": "x" * 256}, {"title": ""}, {"description": "d" * 4097}, {"image_url": "http://a.example/"},
                  {"kind": "group"}, {"id": "x"}, {"members": [str(uuid.uuid4()) for _ in range(25)]},
                  {"kind": "forum", "members": [world.bob.user_id]}, {"kind": "direct"}):
        refused(ann.call(0, "POST", "/streams", json={**other, **wrong}), 400, "malformed_request")
    # The refusal is the same for whoever may not be added.
    told = [refused(ann.call(0, "POST", "/streams", json={**other, "id": uuid4(), "kind": "direct", "members": [one]}),
                    409, "conflict") for one in (world.eve.user_id, uuid4(), "elsewhere/eve")]
    expect(all((one["state"], one["detail"]) == ("unauthorized", told[0]["detail"]) for one in told), f"{told}")
    row = accepted(ann.call(0, "GET", f"/streams/{made['id']}"))
    equal([row[name] for name in ("kind", "state", "created_by", "title", "last_sequence", "last_event")],
          ["direct", "open", world.ann.user_id, made["title"], 0, None], "the row")
    refused(eve.call(0, "GET", f"/streams/{made['id']}"), 404, "not_found")


def kinds(world):
    """Each kind permits what the table says."""
    ann, bob, eve = world.ann["phone"], world.bob["phone"], world.eve["phone"]
    direct, forum = opens(ann, "direct", world.bob), opens(ann, "forum")
    for path in (direct, forum):
        first = sends(ann, path)
        for method in ("PUT", "DELETE"):
            conflict(ann.call(0, method, f"{path}/members/{world.bob.user_id}"), "unsupported")
    one = f"{forum}/events/{first['id']}"
    for method, path, body in (
            ("POST", f"{forum}/receipts", {"read_through": 1}), ("PATCH", f"{forum}/metadata/private", {"set": {}}),
            ("PATCH", f"{one}/metadata/private", {"set": {}}), ("DELETE", f"{one}/copy", None)):
        conflict(bob.call(0, method, path, json=body), "unsupported")
    # A forum is open to all users of the provider, and its creator owns it.
    theirs = sends(eve, forum)
    heart = {"heart": 1}
    equal(accepted(eve.call(0, "PATCH", f"{one}/metadata", json={"merge": heart})), {"metadata": heart}, "the metadata")
    for method, path, body in (
            ("PATCH", f"{forum}/metadata", {"set": {"a": 1}}), ("DELETE", one, None), ("DELETE", forum, None)):
        expect(bob.call(0, method, path, json=body).status_code in (404, 409), f"not the creator: {method} {path}")
    equal(ann.call(0, "DELETE", f"{forum}/events/{theirs['id']}").status_code, 204, "the creator deletes another's message")
    row = accepted(bob.call(0, "GET", forum))
    equal((row["unread"], row["members"]), (None, []), "the row of a forum")
    equal(ann.call(0, "DELETE", forum).status_code, 204, "the creator deletes it")
    refused(bob.call(0, "GET", forum), 404, "not_found")
    # Each member may delete a conversation for all.
    talk = opens(ann, "conversation", world.bob)
    equal(bob.call(0, "DELETE", talk).status_code, 204, "the deletion by a member")
    refused(ann.call(0, "GET", talk), 404, "not_found")


def messages(world):
    """Messages have parts, threads, numbers without gaps, and pages in both directions."""
    ann, bob = world.ann["phone"], world.bob["phone"]
    path = opens(ann, "conversation", world.bob)
    part = {"type": "text/plain", "body": "x"}
    whole = message("x") | {"parts": [part] * 16}
    first, again = (accepted(ann.call(0, "POST", f"{path}/events", json=whole), 201) for _ in range(2))
    equal((first, first["sequence"], "thread" in first), (again, 1, False), "the repeated message")
    conflict(ann.call(0, "POST", f"{path}/events", json={**whole, "parts": [part]}), "sent")
    refused(bob.call(0, "POST", f"{path}/events", json=whole), 404, "not_found")
    for wrong in ([part] * 17, [], [{"type": "text/plain; charset=utf-8", "body": "x"}], [{"type": "text/plain"}],
                  [{"type": "a/b", "body": "x", "body_base64": "eA"}], [{"type": "a/b", "body_base64": "eA=="}]):
        refused(ann.call(0, "POST", f"{path}/events", json=message("x") | {"parts": wrong}), 400, "malformed_request")
    largest = sends(ann, path, "é" * 32_768)
    refused(ann.call(0, "POST", f"{path}/events", json=message("x" * 65_537)), 413, "payload_too_large")
    # A thread is named by its first message, which is not a reply.
    reply = sends(bob, path, in_reply_to=first["id"])
    below = sends(ann, path, in_reply_to=reply["id"])
    equal((reply["thread"], below["thread"]), (first["id"],) * 2, "the thread")
    shown = page(bob, path, "?after=0")
    equal([(one["sequence"], one["thread"]) for one in shown["events"]],
          [(1, None), (2, None), (3, first["id"]), (4, first["id"])], "the messages, oldest first")
    equal((shown["more"], shown["last_sequence"]), (False, 4), "the page")
    equal([one["sequence"] for one in page(bob, path, "?before=4&limit=2")["events"]], [3, 2], "those before a number")
    equal([one["sequence"] for one in page(bob, path, "?limit=1")["events"]], [4], "the newest")
    expect(page(bob, path, "?after=1&limit=2")["more"], "there are more")
    for query in ("after=1&before=3", "after=x", "before=-1"):
        refused(bob.call(0, "GET", f"{path}/events?{query}"), 400, "malformed_request")
    equal({one["user_id"] for one in shown["profiles"]}, {world.ann.user_id, world.bob.user_id}, "each sender once")
    # Without metadata a message has neither member, and all the others.
    wanted = {"sequence", "id", "sender", "sent_at", "in_reply_to", "thread", "deleted", "expired", "parts"}
    equal(set(shown["events"][0]), wanted, "the members of a message")
    for _ in range(2):
        equal(ann.call(0, "DELETE", f"{path}/events/{largest['id']}").status_code, 204, "the deletion, and again")
    gone = page(bob, path, "?after=1&limit=1")["events"][0]
    equal((gone["sequence"], gone["deleted"], gone["expired"], gone["parts"]), (2, True, False, None), "the deleted one")
    refused(bob.call(0, "DELETE", f"{path}/events/{first['id']}"), 404, "not_found")


def receipts(world):
    """Receipts rise, never exceed the last message, and say what is unread."""
    ann, bob = world.ann["phone"], world.bob["phone"]
    path = opens(ann, "conversation", world.bob)
    for _ in range(3):
        sends(ann, path)

    def reported(device, **members):
        return tuple(accepted(device.call(0, "POST", f"{path}/receipts", json=members))[name]
                     for name in ("delivered_through", "read_through"))

    unread = lambda: accepted(bob.call(0, "GET", path))["unread"]
    equal((unread(), accepted(ann.call(0, "GET", path))["unread"]), (3, 0), "unread at first")
    equal([reported(bob, delivered_through=2), reported(bob, read_through=1), reported(bob, delivered_through=1)],
          [(2, 0), (2, 1), (2, 1)], "the receipts")
    equal((unread(), reported(bob, read_through=99), unread()), (2, (3, 3), 0), "what is read is delivered, and no more")
    sends(bob, path)
    equal(unread(), 0, "who has read all and writes")
    sends(ann, path)
    sends(bob, path)
    equal(unread(), 2, "who has not read all and writes")


def copies(world):
    """A message that a user deletes for themselves is gone for this user alone, on all devices, for good."""
    ann, bob, tablet = world.ann["phone"], world.bob["phone"], world.bob["tablet"]
    path = opens(ann, "conversation", world.bob)
    sent = sends(ann, path)
    one = f"{path}/events/{sent['id']}"
    for kind in ("", "/private"):
        accepted(bob.call(0, "PATCH", f"{one}/metadata{kind}", json={"set": {"a": 1}}))
    anchor = accepted(bob.call(0, "GET", "/sync?anchor=latest"))["anchor"]
    for _ in range(2):
        equal(bob.call(0, "DELETE", f"{one}/copy").status_code, 204, "the deletion, and again")
    [operation] = accepted(tablet.call(0, "GET", f"/sync?anchor={anchor}"))["operations"]
    equal((operation["operation"], operation["event_id"]), ("DELETED", sent["id"]), "what the other device learns")
    [shown] = page(tablet, path)["events"]
    equal((shown["deleted"], shown["parts"], "metadata" in shown), (True, None, False), "bob's view")
    [kept] = page(ann, path)["events"]
    equal((kept["deleted"], kept["metadata"]), (False, {"a": 1}), "ann's view")
    expect(accepted(bob.call(0, "GET", path))["last_event"]["deleted"], "it is in the row of the list")
    for kind in ("", "/private"):
        refused(bob.call(0, "PATCH", f"{one}/metadata{kind}", json={"merge": {"b": 2}}), 404, "not_found")
    anchor = accepted(bob.call(0, "GET", "/sync?anchor=latest"))["anchor"]
    accepted(ann.call(0, "PATCH", f"{one}/metadata", json={"merge": {"c": 3}}))
    equal(accepted(bob.call(0, "GET", f"/sync?anchor={anchor}"))["operations"], [], "bob hears no more of it")
    equal(accepted(bob.call(0, "GET", path))["unread"], 1, "unread")


def members(world):
    """A new member sees all, a removed one what was sent until then, and one that is added again sees all again."""
    ann, bob, cat = world.ann["phone"], world.bob["phone"], world.cat["phone"]
    path = opens(ann, "conversation", world.bob)
    sends(ann, path, "one")
    place = f"{path}/members/{world.cat.user_id}"
    for _ in range(2):
        equal(bob.call(0, "PUT", place).status_code, 204, "the addition, and again")
    equal([one["sequence"] for one in page(cat, path)["events"]], [1], "what a new member sees")
    sends(ann, path, "two")
    for _ in range(2):
        equal(ann.call(0, "DELETE", place).status_code, 204, "the removal, and again")
    sends(ann, path, "three")
    row = accepted(cat.call(0, "GET", path))
    equal((row["state"], row["members"], [one["sequence"] for one in page(cat, path, "?after=0")["events"]]),
          ("left", [], [1, 2]), "what a removed member sees")
    conflict(cat.call(0, "POST", f"{path}/events", json=message("x")), "left")
    conflict(cat.call(0, "PATCH", f"{path}/metadata/private", json={"set": {}}), "left")
    equal(cat.call(0, "DELETE", f"{path}/events/{page(cat, path)['events'][0]['id']}/copy").status_code, 204, "the copy")
    accepted(bob.call(0, "PUT", place), 204)
    equal([one["sequence"] for one in page(cat, path, "?after=0")["events"]], [1, 2, 3], "what a member sees again")
    equal(cat.call(0, "DELETE", place).status_code, 204, "who leaves")
    conflict(ann.call(0, "PUT", f"{path}/members/{world.eve.user_id}"), "unauthorized")


def metadata(world):
    """Either kind is replaced or merged, within the bounds, and read where the page says."""
    ann, bob = world.ann["phone"], world.bob["phone"]
    path = opens(ann, "conversation", world.bob, metadata={"a": 1})
    one = f"{path}/events/{sends(ann, path)['id']}"
    for place, names, size in ((path, 200, 16_384), (one, 50, 4_096)):
        for suffix, member in (("", "metadata"), ("/private", "private_metadata")):
            change = lambda body: ann.call(0, "PATCH", f"{place}/metadata{suffix}", json=body)
            value = lambda body: accepted(change(body))[member]
            equal(value({"set": {"a": {"b": 1, "c": 2}}}), {"a": {"b": 1, "c": 2}}, "set")
            equal(value({"merge": {"a": {"b": None}, "d": [1]}}), {"a": {"c": 2}, "d": [1]}, "merge")
            equal(value({"merge": {}}), {"a": {"c": 2}, "d": [1]}, "an empty merge")
            most, deep, text = {f"n{number}": 1 for number in range(names)}, {}, {"a": "x" * (size - len('{"a":""}'))}
            for _ in range(8):
                deep = {"a": deep} if deep else {"a": 1}
            equal([value({"set": good}) == good for good in (most, deep, text)], [True] * 3, "the bounds")
            for wrong in ({"set": {**most, "x": 1}}, {"set": {"a": deep}}, {"set": {"a": text["a"] + "x"}},
                          {"merge": {"b": 1}}, {"set": {}, "merge": {}}, {}, {"set": []}, {"merge": None}):
                refused(change(wrong), 400, "malformed_request")
            equal(value({"merge": {}}), text, "what is refused changes nothing")
            equal(value({"set": {}}), {}, "the removal")
    accepted(ann.call(0, "PATCH", f"{path}/metadata", json={"set": {"a": 1}}))
    row, listed = accepted(bob.call(0, "GET", path)), accepted(bob.call(0, "GET", "/streams"))["streams"]
    equal((row["metadata"], "metadata" in listed[0]), ({"a": 1}, False), "where the metadata are")
