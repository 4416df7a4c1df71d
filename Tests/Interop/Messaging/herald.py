"""Herald (`herald/1`) against the running service, by Apache's Thrift from the interface file alone.

    python3 herald.py … --countersign FILE --directory DIRECTORY --interface FILE

`--directory` holds `Keys`, `Policies` and `store.db`. The policy lets users of one provider open conversations.
"""

import re
import struct
import time
import uuid

import requests
from thrift.Thrift import TApplicationException

from Shared import options
from Bans.admin import Admin
from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT, Device
from Messaging.herald_client import (
    BANNED, CHALLENGED, CONTROL, EXISTS, KEEPALIVE, LARGE, MALFORMED, NOT_AUTHENTICATED, OK, PUSH, RESPONSE, RPC,
    TYPE, UNKNOWN, Herald, Person, data, frame, generated, refused)


def beginnings(chosen, alice):
    """What is no beginning is dropped at once, without a word; so is silence."""
    silent = Herald(chosen, alice.device, initial=b"LAY")
    for initial in (b"LAYEr", b"GET / HTTP/1.1\r\n\r\n", b"LAYER\x02", b"LAYER\x01\x02", b"LAYER\x01\x01" + bytes(4),
                    b"LAYER\x01\x01" + struct.pack(">I", 15), frame(KEEPALIVE, 0)):
        equal(Herald(chosen, alice.device, initial=initial).ended(), [], f"the answer to {initial!r}")
    one = Herald(chosen, alice.device, initial=b"")
    for byte in b"LAYER\x01\x01" + struct.pack(">I", 4096) + frame(KEEPALIVE, 0):
        one.send(bytes([byte]))
    while not one.kept:
        one.read()
    one.socket.close()
    equal(silent.ended(), [], "the answer to silence")


def authentication(chosen, provider, alice, bob):
    """One session at a time; five failures end the connection; another device's token is told to nobody but the log."""
    one = Herald(chosen, alice.device)
    add, delete = frame(CONTROL, 1 << 2 | RPC, b"\x01"), frame(CONTROL, 2 << 2, b"\x01")
    equal(one.control(add, delete), [NOT_AUTHENTICATED] * 2, "before Auth")
    equal(one.auth(alice.token), OK, "Auth")
    equal(one.control(add, add, frame(CONTROL, 1 << 2 | 2, b"\x02"), delete, delete),
          [OK, EXISTS, TYPE, OK, UNKNOWN], "channels")
    equal(one.control(add), [OK], "ChAdd")
    equal(one.auth(alice.token), OK, "Auth again")
    equal(one.control(add), [OK], "its channels were closed")
    equal(one.auth("x" * 64), NOT_AUTHENTICATED, "a token of nobody")
    equal(one.control(frame(CONTROL, 1 << 2 | RPC, b"\x03")), [NOT_AUTHENTICATED], "the session of before")
    # Another device's token challenges the session, as over HTTP.
    equal(one.auth(bob.token), NOT_AUTHENTICATED, "another device's token")
    equal(accepted_problem(bob)["code"], "session_challenged", "the session of that token")
    two = Herald(chosen, bob.device)
    equal(two.auth(bob.token), CHALLENGED, "a challenged session")
    two.socket.close()
    bob.log_in()
    for token in ("", "é" * 100):
        equal(one.auth(token), NOT_AUTHENTICATED, "no token")
    equal(one.auth("x" * 64), NOT_AUTHENTICATED, "the fifth failure")
    equal(one.ended(), [], "after the fifth failure")


def accepted_problem(person):
    """The problem of a session that is refused."""
    return person.call("GET", "/me").json()


def frames(chosen, alice):
    """Whatever cannot be gone on with is said, and ends the connection; what is unfinished is bounded."""
    def fresh():
        one = Herald(chosen, alice.device)
        equal(one.auth(alice.token), OK, "Auth")
        equal((one.add(1, RPC), one.add(2, PUSH)), (OK, OK), "ChAdd")
        equal(one.message(2), (2, b""), "the first sync request")
        return one

    for what, bytes_, error in (
            ("no channel", data(9, 1, b"x"), UNKNOWN), ("a push channel", data(2, 1, b"x"), TYPE),
            ("a packet type", data(1, 1, b"x", packet=1), TYPE), ("a large message", data(1, 1 << 20, b"x"), LARGE),
            ("a large frame", struct.pack(">I", 1 << 30), LARGE), ("more than the total", data(1, 1, b"xy"), MALFORMED),
            ("no progress", data(1, 1, b""), MALFORMED), ("no size", bytes(4), MALFORMED),
            ("no operation", frame(CONTROL, 15 << 2), MALFORMED), ("no Thrift", data(1, 1, b"x"), MALFORMED),
            ("channel 255", frame(CONTROL, 1 << 2 | RPC, b"\xff"), MALFORMED),
            ("a response", frame(RESPONSE, 0), MALFORMED), ("a padded keepalive", frame(KEEPALIVE, 1), MALFORMED)):
        one = fresh()
        one.send(bytes_)
        equal(one.ended(), [error], what)
    one = fresh()
    for channel in range(10, 14):
        equal(one.add(channel, RPC), OK, "ChAdd")
    for channel in range(10, 14):
        one.send(data(channel, 60_000, b"x" * 50_000))
    equal(one.ended(), [LARGE], "unfinished messages of four channels")
    before = Herald(chosen, alice.device)
    before.send(data(1, 1, b"x"))
    equal(before.ended(), [NOT_AUTHENTICATED], "a call before Auth")
    kept = fresh()
    kept.send(frame(KEEPALIVE, 0) * 3)
    while kept.kept < 3:
        kept.read()
    kept.socket.close()


