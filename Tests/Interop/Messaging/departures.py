"""Clients that wait and go away: their places are free at once, over HTTP/1.1 and over Herald.

    python3 departures.py …

The policy lets a user have eight synchronizations waiting.
"""

import re
import socket
import ssl
import struct
import urllib.parse
from types import SimpleNamespace

import requests

from Messaging.herald_client import OK, PUSH, Herald, Person
from Shared import options
from Shared.checks import accepted, equal, soon
from Shared.client import TIMEOUT
from Shared.transport import context

PLACES = 8


def waiting(chosen):
    """How many calls and push channels wait."""
    text = requests.get(chosen.ops + "/metrics", timeout=TIMEOUT).text
    return int(float(re.search(r"^countersign_waiting(?:\{[^}]*\})? (\S+)", text, re.M).group(1)))


def synchronize(chosen, person, anchor):
    """A connection on which a synchronization waits."""
    address = urllib.parse.urlsplit(chosen.client)
    tls = context(SimpleNamespace(authority=chosen.ca), person.device)
    tls.set_alpn_protocols(["http/1.1"])
    plain = socket.create_connection((address.hostname, address.port), TIMEOUT)
    wire = tls.wrap_socket(plain, server_hostname=address.hostname)
    wire.sendall(
        f"GET /sync?anchor={anchor}&wait=25 HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Authorization: Bearer {person.token}\r\n\r\n".encode())
    return wire


def watch(chosen, person, _):
    """A connection with a push channel."""
    herald = Herald(chosen, person.device)
    equal((herald.auth(person.token), herald.add(1, PUSH)), (OK, OK), "the push channel")
    return herald.socket


def finish(wire):
    """The client closes the connection (FIN)."""
    wire.close()


def notify(wire):
    """The client says that it sends no more (close_notify) and then closes."""
    wire.settimeout(0)
    try:
        wire.unwrap()
    except (ssl.SSLError, OSError):
        pass
    wire.close()


def reset(wire):
    """The client resets the connection (RST)."""
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


def main():
    chosen = options.parser(__doc__).parse_args()
    person = Person(chosen, options.provider(chosen), "ann")
    anchor = accepted(person.call("GET", "/sync?anchor=latest"))["anchor"]
    for wait in (synchronize, watch):
        for leave in (finish, notify, reset):
            what = f"{wait.__name__}, {leave.__name__}"
            # As many as the user may have: the next round would be refused.
            # Both waits together are shorter than the 25 s of a synchronization, which would end by itself.
            wires = [wait(chosen, person, anchor) for _ in range(PLACES)]
            soon(lambda: waiting(chosen) == PLACES, f"{what}: not all wait", seconds=12)
            for wire in wires:
                leave(wire)
            # Much less than the wait, so the places are free because the clients are gone.
            soon(lambda: waiting(chosen) == 0, f"{what}: somebody still waits", seconds=12)


if __name__ == "__main__":
    main()
