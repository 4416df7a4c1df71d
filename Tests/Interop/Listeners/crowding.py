"""Too many connections: of one address, of one certificate, of all. Who is idle gives way, the oldest first, and so
does who keeps the service waiting; what waits is served as soon as one has given way; and the probes' listener stands
apart.

The service's policy takes 24 connections on a listener, 16 of an address and 4 of a certificate; its limits are on.
This machine has all of 127.0.0.0/8.
"""

import socket
import threading
import time
import urllib.parse
import urllib.request

from HTTP import http2_frames
from Shared import options
from Shared.checks import accepted, equal, expect, soon
from Shared.client import Device
from HTTP.http2_frames import DATA, END_HEADERS, HEADERS, PING, context, frame

# Nothing says when the service has noticed that a client closed: on a busy machine 0.3 s were too short.
PAUSE = 1.5
TOTAL, ADDRESS, CERTIFICATE = 24, 16, 4
ASK = b"GET /.well-known/jwks.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = b"POST /certificates HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"
REST = b'"csr":"x"}'


class Connection:
    """One over TLS, from an address of choice."""

    def __init__(self, url, tls, source="127.0.0.1"):
        parts = urllib.parse.urlsplit(url)
        plain = socket.create_connection((parts.hostname, parts.port), timeout=60, source_address=(source, 0))
        self.tls = tls.wrap_socket(plain, server_hostname="localhost")

    def ask(self, request=ASK):
        """The status of one request; `None` where the connection has ended."""
        try:
            self.tls.sendall(request)
            answer = b""
            while b"\r\n\r\n" not in answer or len(answer.partition(b"\r\n\r\n")[2]) < length(answer):
                chunk = self.tls.recv(65536)
                if not chunk:
                    return None
                answer += chunk
        except OSError:
            return None
        return int(answer.split()[1])

    def begin(self):
        """Sends a request and half of another at once: whose answer has come, the service is at work for."""
        equal(self.ask(ASK + HALF), 200, "the answer before the half")

    def is_open(self):
        """Whether the service has not closed it; nothing is sent."""
        self.tls.settimeout(0.01)
        try:
            open_ = bool(self.tls.recv(1))
        except TimeoutError:
            open_ = True
        except OSError:
            open_ = False
        self.tls.settimeout(60)
        return open_

    def close(self):
        self.tls.close()


def length(answer):
    for line in answer.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def settled(condition, what):
    """Waits for what another thread does in a moment: less than the request timeout, which ends one, too."""
    soon(condition, what, seconds=15)


def metric(chosen, name):
    """The sum of a counter."""
    text = urllib.request.urlopen(chosen.ops + "/metrics", timeout=60).read().decode()
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def by_address(chosen, tls):
    """The idle ones of an address give way, the oldest first; those at work do not."""
    idle = []
    for _ in range(ADDRESS):
        idle.append(Connection(chosen.public, tls, "127.0.0.2"))
        equal(idle[-1].ask(), 200, "the answer")
    late = [Connection(chosen.public, tls, "127.0.0.2") for _ in range(2)]
    equal([one.ask() for one in late], [200, 200], "the answers to those beyond the limit")
    settled(lambda: not idle[0].is_open() and not idle[1].is_open(), "the oldest did not give way")
    expect(all(one.is_open() for one in idle[2:]), "others gave way")
    for one in idle + late:
        one.close()
    settled(lambda: metric(chosen, "countersign_connections_gave_way_total") >= 2, "nothing was counted")
    time.sleep(PAUSE)

    busy = [Connection(chosen.public, tls, "127.0.0.2") for _ in range(ADDRESS)]
    for one in busy:
        one.begin()
    try:
        refused = Connection(chosen.public, tls, "127.0.0.2").ask() is None
    except OSError:
        refused = True
    expect(refused, "one beyond those at work was served")
    other = Connection(chosen.public, tls, "127.0.0.3")
    equal(other.ask(), 200, "the answer to another address")
    other.close()
    equal([one.ask(REST) for one in busy], [422] * ADDRESS, "the answers to those at work")
    for one in busy:
        one.close()
    expect(metric(chosen, "countersign_connections_refused_total") >= 1, "no refusal was counted")
    time.sleep(PAUSE)
    print("by address: idle ones gave way, none at work")


