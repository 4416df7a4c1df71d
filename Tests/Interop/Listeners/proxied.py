"""Speaks the PROXY protocol (versions 1 and 2) ahead of TLS, from a network that must and from one that must not.

The service's policy lists 127.0.0.1/32 and lets an address certify twice an hour; its rate limits are on. This machine
has all of 127.0.0.0/8.
"""

import ipaddress
import json
import socket
import ssl
import struct
import threading
import time
import urllib.parse

from Shared import options
from Shared.checks import equal, expect
from Shared.client import Device
from Certificates.handshakes import counted

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def header(source=None, command=0x21, extensions=b""):
    """A header that names a client; without one, of a connection of the proxy's own."""
    if source is None:
        return SIGNATURE + struct.pack("!BBH", 0x20, 0, len(extensions)) + extensions
    address = ipaddress.ip_address(source)
    block = address.packed + address.packed + struct.pack("!HH", 49153, 8440) + extensions
    return SIGNATURE + struct.pack("!BBH", command, 0x11 if address.version == 4 else 0x21, len(block)) + block


class Proxy:
    """Connections to the service, each after some bytes in the clear."""

    def __init__(self, chosen):
        self.chosen = chosen
        self.context = ssl.create_default_context(cafile=chosen.ca)

    def open(self, url, first, origin="127.0.0.1", pieces=1, context=None):
        """A TLS connection behind `first`."""
        parts = urllib.parse.urlsplit(url)
        plain = socket.create_connection((parts.hostname, parts.port), timeout=60, source_address=(origin, 0))
        size = max(1, -(-len(first) // pieces))
        for start in range(0, len(first), size):
            plain.sendall(first[start:start + size])
            if pieces > 1:
                time.sleep(0.02)
        return (context or self.context).wrap_socket(plain, server_hostname="127.0.0.1")

    def certify(self, first, **arguments):
        """Certifies a new device; the status."""
        device = Device(self.chosen.public, self.chosen.client, self.chosen.ca, "EC")
        body = json.dumps({"csr": device.layer_csr()}).encode()
        with self.open(self.chosen.public, first, **arguments) as tls:
            tls.sendall(b"POST /certificates HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        + f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
            answer = b""
            while chunk := tls.recv(65536):
                answer += chunk
        head, _, body = answer.partition(b"\r\n\r\n")
        status = int(head.split()[1])
        if status == 201:
            device.adopt(json.loads(body))
        return status, device

    def refused(self, first, **arguments):
        """Whether the connection gets nowhere, and after how many seconds."""
        started = time.monotonic()
        try:
            self.open(self.chosen.public, first, **arguments).close()
        except OSError:
            return time.monotonic() - started
        raise AssertionError(f"{first[:40]!r} was accepted")


def main():
    chosen = options.parser(__doc__).parse_args()
    proxy = Proxy(chosen)

    def statuses(count, *arguments, **named):
        return [proxy.certify(*arguments, **named)[0] for _ in range(count)]

    # Limits count the clients, not the proxy.
    equal(statuses(3, header("203.0.113.5")), [201, 201, 429], "the statuses of one client")
    equal(statuses(1, header("203.0.113.6")), [201], "the status of its neighbour")
    equal(statuses(2, header("2001:db8::1")) + statuses(1, header("2001:db8::ffff")), [201, 201, 429], "of a /64")
    equal(statuses(1, header("2001:db8:0:1::1")), [201], "the status of the next /64")
    equal(statuses(1, header("203.0.113.7", extensions=b"\x01\x00\x02h2" + b"\x04\x01\x00" + b"\0" * 256)), [201], "TLVs")
    equal(statuses(1, header("203.0.113.8"), pieces=7), [201], "the status of a header in pieces")
    line = b"PROXY %s %s 192.0.2.1 49153 8440\r\n"
    equal(statuses(3, line % (b"TCP4", b"203.0.113.10")), [201, 201, 429], "the statuses of one client, by version 1")
    equal(statuses(1, line % (b"TCP4", b"203.0.113.11"), pieces=5), [201], "the status of its neighbour, in pieces")
    equal(statuses(1, b"PROXY TCP6 2001:db8:1::1 2001:db8::1 49153 8440\r\n"), [201], "the status of an IPv6 client")
    equal(statuses(3, header()), [201, 201, 429], "the statuses of the proxy itself")

    # The client listener too: its handshake stands behind the header.
    _, device = proxy.certify(header("203.0.113.9"))
    context = ssl.create_default_context(cafile=chosen.ca)
    context.load_cert_chain(*device.files)
    with proxy.open(chosen.client, header("203.0.113.9"), context=context) as tls:
        tls.sendall(b"POST /nonces HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        expect(tls.recv(65536).startswith(b"HTTP/1.1 201"), "no nonce behind the header")

    for url, shown in ((chosen.public, None), (chosen.client, context)):
        networks(proxy, url, shown)

    # What must have a header and has none, or another one.
    for first in (b"", b"PROXY TCP4 203.0.113.5 192.0.2.1 049153 8440\r\n", header("203.0.113.5", command=0x22),
                  header("203.0.113.5", command=0x11), SIGNATURE + b"\x21\x11\x00\x04\0\0\0\0",
                  SIGNATURE + b"\x21\x11\xff\xff", header("203.0.113.5", extensions=b"\0" * 600),
                  header("203.0.113.5") * 2):
        expect(proxy.refused(first) < 4, "not refused at once")
    slow = []
    threads = [threading.Thread(target=lambda part=part: slow.append(stalled(proxy, part)))
               for part in (b"", header("203.0.113.5")[:14], header("203.0.113.5")[:-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(all(seconds < 4 for seconds in slow), f"a header that stops is waited for {slow}")
    # Of the eight above the last has a header, before something that is no TLS.
    found = counted(chosen)
    for kind, count in (("proxy_header", 7), ("not_tls", 1), ("timeout", 3)):
        equal(found.get(("public", kind)), count, f"the number of handshakes that failed by {kind}")

    # From elsewhere no header is accepted, and none is needed.
    for first in (header("203.0.113.99"), line % (b"TCP4", b"203.0.113.99")):
        expect(proxy.refused(first, origin="127.0.0.2") < 4, "not refused at once")
    equal(statuses(3, b"", origin="127.0.0.2"), [201, 201, 429], "the statuses of a direct client")
    equal(statuses(1, b"", origin="127.0.0.3"), [201], "the status of another")
    print("the proxy's clients are told apart")


def networks(proxy, url, context):
    """Connections count by /56 and by /48 too: beyond 6 and 8, from as many networks of /64, the first gives way."""
    for limit, addresses in ((6, [f"2001:db8:5:{number}::1" for number in range(7)]),
                             (8, [f"2001:db8:6:{number}00::1" for number in range(9)])):
        held = []
        for address in addresses:
            held.append(proxy.open(url, header(address), context=context))
            held[-1].sendall(b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
            expect(held[-1].recv(65536).startswith(b"HTTP/1.1 404"), f"no answer to {address}")
        for _ in range(100):
            if is_closed(held[0]):
                break
        else:
            raise AssertionError(f"beyond {limit} of a network none gave way")
        expect(not any(is_closed(one) for one in held[1:]), "others gave way")
        for one in held:
            one.close()


def is_closed(connection):
    """Whether the service has closed a connection; what it still says is let go."""
    connection.settimeout(0.05)
    try:
        while connection.recv(65536):
            pass
        return True
    except TimeoutError:
        return False
    except OSError:
        return True


def stalled(proxy, part):
    """How long a header that does not go on is waited for."""
    parts = urllib.parse.urlsplit(proxy.chosen.public)
    started = time.monotonic()
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as plain:
        plain.sendall(part)
        try:
            plain.recv(1)
        except ConnectionError:
            pass
    return time.monotonic() - started


if __name__ == "__main__":
    main()
