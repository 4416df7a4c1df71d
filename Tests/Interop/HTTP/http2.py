"""HTTP/2 frame by frame: how answers end, which floods end a connection, and how the service says goodbye."""

import contextlib
import json
import time

from Shared import options
from Shared.checks import accepted, equal, expect
from Shared.client import Device
from HTTP.http2_frames import (
    ACK, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE, Connection,
    context, frame, head, literal)

PROTOCOL_ERROR, ENHANCE_YOUR_CALM, STREAM_CLOSED, CANCEL, REFUSED_STREAM = 1, 11, 5, 8, 7


def ends(connection, streams):
    """Reads until all streams have ended: what ended each, and the bytes and frames of its body."""
    left, ended, bodies = set(streams), {}, {stream: [] for stream in streams}
    while left:
        got = connection.read()
        expect(got is not None, f"the connection ended before {len(left)} streams")
        kind, flags, stream, payload = got
        expect(kind != GOAWAY or int.from_bytes(payload[4:8], "big") == 0, f"GOAWAY {payload[:8].hex()}")
        if stream not in left:
            continue
        if kind == DATA:
            bodies[stream].append(payload)
        if kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
            ended[stream] = kind if kind != RST_STREAM else -int.from_bytes(payload, "big")
            left.discard(stream)
    return ended, bodies


def last_bytes(chosen, tls):
    """The frame with the last byte ends the stream: a client that counts bytes need not reset it."""
    connection = Connection(chosen.public, tls)
    for method, path, body in (("GET", "/.well-known/countersign", None), ("GET", "/openapi.json", None),
                               ("POST", "/certificates", b'{"csr":"x"}'), ("GET", "/nowhere", None)):
        stream = connection.request(method, path, body, content_type="application/json")
        ended, bodies = ends(connection, [stream])
        equal(ended[stream], DATA, f"what ends {method} {path}")
        expect(all(bodies[stream]), f"{method} {path} ends by an empty frame")
    # As curl 7.88 does: complete is what Content-Length says, and whatever is open then is reset.
    asked = 1000
    for _ in range(asked):
        stream = connection.request("GET", "/.well-known/jwks.json")
        while True:
            got = connection.read()
            expect(got is not None, "the connection of a client that counts bytes was ended")
            kind, flags, of, payload = got
            expect(kind != GOAWAY, f"a client that counts bytes got GOAWAY {payload[:8].hex()}")
            if of == stream and kind == DATA and payload:
                if not flags & END_STREAM:
                    connection.send(frame(RST_STREAM, 0, stream, STREAM_CLOSED.to_bytes(4, "big")))
                break
    connection.close()
    print(f"{asked} requests of a client that counts bytes")


def honest(chosen, tls):
    """Streams that are cancelled together, pings in a row and a stream too many end nothing else."""
    connection = Connection(chosen.public, tls)
    for _ in range(4):
        requests = [connection.request("GET", "/openapi.json", send=False) for _ in range(40)]
        connection.send(*(frames for _, frames in requests))
        connection.send(*(frame(RST_STREAM, 0, stream, CANCEL.to_bytes(4, "big")) for stream, _ in requests))
        time.sleep(0.3)
    connection.send(*(frame(PING, 0, 0, bytes(7) + bytes([count])) for count in range(50)))
    # More streams than are allowed, each with a body that is still to come.
    begun = []
    for _ in range(50):
        stream, connection.next = connection.next, connection.next + 2
        begun.append(stream)
    connection.send(*(frame(HEADERS, END_HEADERS, stream, head("POST", "/certificates", content_type="application/json"))
                      for stream in begun))
    refused, answered = set(), 0
    while len(refused) < 10:
        got = connection.read()
        expect(got is not None and got[0] != GOAWAY, f"the connection ended: {got}")
        if got[0] == RST_STREAM and got[2] in begun:
            equal(int.from_bytes(got[3], "big"), REFUSED_STREAM, "the code")
            refused.add(got[2])
    equal(sorted(refused), begun[40:], "the refused streams")
    connection.send(*(frame(DATA, END_STREAM, stream, b'{"csr":"x"}') for stream in begun[:40]))
    ended, _ = ends(connection, begun[:40])
    answered = sum(how == DATA for how in ended.values())
    equal(answered, 40, "the answered streams")
    connection.close()
    print("160 cancelled streams, 50 pings and 10 streams too many end nothing else")


def half_closed(chosen, tls):
    """A header block behind the end of a request is an error of its stream, STREAM_CLOSED (RFC 9113, section 5.1)."""
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    for url, shown in ((chosen.public, tls), (chosen.client, context(chosen.ca, device.files))):
        connection = Connection(url, shown)
        for method, path, body in (("GET", "/openapi.json", None), ("POST", "/certificates", b'{"csr":"x"}'),
                                   ("GET", "/nonce", None), ("GET", "/nowhere", None)):
            stream, frames = connection.request(method, path, body, send=False, content_type="application/json")
            # Sent at once, so that no answer has closed the stream before.
            connection.send(frames, frame(HEADERS, END_HEADERS | END_STREAM, stream, head("GET", "/")))
            ended, _ = ends(connection, [stream])
            equal(ended[stream], -STREAM_CLOSED, f"what ends {method} {path}")
        stream = connection.request("GET", "/nowhere")
        equal(ends(connection, [stream])[0][stream], DATA, "what ends the next stream")
        connection.close()
    print("a header block behind a request: STREAM_CLOSED, and the connection goes on")