def calls(chosen, rpc, alice, bob):
    """What a client of Thrift calls is what the JSON calls do; the other side's devices learn of it; the stream's id."""
    mine, theirs = Herald(chosen, alice.device, b"LAYER\x01\x01" + struct.pack(">I", 256)), Herald(chosen, bob.device)
    for herald, person in ((mine, alice), (theirs, bob)):
        equal((herald.auth(person.token), herald.add(1, RPC), herald.add(2, PUSH)), (OK, OK, OK), "ChAdd")
        equal(herald.message(2), (2, b""), "the first sync request")
    streams, others = mine.client(rpc, 1), theirs.client(rpc, 1)
    anchor = others.synchronize(None).anchor
    stream = str(uuid.uuid4())
    opening = rpc.types.StreamOpening(
        id=stream, kind="conversation", members=[bob.user_id], title="Two", metadata='{"colour":["green"]}')
    equal(streams.openStream(opening), streams.openStream(opening), "the repeated opening")
    equal(theirs.message(2), (2, b""), "the sync request of the opening")
    event = rpc.types.NewEvent(id=str(uuid.uuid4()), parts=[
        rpc.types.Part(type="text/plain", body="Grüße" * 1000), rpc.types.Part(type="a/b", body_base64=bytes(range(256)))])
    sent = streams.appendEvent(stream, event)
    equal((sent.sequence, sent.id), (1, event.id), "the message")
    equal(theirs.message(2), (2, b""), "the sync request of the message")
    changes = others.synchronize(anchor)
    equal([(one.operation, one.stream.unread, one.stream.metadata) for one in changes.operations],
          [("UPDATE_TAGS", 1, '{"colour":["green"]}'), ("NEW_MESSAGE", 1, None)], "what bob's device learns")
    page = others.readEvents(stream, 0, None, 10)
    equal((page.more, [one.parts for one in page.events]), (False, [event.parts]), "the messages")
    as_json = accepted(bob.call("GET", f"/streams/{stream}/events?after=0"))["events"][0]
    equal((as_json["id"], as_json["sent_at"]), (event.id, page.events[0].sent_at), "the same over HTTP")
    reply = rpc.types.NewEvent(id=str(uuid.uuid4()), parts=event.parts[:1], in_reply_to=event.id)
    equal(others.appendEvent(stream, reply).thread, event.id, "the reply")
    equal(others.raiseReceipts(stream, rpc.types.Receipts(read_through=2)).delivered_through, 2, "the receipts")
    change = rpc.types.MetadataChange(merge='{"size":1}')
    equal(streams.changeMetadata(stream, change).metadata, '{"colour":["green"],"size":1}', "the metadata")
    change = rpc.types.MetadataChange(set_='{"mine":true}')
    equal(streams.changePrivateMetadata(stream, change).private_metadata, '{"mine":true}', "the private metadata")
    change = rpc.types.MetadataChange(merge='{"heart":1}')
    equal(others.changeEventMetadata(stream, event.id, change).metadata, '{"heart":1}', "a message's metadata")
    change = rpc.types.MetadataChange(merge='{"later":true}')
    equal(others.changePrivateEventMetadata(stream, event.id, change).private_metadata, '{"later":true}', "private ones")
    tags = [(one.event.sequence, one.event.metadata) for one in streams.synchronize(None).operations if one.event]
    equal(tags, [(1, '{"heart":1}')], "what alice's device learns")
    tagged = others.readEvents(stream, 0, None, 1).events[0]
    equal((tagged.metadata, tagged.private_metadata), ('{"heart":1}', '{"later":true}'), "the message with them")
    others.deleteEventForMe(stream, reply.id)
    equal([one.deleted for one in others.readEvents(stream, 0, None, None).events], [False, True], "bob's messages")
    equal([one.deleted for one in streams.readEvents(stream, 0, None, None).events], [False, False], "alice's")
    row = streams.showStream(stream)
    equal({one.user_id: one.read_through for one in row.members}, {alice.user_id: 1, bob.user_id: 2}, "read")
    expect(mine.largest <= 256, f"a frame of {mine.largest} bytes")
    equal([one.id for one in others.listStreams("conversation", None, None).streams], [stream], "the streams")
    streams.deleteEvent(stream, event.id)
    equal(others.readEvents(stream, None, None, None).events[1].deleted, True, "the deleted message")
    equal([one.id for one in others.listStreams(None, None, alice.user_id).streams], [stream], "the streams with alice")
    image = rpc.types.NewEvent(
        id=str(uuid.uuid4()), parts=[rpc.types.Part(type="image/png", body_base64=bytes([255]) * 65_536)])
    equal(streams.appendEvent(stream, image).sequence, 3, "the image")
    equal(others.readEvents(stream, 2, None, None).events[0].parts, image.parts, "the image that bob reads")
    others.removeMember(stream, bob.user_id)
    streams.addMember(stream, bob.user_id)

    refused(rpc, 404, "not_found", lambda: streams.showStream(str(uuid.uuid4())))
    refused(rpc, 400, "malformed_request", lambda: streams.openStream(rpc.types.StreamOpening(id="x", kind="forum")))
    refused(rpc, 400, "malformed_request", lambda: streams.synchronize("x&wait=9"))
    for call in (lambda: streams.showStream(""), lambda: unknown(streams)):
        try:
            call()
            expect(False, "no exception of Thrift")
        except TApplicationException:
            pass
    # Several channels at once: each answer comes on its own.
    for channel in range(10, 20):
        equal(mine.add(channel, RPC), OK, "ChAdd")
    many = [mine.client(rpc, channel) for channel in range(10, 20)]
    for one in many:
        one.send_showStream(stream)
    for one in reversed(many):
        equal(one.recv_showStream().id, stream, "an answer of several")
    return stream, mine, theirs


