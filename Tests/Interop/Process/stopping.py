"""Asks a busy service to stop, and counts the requests that were sent whole and got no answer.

`--mode load`: clients that connect for each request and clients that stay, a request whose body is still on its way.
`--mode http2`: a stream whose body is still on its way, on a connection that is told to go away.
`--mode limit`: somebody holds a request for ever; the service ends at its own limit.
`--mode twice`: the same, with a limit that is far away and a second signal.
"""

import http.client
import os
import signal
import socket
import ssl
import threading
import time
import urllib.parse

import h2.config
import h2.connection

from Shared import options
from Shared.checks import accepted, equal, expect, soon
from Shared.client import Device

WORKERS = 6
DATA, SETTINGS, PING, GOAWAY = 0, 4, 6, 7  # the types of HTTP/2 frames


class Client:
    """One worker's connection, and what became of its requests."""

    def __init__(self, chosen, device, stays):
        self.address = urllib.parse.urlsplit(chosen.client)
        self.context = ssl.create_default_context(cafile=chosen.ca)
        self.context.load_cert_chain(*device.files)
        self.stays = stays
        self.answered = self.cut = self.unavailable = 0
        self.connection = None

    def connect(self):
        """A new connection, or an error where nobody listens any more."""
        self.connection = http.client.HTTPSConnection(
            self.address.hostname, self.address.port, timeout=60, context=self.context)
        self.connection.connect()
        self.connection.auto_open = 0

    def work(self):
        """Asks until nobody listens."""
        while True:
            if self.connection is None:
                try:
                    self.connect()
                except OSError:
                    return
            try:
                self.connection.request("POST", "/nonces", headers={} if self.stays else {"Connection": "close"})
            except OSError:
                self.connection = None  # not sent whole
                continue
            try:
                answer = self.connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                self.cut += 1
                self.connection = None
                continue
            self.answered += 1
            self.unavailable += answer.status == 503
            if not self.stays or answer.headers.get("Connection", "").lower() == "close":
                self.connection.close()
                self.connection = None
            time.sleep(0.002)


def begun(chosen, device, data):
    """A request of which this was sent."""
    address = urllib.parse.urlsplit(chosen.client)
    context = ssl.create_default_context(cafile=chosen.ca)
    context.load_cert_chain(*device.files)
    tls = context.wrap_socket(
        socket.create_connection((address.hostname, address.port), timeout=60), server_hostname=address.hostname)
    tls.sendall(data)
    return tls


def half(chosen, device):
    """A request whose head and first byte of body were sent."""
    return begun(
        chosen, device,
        b"POST /sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n{")


def load(chosen, device):
    """The service stops among many requests."""
    clients = [Client(chosen, device, index % 2 == 0) for index in range(WORKERS)]
    threads = [threading.Thread(target=client.work) for client in clients]
    for thread in threads:
        thread.start()
    time.sleep(1.5)
    soon(lambda: sum(client.answered for client in clients) > 20, "there was no load")
    late = half(chosen, device)
    later = begun(chosen, device, b"POST /nonces HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nX-La")
    time.sleep(0.2)
    os.kill(chosen.pid, signal.SIGTERM)
    for thread in threads:
        thread.join(timeout=15)  # less than the shutdown timeout, which ends everyone
    expect(not any(thread.is_alive() for thread in threads), "a client is still served")
    time.sleep(1.5)
    late.sendall(b'"identity_token":"a.b"}')
    answer = late.recv(65536)
    expect(answer.startswith(b"HTTP/1.1 422"), f"the late request was answered by {answer[:200]!r}")
    expect(b"connection: close" in answer.lower(), "the last answer does not say that it is the last")
    # Judged only now, by a view of the store that must still be fresh.
    later.sendall(b"te: x\r\n\r\n")
    answer = later.recv(65536)
    expect(answer.startswith(b"HTTP/1.1 201"), f"the later request was answered by {answer[:300]!r}")
    answered = sum(client.answered for client in clients)
    print(f"{answered} answered, {sum(client.cut for client in clients)} cut")
    equal(sum(client.cut for client in clients), 0, "the requests without an answer")
    equal(sum(client.unavailable for client in clients), 0, "the answers 503")


def http2(chosen, device):
    """Everything that the service says on an HTTP/2 connection during a stop; the stream is answered in the end."""
    address = urllib.parse.urlsplit(chosen.client)
    context = ssl.create_default_context(cafile=chosen.ca)
    context.load_cert_chain(*device.files)
    context.set_alpn_protocols(["h2"])
    tls = context.wrap_socket(
        socket.create_connection((address.hostname, address.port), timeout=60), server_hostname=address.hostname)
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    connection.initiate_connection()
    connection.send_headers(1, [
        (":method", "POST"), (":path", "/sessions"), (":scheme", "https"), (":authority", address.netloc),
        ("content-type", "application/json")])
    connection.send_data(1, b"{")
    tls.sendall(connection.data_to_send())
    seen = []

    def frames():
        """Reads frames (RFC 9113, section 4.1) until the end, and acknowledges settings and pings as they come."""
        data = b""
        while chunk := tls.recv(65536):
            data += chunk
            while len(data) >= 9 and len(data) >= (end := 9 + int.from_bytes(data[:3], "big")):
                kind, flags, payload = data[3], data[4], data[9:end]
                data = data[end:]
                if kind in (SETTINGS, PING) and not flags & 1:
                    echo = payload if kind == PING else b""
                    tls.sendall(len(echo).to_bytes(3, "big") + bytes([kind, 1]) + bytes(4) + echo)
                seen.append((kind, payload))
                yield kind, payload

    # From here by hand: a client's state machine takes no more after GOAWAY.
    received = frames()
    next(kind for kind, _ in received if kind == SETTINGS)
    time.sleep(0.3)
    os.kill(chosen.pid, signal.SIGTERM)
    next(kind for kind, _ in received if kind == GOAWAY)
    time.sleep(1)
    rest = b'"identity_token":"a.b"}'
    tls.sendall(len(rest).to_bytes(3, "big") + b"\x00\x01" + (1).to_bytes(4, "big") + rest)
    started = time.monotonic()
    answer = b"".join(payload for kind, payload in received if kind == DATA)
    expect(b"invalid_identity_token" in answer, f"the stream was answered by {seen}")
    expect(time.monotonic() - started < 3, "the connection stays open after its last stream")


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--mode", required=True)
    parser.add_argument("--pid", required=True, type=int)
    chosen = parser.parse_args()
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    if chosen.mode == "load":
        return load(chosen, device)
    if chosen.mode == "http2":
        return http2(chosen, device)
    held = half(chosen, device)
    time.sleep(0.3)
    os.kill(chosen.pid, signal.SIGTERM)
    if chosen.mode == "twice":
        time.sleep(1.5)
        os.kill(chosen.pid, 0)  # still there
        os.kill(chosen.pid, signal.SIGTERM)
    started = time.monotonic()
    held.settimeout(60)
    try:
        equal(held.recv(1), b"", "what the held request got")
    except ConnectionError:
        pass
    expect(time.monotonic() - started < 5, "the held request was not ended in time")


if __name__ == "__main__":
    main()
