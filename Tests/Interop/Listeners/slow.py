"""Slow, half-open and too many: each connection that gets nowhere is ended by its deadline, and the others are served.

The service's policy gives a handshake 2 s, a request 2 s, silence 6 s (over HTTP/2 and 2 s more to go away), and takes at
most 32 connections.
"""

import socket
import ssl
import threading
import time
import urllib.parse

from Shared import options
from Shared.checks import accepted, expect
from Shared.client import Device

LIMIT = 32
RESULTS = {}


class Slow:
    """Ways to get nowhere."""

    def __init__(self, chosen, device):
        self.chosen = chosen
        self.contexts = {}
        for url, certificate in ((chosen.public, None), (chosen.client, device.files)):
            context = ssl.create_default_context(cafile=chosen.ca)
            if certificate:
                context.load_cert_chain(*certificate)
            self.contexts[url, False] = context
            context = ssl.create_default_context(cafile=chosen.ca)
            if certificate:
                context.load_cert_chain(*certificate)
            context.set_alpn_protocols(["h2"])
            self.contexts[url, True] = context

    def plain(self, url):
        """A TCP connection."""
        parts = urllib.parse.urlsplit(url)
        return socket.create_connection((parts.hostname, parts.port), timeout=60)

    def tls(self, url, http2=False):
        """A connection after its handshake; the ops listener has none."""
        connection = self.plain(url)
        if url == self.chosen.ops:
            return connection
        return self.contexts[url, http2].wrap_socket(connection, server_hostname="localhost")


def seconds_to_end(connection, drip=None, pause=0.2):
    """How long the service keeps a connection; `drip` are bytes to send meanwhile."""
    started = time.monotonic()
    connection.settimeout(pause if drip else 20)
    while time.monotonic() - started < 20:
        try:
            if drip:
                connection.sendall(drip)
            if not connection.recv(65536):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    connection.close()
    return time.monotonic() - started


def measure(name, most, function, *arguments):
    """Runs one way, and notes whether it was ended in time."""
    try:
        RESULTS[name] = (function(*arguments), most)
    except Exception as error:
        RESULTS[name] = (error, most)


def begun(slow, url, data, http2=False):
    """A connection that has sent something after its handshake."""
    connection = slow.tls(url, http2)
    connection.sendall(data)
    return connection


def frame(kind, flags, stream, payload=b""):
    """An HTTP/2 frame (RFC 9113, section 4.1)."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def ways(slow):
    """Name, longest time, connection maker, and what it drips."""
    head = b"POST /certificates HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    for name in ("public", "client", "ops"):
        url = getattr(slow.chosen, name)
        if name != "ops":
            yield f"{name}: no handshake", 3, slow.plain, (url,), None
            yield f"{name}: a slow handshake", 3, slow.plain, (url,), b"\x16"
            # HTTP/2: silence, half a preface, a header block that does not end, a body that drips; no ping is answered.
            preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0)
            post = preface + frame(1, 4, 1, b"\x83\x84\x87\x01\x01x")
            yield f"{name}: HTTP/2, nothing", 9, slow.tls, (url, True), None
            yield f"{name}: HTTP/2, half a preface", 9, begun, (slow, url, preface[:9], True), None
            yield f"{name}: HTTP/2, a preface alone", 9, begun, (slow, url, preface, True), None
            yield (f"{name}: HTTP/2, a header without end", 9, begun,
                   (slow, url, preface + frame(1, 0, 1, b"\x83"), True), None)
            yield f"{name}: HTTP/2, a body that stops", 11, begun, (slow, url, post, True), None
            yield f"{name}: HTTP/2, a slow body", 11, begun, (slow, url, post, True), frame(0, 0, 1, b" ")
            yield f"{name}: HTTP/2, pings", 9, begun, (slow, url, preface, True), frame(6, 0, 0, b"12345678")
        yield f"{name}: nothing after the handshake", 6.5, slow.tls, (url,), None
        yield f"{name}: a slow header", 3, begun, (slow, url, b"GET / HTTP/1.1\r\nX-Slow: "), b"a"
        yield f"{name}: a header that stops", 3, begun, (slow, url, b"GET / HTTP/1.1\r\nX-Slow"), None
        yield f"{name}: a slow body", 3, begun, (slow, url, head + b"Content-Length: 5000\r\n\r\n{"), b" "
        yield f"{name}: a body that stops", 3.5, begun, (slow, url, head + b"Content-Length: 50\r\n\r\n{"), None
        yield (f"{name}: slow chunks", 3, begun, (slow, url, head + b"Transfer-Encoding: chunked\r\n\r\n"),
               b"1\r\na\r\n")


def too_many(slow):
    """More connections than are taken wait, and are served as soon as there is room."""
    held = [slow.plain(slow.chosen.public) for _ in range(LIMIT + 8)]
    started = time.monotonic()
    with slow.tls(slow.chosen.public) as late:
        late.sendall(b"GET /.well-known/countersign HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        expect(late.recv(65536).startswith(b"HTTP/1.1 200"), "the one behind the flood is not served")
    waited = time.monotonic() - started
    for connection in held:
        connection.close()
    print(f"behind {LIMIT + 8} idle connections: {waited:.1f} s")
    expect(1 < waited < 8, f"it waited {waited:.1f} s")


def main():
    chosen = options.parser(__doc__).parse_args()
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    slow = Slow(chosen, device)
    threads = []
    for name, most, make, arguments, drip in ways(slow):
        def run(make=make, arguments=arguments, drip=drip):
            return seconds_to_end(make(*arguments), drip)
        threads.append(threading.Thread(target=measure, args=(name, most, run)))
    for thread in threads:
        thread.start()
    # Meanwhile everybody else is served.
    for _ in range(20):
        accepted(device.ask_nonce(), 201)
        time.sleep(0.1)
    for thread in threads:
        thread.join()
    late = []
    for name, (taken, most) in sorted(RESULTS.items()):
        print(f"{name}: {taken if isinstance(taken, Exception) else f'{taken:.1f} s'} (at most {most} s)")
        if isinstance(taken, Exception) or taken > most + 1:
            late.append(name)
    expect(not late, f"too slow or broken: {late}")
    too_many(slow)
    accepted(device.ask_nonce(), 201)


if __name__ == "__main__":
    main()