def unknown(streams):
    """A call of a function that there is not."""
    streams._oprot.writeMessageBegin("noSuchThing", 1, 7)
    streams._oprot.writeStructBegin("args")
    streams._oprot.writeFieldStop()
    streams._oprot.trans.flush()
    _, kind, number = streams._iprot.readMessageBegin()
    equal((kind, number), (3, 7), "the answer to an unknown function")
    error = TApplicationException()
    error.read(streams._iprot)
    raise error


def ends(chosen, provider, rpc, admin, alice, bob, carol, stream, mine, theirs):
    """A challenge closes the channels, an end of the session or a ban the connection, without a frame of the client."""
    thief = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(thief.certify(), 201)
    equal(thief.call("GET", "/me", carol.token).json()["code"], "binding_mismatch", "a thief")
    hers = carol.herald
    equal(hers.response(), CHALLENGED, "what carol's connection is told")
    equal(hers.control(frame(CONTROL, 1 << 2 | RPC, b"\x01")), [NOT_AUTHENTICATED], "after it")
    carol.log_in()
    equal((hers.auth(carol.token), hers.add(1, RPC)), (OK, OK), "Auth with a new session")
    equal(carol.call("DELETE", "/sessions/current").status_code, 204, "the end of the session")
    equal(hers.ended(), [NOT_AUTHENTICATED], "what carol's connection is told at the end")

    admin.run("ban", "add", "--user", bob.address, "--reason", "test", "--yes")
    banned = time.monotonic()
    expect(theirs.ended() in ([], [BANNED]), "what a banned user's connection is told")
    print(f"ban to the closed channel: {(time.monotonic() - banned) * 1000:.0f} ms")
    again = Herald(chosen, bob.device)
    equal(again.auth(bob.token), BANNED, "Auth of a banned user")
    equal(again.ended(), [], "after it")
    equal(mine.client(rpc, 1).showStream(stream).id, stream, "the other side's connection")


def counted(chosen):
    """The service failed at nothing, and counted what it should."""
    text = requests.get(chosen.ops + "/metrics", timeout=TIMEOUT).text
    for status in ("500", "503"):
        expect(not re.search(r'^countersign_http_requests_total\{[^}]*status="' + status, text, re.M), f"a {status}")
    for name in ("herald_ends", "herald_pushes"):
        expect(f"countersign_{name}_total" in text, f"no {name}")


def main():
    parser = options.parser(__doc__)
    for name in ("countersign", "directory", "interface"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    provider, rpc, admin = options.provider(chosen), generated(chosen.interface), Admin(chosen)
    alice, bob, carol = (Person(chosen, provider, name) for name in ("alice", "bob", "carol"))
    beginnings(chosen, alice)
    authentication(chosen, provider, alice, bob)
    frames(chosen, alice)
    stream, mine, theirs = calls(chosen, rpc, alice, bob)
    carol.herald = Herald(chosen, carol.device)
    equal((carol.herald.auth(carol.token), carol.herald.add(1, RPC)), (OK, OK), "carol's connection")
    ends(chosen, provider, rpc, admin, alice, bob, carol, stream, mine, theirs)
    counted(chosen)


if __name__ == "__main__":
    main()
