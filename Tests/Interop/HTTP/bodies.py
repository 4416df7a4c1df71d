"""Bodies over the limit, on every listener: told by a length or grown in chunks, read by a route or by none, over
HTTP/1.1 and HTTP/2. Each is refused by the contract's code, and the refusal arrives however much is still on its way."""

import json
import re
import socket
import ssl
import time
import urllib.parse

import h2.config
import h2.connection
import h2.events
import requests

from Shared import options
from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT, Device

LIMIT = 65_536
MUCH = 8_000_000
PATIENCE = 60  # seconds against hanging
# A refused connection must have ended before the request timeout, 20 s, would end it.
END = 15


class Ends:
    """Opens sockets to the three listeners."""

    def __init__(self, chosen, device):
        self.urls = {"public": chosen.public, "client": chosen.client, "ops": chosen.ops}
        self.ca, self.device = chosen.ca, device

    def open(self, listener, http2=False):
        parts = urllib.parse.urlsplit(self.urls[listener])
        plain = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)
        if parts.scheme == "http":
            return plain
        context = ssl.create_default_context(cafile=self.ca)
        if listener == "client":
            context.load_cert_chain(*self.device.files)
        context.set_alpn_protocols(["h2" if http2 else "http/1.1"])
        return context.wrap_socket(plain, server_hostname="localhost")


def head(method, path, *fields):
    """The bytes of a request's head."""
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *fields, "", ""]).encode()


def read(connection):
    """Status, header and JSON of one answer."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        expect(more, f"the connection ended before an answer: {data!r}")
        data += more
    header, body = data.split(b"\r\n\r\n", 1)
    fields = {name.lower(): value for name, value in re.findall(r"\r\n([^:]+): *([^\r]*)", header.decode())}
    while len(body) < int(fields.get("content-length", 0)):
        body += connection.recv(65536)
    return int(header.split()[1]), fields, json.loads(body) if body[:1] == b"{" else None


def expect_refused(connection, what):
    """The contract's refusal, and the end of the connection after it."""
    status, fields, body = read(connection)
    equal((status, body and body["code"]), (413, "payload_too_large"), what)
    equal(fields.get("connection", "").lower(), "close", f"{what}: Connection")
    return fields


def expect_end(connection, what):
    """The service ends the connection in time."""
    started = time.monotonic()
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    expect(time.monotonic() - started < END, f"{what}: the connection stays open")
    connection.close()


PATHS = [
    ("public", "POST", "/certificates"), ("public", "GET", "/openapi.json"), ("public", "POST", "/no-such-path"),
    ("client", "POST", "/nonces"), ("client", "GET", "/sessions/current"), ("client", "POST", "/sessions"),
    ("ops", "GET", "/livez"),
]


def by_length(ends):
    """A length over the limit is refused before a byte of the body comes, whatever the path."""
    for listener, method, path in PATHS:
        for length in (LIMIT + 1, 10**19):
            connection = ends.open(listener)
            connection.sendall(head(method, path, f"Content-Length: {length}", "Content-Type: application/json"))
            expect_refused(connection, f"{listener} {path} {length}")
            connection.close()
    connection = ends.open("public")
    connection.sendall(
        head("POST", "/certificates", f"Content-Length: {LIMIT}", "Content-Type: application/json") + b" " * LIMIT)
    equal(read(connection)[0], 400, "a body at the limit")
    connection.sendall(head("GET", "/"))
    equal(read(connection)[0], 200, "the connection goes on")
    connection.close()