def by_certificate(chosen):
    """The same by certificate, from several addresses."""
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    tls = context(chosen.ca, device.files)
    ask = b"POST /nonces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
    open_ = []
    for index in range(CERTIFICATE + 1):
        open_.append(Connection(chosen.client, tls, f"127.0.0.{index + 4}"))
        equal(open_[-1].ask(ask), 201, "the answer")
    settled(lambda: not open_[0].is_open(), "the oldest did not give way")
    expect(all(one.is_open() for one in open_[1:]), "others gave way")
    for one in open_:
        one.close()
    print("by certificate: the oldest gave way")


def full(chosen, tls):
    """A full listener: the longest idle one gives way; where all are at work one waits, until a request has stood still
    for two seconds; probes are answered."""
    time.sleep(0.5)
    idle = [Connection(chosen.public, tls, "127.0.0.9")]
    equal(idle[0].ask(), 200, "the answer")
    busy = [Connection(chosen.public, tls, f"127.0.0.{10 + index % 3}") for index in range(TOTAL - 1)]
    for one in busy:
        one.begin()
    next_ = Connection(chosen.public, tls, "127.0.0.20")
    equal(next_.ask(), 200, "the answer to one more")
    settled(lambda: not idle[0].is_open(), "the idle one did not give way")
    expect(next_.is_open(), "the one that the idle one gave way to was closed")
    next_.begin()
    # One more is taken at any time, for which the first that stands still makes room; those after it wait.
    beyond = Connection(chosen.public, tls, "127.0.0.20")
    beyond.begin()
    answers = []

    def wait():
        answers.append(Connection(chosen.public, tls, "127.0.0.21").ask())

    waiting = threading.Thread(target=wait)
    waiting.start()
    equal(urllib.request.urlopen(chosen.ops + "/livez", timeout=60).status, 200, "a probe's answer")
    waiting.join(timeout=60)
    equal(answers, [200], "the answer to the one that waited while nobody answered")
    expect(metric(chosen, "countersign_connections_waited_total") >= 1, "nothing was counted")
    closed = [not one.is_open() for one in busy]
    # Which of them began first is the service's to say: on a busy machine it reads them in another order.
    expect(1 <= sum(closed) <= 3, f"those that gave way: {closed}")
    left = [one for one, is_closed in zip(busy, closed) if not is_closed] + [next_, beyond]
    expect(len(left) >= TOTAL - 4, f"{len(left)} are left")
    equal([one.ask(REST) for one in left], [422] * len(left), "the answers to the others")
    for one in left:
        one.close()
    time.sleep(PAUSE)
    print("full: the idle one gave way, then one that stood still, probes were answered")


def still(chosen, tls):
    """Bodies that do not come and answers that are not taken keep no place, over HTTP/1.1 and HTTP/2."""
    http2 = context(chosen.ca)
    held = []
    for index in range(TOTAL):
        source = f"127.0.0.{30 + index % 3}"
        if index % 3 == 0:
            held.append(Connection(chosen.public, tls, source))
            held[-1].begin()
            continue
        takes = index % 3 == 2
        held.append(http2_frames.Connection(chosen.public, http2, window=1 << 20 if takes else 0, source=source))
        if takes:
            block = http2_frames.head("POST", "/certificates", content_type="application/json")
            held[-1].send(frame(HEADERS, END_HEADERS, 1, block), frame(DATA, 0, 1, b"{"), frame(PING, 0, 0, bytes(8)))
        else:
            held[-1].request("GET", "/openapi.json")
        got = (None,)
        while got[0] != (PING if takes else HEADERS):
            got = held[-1].read()
            expect(got is not None, "the connection ended")
    # All of them have stood still for two seconds by then: nobody waits for longer.
    time.sleep(2.5)
    new = [Connection(chosen.public, tls, "127.0.0.40") for _ in range(6)]
    equal([one.ask() for one in new], [200] * 6, "the answers to new ones")
    settled(lambda: all(is_gone(one) for one in held[:6]), "the first did not give way")
    expect(not any(is_gone(one) for one in held[6:]), "others gave way")
    for one in held + new:
        one.close()
    print("bodies and answers that stood still gave way, the oldest first")


def is_gone(connection):
    """Whether the service has closed it."""
    if isinstance(connection, Connection):
        return not connection.is_open()
    connection.tls.settimeout(0.01)
    try:
        while connection.read() is not None:
            pass
        return True
    except TimeoutError:
        return False


def main():
    chosen = options.parser(__doc__).parse_args()
    tls = context(chosen.ca)
    by_address(chosen, tls)
    by_certificate(chosen)
    full(chosen, tls)
    still(chosen, tls)


if __name__ == "__main__":
    main()
