"""Herald (`herald/1`) against the running service, by Apache's Thrift from the interface file alone.

    python3 herald.py … --countersign FILE --directory DIRECTORY --interface FILE

`--directory` holds `Keys`, `Policies` and `store.db`. The policy lets users of one provider open conversations.
"""

import importlib
import re
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid
from types import SimpleNamespace

import requests
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TApplicationException
from thrift.transport.TTransport import TTransportBase

from Shared import options
from Bans.admin import Admin
from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT, Device
from Shared.transport import context

PATIENCE = 10  # seconds against hanging; nothing here is judged by its speed
OK, MALFORMED, UNKNOWN, EXISTS, TYPE, NOT_AUTHENTICATED, CHALLENGED, LARGE, BANNED = range(9)
PUSH, RPC = 0, 1
CONTROL, DATA, RESPONSE, KEEPALIVE = range(4)


class Closed(Exception):
    """The service has ended the connection."""


def frame(kind, extended, payload=b""):
    """A frame as the tables of the protocol have it."""
    return struct.pack(">IB", len(payload) + 1, kind << 6 | extended) + payload


def data(channel, total, payload, packet=0):
    """A part of a message."""
    return frame(DATA, packet, struct.pack(">BI", channel, total) + payload)


class Herald:
    """One connection, frame by frame."""

    def __init__(self, chosen, device, initial=b"LAYER\x01\x01" + struct.pack(">I", 1 << 20), window=None):
        address = urllib.parse.urlsplit(chosen.client)
        tls = context(SimpleNamespace(authority=chosen.ca), device)
        tls.set_alpn_protocols(["herald/1"])
        plain = socket.socket()
        if window:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        plain.settimeout(TIMEOUT)
        plain.connect((address.hostname, address.port))
        self.socket = tls.wrap_socket(plain, server_hostname=address.hostname)
        equal(self.socket.selected_alpn_protocol(), "herald/1", "the protocol")
        self.socket.settimeout(PATIENCE)
        self.buffer, self.messages, self.parts, self.responses, self.kept = b"", {}, {}, [], 0
        self.largest = 0
        self.send(initial)

    def send(self, *frames):
        """Sends frames, or whatever bytes there are."""
        self.socket.sendall(b"".join(frames))

    def read(self):
        """Reads one frame, and puts it where it belongs."""
        try:
            while len(self.buffer) < 4 or len(self.buffer) < 4 + struct.unpack(">I", self.buffer[:4])[0]:
                more = self.socket.recv(65536)
                if not more:
                    raise Closed
                self.buffer += more
        except (ConnectionError, ssl.SSLError) as error:
            raise Closed from error
        size = struct.unpack(">I", self.buffer[:4])[0]
        head, payload, self.buffer = self.buffer[4], self.buffer[5:4 + size], self.buffer[4 + size:]
        self.largest = max(self.largest, size + 4)
        kind = head >> 6
        if kind == RESPONSE:
            expect(head & 0x20 or not head & 0x1F, f"a response frame with the header {head:#x}")
            self.responses.append(head & 0x1F)
        elif kind == KEEPALIVE:
            equal((head & 0x3F, payload), (0, b""), "a keepalive")
            self.kept += 1
        else:
            equal(kind, DATA, "the type of a frame")
            channel, total = struct.unpack(">BI", payload[:5])
            held = self.parts.setdefault(channel, bytearray())
            held += payload[5:]
            if len(held) == total:
                self.messages.setdefault(channel, []).append((head & 0x3F, bytes(self.parts.pop(channel))))

    def response(self):
        """The next response frame's error; 0 is success."""
        while not self.responses:
            self.read()
        return self.responses.pop(0)

    def message(self, channel):
        """The next whole message of a channel, with its packet type."""
        while not self.messages.get(channel):
            self.read()
        return self.messages[channel].pop(0)

    def control(self, *frames):
        """Sends control frames and gives their responses."""
        self.send(*frames)
        return [self.response() for _ in frames]

    def auth(self, token):
        """Auth with a session token."""
        return self.control(frame(CONTROL, 0, token.encode()))[0]

    def add(self, channel, kind):
        """ChAdd."""
        return self.control(frame(CONTROL, 1 << 2 | kind, bytes([channel])))[0]

    def ended(self):
        """Reads until the service ends the connection; the responses that came before, none of which was awaited."""
        try:
            while True:
                self.read()
        except Closed:
            self.socket.close()
            return self.responses
        except TimeoutError:
            expect(False, "the connection stays open")

    def client(self, rpc, channel):
        """Thrift's own client on an RPC channel."""
        return rpc.Streams.Client(TBinaryProtocol(Channel(self, channel), strictRead=True, strictWrite=True))


class Channel(TTransportBase):
    """An RPC channel as a transport of Thrift; messages leave in parts."""

    part = 1000

    def __init__(self, herald, channel):
        self.herald, self.channel, self.writing, self.reading = herald, channel, b"", b""

    def write(self, buf):
        self.writing += buf

    def flush(self):
        message, self.writing = self.writing, b""
        self.herald.send(*(data(self.channel, len(message), message[first:first + self.part])
                           for first in range(0, len(message), self.part)))

    def read(self, sz):
        if not self.reading:
            packet, self.reading = self.herald.message(self.channel)
            equal(packet, 0, "the packet type of an answer")
        taken, self.reading = self.reading[:sz], self.reading[sz:]
        return taken


class Person:
    """A user with a device and a session."""

    def __init__(self, chosen, provider, name):
        self.name = f"{name}-{uuid.uuid4()}"
        self.device = Device(chosen.public, chosen.client, chosen.ca, "EC")
        accepted(self.device.certify(), 201)
        self.provider = provider
        self.log_in()

    def log_in(self):
        session = accepted(
            self.device.create_session(self.provider.identity_token(self.name, self.device.nonce())), 201)
        self.token, self.user_id, self.address = session["session_token"], session["user_id"], session["address"]

    def call(self, method, path, **arguments):
        return self.device.call(method, path, self.token, **arguments)


def generated(interface):
    """Python's modules of the interface, made by Thrift's compiler."""
    directory = tempfile.mkdtemp()
    subprocess.run(["thrift", "--gen", "py", "-out", directory, interface], check=True, capture_output=True)
    sys.path.insert(0, directory)
    return SimpleNamespace(
        Streams=importlib.import_module("herald_rpc.Streams"), types=importlib.import_module("herald_rpc.ttypes"))


def refused(rpc, status, code, call):
    """The refusal of a call."""
    try:
        call()
    except rpc.types.Refused as refusal:
        equal((refusal.status, refusal.code), (status, code), "the refusal")
        expect(refusal.detail and refusal.request_id, "a refusal without a sentence or an id")
        return refusal
    return expect(False, f"not refused as {code}")


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