def sent_whole(ends):
    """Who sends all of it before reading still reads the refusal."""
    for listener, method, path in PATHS:
        connection = ends.open(listener)
        connection.sendall(head(method, path, f"Content-Length: {MUCH}", "Content-Type: application/json"))
        for _ in range(MUCH // 80_000):
            connection.sendall(b"x" * 80_000)
        expect_refused(connection, f"{listener} {path} sent whole")
        expect_end(connection, f"{listener} {path} sent whole")


def in_chunks(ends):
    """A body in chunks is refused once it is over the limit; one below it is read."""
    chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    refused = []
    for listener, method, path in PATHS:
        connection = ends.open(listener)
        connection.sendall(head(method, path, "Transfer-Encoding: chunked", "Content-Type: application/json"))
        for _ in range(18):
            connection.sendall(chunk)
        expect_refused(connection, f"{listener} {path} in chunks")
        refused.append(connection)
    # They never end their bodies, and the connections end all the same.
    for connection in refused:
        expect_end(connection, "a body without an end")
    connection = ends.open("public")
    connection.sendall(head("POST", "/certificates", "Transfer-Encoding: chunked", "Content-Type: application/json"))
    connection.sendall(b'b\r\n{"csr":"x"}\r\n0\r\n\r\n')
    status, _, body = read(connection)
    equal((status, body["code"]), (422, "invalid_csr"), "a small body in chunks")
    connection.sendall(head("GET", "/", "Transfer-Encoding: chunked") + b"3\r\nabc\r\n0\r\n\r\n")
    equal(read(connection)[0], 200, "a small body that nobody reads")
    connection.close()


class HTTP2:
    """An HTTP/2 connection."""

    def __init__(self, ends, listener):
        self.socket = ends.open(listener, http2=True)
        self.machine = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.machine.initiate_connection()
        self.flush()

    def flush(self):
        self.socket.sendall(self.machine.data_to_send())

    def request(self, method, path, fields=(), size=0):
        """The status of an answer, and whether the stream was cut off by a reset; sends up to `size` bytes."""
        stream = self.machine.get_next_available_stream_id()
        self.machine.send_headers(stream, [
            (":method", method), (":path", path), (":scheme", "https"), (":authority", "localhost"), *fields],
            end_stream=size == 0)
        status, ended, sent = None, False, 0
        while not ended:
            room = 0
            if sent < size:
                room = min(size - sent, self.machine.local_flow_control_window(stream),
                           self.machine.max_outbound_frame_size)
            if room:
                self.machine.send_data(stream, b"x" * room, end_stream=sent + room == size)
                sent += room
                self.flush()
                self.socket.settimeout(0.02)
            else:
                self.flush()
                self.socket.settimeout(PATIENCE)
            try:
                data = self.socket.recv(65536)
            except (TimeoutError, ssl.SSLWantReadError):
                expect(room, "no answer")
                continue
            expect(data, "the connection ended")
            for event in self.machine.receive_data(data):
                if isinstance(event, h2.events.ResponseReceived):
                    status = int(dict(event.headers)[":status"])
                if isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
                    ended = ended or event.stream_id == stream
        return status


def over_http2(ends):
    """A stream is refused alone: the connection serves the next one."""
    for listener, method, path in PATHS[:6]:
        connection = HTTP2(ends, listener)
        length = [("content-length", str(10 * LIMIT))]
        equal(connection.request(method, path, length, 10 * LIMIT), 413, f"{listener} {path} over HTTP/2")
        expect(connection.request("GET", "/nonce") in (401, 404), f"{listener}: the connection is worth nothing")
        connection.socket.close()
    connection = HTTP2(ends, "client")
    fields = [("content-type", "application/json")]
    equal(connection.request("POST", "/sessions", fields, 10 * LIMIT), 413, "no length over HTTP/2")
    equal(connection.request("GET", "/nonce"), 401, "the next stream")
    connection.socket.close()


def main():
    chosen = options.parser(__doc__).parse_args()
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    ends = Ends(chosen, device)
    for part in (by_length, sent_whole, in_chunks, over_http2):
        started = time.monotonic()
        part(ends)
        print(f"{part.__name__}: {time.monotonic() - started:.1f} s")
    equal(requests.get(chosen.ops + "/readyz", timeout=TIMEOUT).json()["ready"], True, "ready")


if __name__ == "__main__":
    main()