def malformed(chosen, tls):
    """A malformed request is an error of its stream, PROTOCOL_ERROR (RFC 9113, section 8.1.1)."""
    plain, marks = head("GET", "/nowhere"), "\u0301" * 2000
    blocks = [
        plain + literal(name, value) for name, value in (
            ("te", marks), ("te", "trailers" + marks), ("te", "gzip"), ("connection", "close"), ("Upper", "x"),
            ("x", "a\nb"), (":path", "/"), (":unknown", "x"), ("content-length", "5"),
            ("content-length", "x"))]
    blocks += [
        plain + literal("content-length", "1" + marks) + literal("content-length", marks + "1"),
        literal(":method", "GET" + marks) + literal(":scheme", "https") + literal(":path", "/"),
        literal(":method", "GET") + literal(":scheme", "https")]
    connection = Connection(chosen.public, tls)

    def ask(block, *frames, flags=END_STREAM):
        stream, connection.next = connection.next, connection.next + 2
        connection.send(frame(HEADERS, END_HEADERS | flags, stream, block), *(make(stream) for make in frames))
        return ends(connection, [stream])[0][stream]

    for block in blocks:
        equal(ask(block), -PROTOCOL_ERROR, f"what ends {block[:120]}")
    post = head("POST", "/certificates", content_type="application/json", content_length="3")
    for body in (b"{}", b"{}  "):
        equal(ask(post, lambda stream, body=body: frame(DATA, END_STREAM, stream, body), flags=0), -PROTOCOL_ERROR,
              f"what ends a body of {len(body)} bytes")
    trailers = lambda stream: frame(HEADERS, END_HEADERS | END_STREAM, stream, literal("te", marks))  # noqa: E731
    equal(ask(post, lambda stream: frame(DATA, 0, stream, b"{} "), trailers, flags=0), -PROTOCOL_ERROR, "trailers")
    equal(ask(plain + literal("te", "trailers")), DATA, "what ends a request with its te")
    connection.close()
    print(f"{len(blocks) + 3} malformed requests: PROTOCOL_ERROR, and the connection goes on")


def floods(chosen, tls):
    """A rapid reset, malformed requests, and frames of any kind without a request are ended by GOAWAY."""
    def reset(connection):
        stream, frames = connection.request("GET", "/openapi.json", send=False)
        return frames + frame(RST_STREAM, 0, stream, CANCEL.to_bytes(4, "big"))

    def always(*parts):
        return lambda _: frame(*parts)

    def wrong(connection):
        return connection.request("GET", "/openapi.json", send=False, te="gzip")[1]

    for name, make in (
            ("resets", reset), ("malformed requests", wrong), ("pings", always(PING, 0, 0, b"12345678")),
            ("settings", always(SETTINGS, 0, 0, b"")), ("priorities", always(PRIORITY, 0, 1, bytes(5))),
            ("window updates", always(WINDOW_UPDATE, 0, 0, b"\0\0\0\1")), ("unknown frames", always(254, 0, 0, bytes(8)))):
        connection = Connection(chosen.public, tls)
        code, sent = None, 0
        while code is None:
            # What has come is read first: a write to a connection that was ended may cost the last frames.
            while code is None and (sent >= 2000 or connection.has_news()):
                got = connection.read()
                expect(got is not None, f"no GOAWAY after {sent} {name}")
                if got[0] == GOAWAY:
                    code = int.from_bytes(got[3][4:8], "big")
            if code is None:
                with contextlib.suppress(OSError):
                    connection.send(*(make(connection) for _ in range(20)))
                sent += 20
        equal(code, ENHANCE_YOUR_CALM, f"the code after {sent} {name}")
        print(f"{name}: ended")


def certifications(chosen, tls):
    """Twenty certifications on one connection are all answered; it is told to go away, and ends after them."""
    connection = Connection(chosen.public, tls)
    devices = [Device(chosen.public, chosen.client, chosen.ca, "EC") for _ in range(20)]
    requests = [connection.request("POST", "/certificates", json.dumps({"csr": device.layer_csr()}).encode(), send=False,
                                   content_type="application/json") for device in devices]
    bodies, certificates, goaways, closed = {stream: b"" for stream, _ in requests}, 0, [], False
    connection.send(*(frames for _, frames in requests))
    while not closed:
        got = connection.read()
        if got is None:
            closed = True
            break
        kind, flags, stream, payload = got
        if kind == GOAWAY:
            goaways.append((int.from_bytes(payload[:4], "big"), int.from_bytes(payload[4:8], "big")))
        if kind == DATA:
            bodies[stream] += payload
            if flags & END_STREAM:
                certificates += "certificate" in json.loads(bodies[stream])
    equal(certificates, 20, "the certificates that arrived")
    equal([code for _, code in goaways], [0, 0], "the codes of GOAWAY")
    equal(goaways[-1][0], requests[-1][0], "the last stream that GOAWAY names")
    print("20 certificates of 20, then GOAWAY and the end")


def main():
    chosen = options.parser(__doc__).parse_args()
    for part in (last_bytes, honest, half_closed, malformed, floods, certifications):
        part(chosen, context(chosen.ca))


if __name__ == "__main__":
    main()
