"""The fast path over a real connection: whole answers of it and of the routes, over HTTP/1.1 and HTTP/2, and what the
counters say of who answered. A query that means nothing leads a request to the routes."""

import re
import socket

import httpx
import requests

from Shared import options
from HTTP.bodies import Ends, head
from Shared.checks import World, accepted, equal, expect
from Shared.client import TIMEOUT
from HTTP.message_answers import tls

WAYS = ("", "?")


def counted(chosen):
    """How many requests the fast path has answered."""
    text = requests.get(chosen.ops + "/metrics", timeout=TIMEOUT).text
    return int(re.search(r"^countersign_fast_path_answers_total (\d+)$", text, re.M)[1])


def masked(data):
    """An answer without what differs by the moment."""
    for pattern in (rb"Date: [^\r]*", rb"X-Request-ID: [0-9a-f-]{36}", rb'"nonce":"[\w-]{64}"', rb'"expires_at":"[^"]*"', rb'"connection_id":"[^"]*"'):
        data = re.sub(pattern, b"...", data)
    return data


def raw(connection, request):
    """All bytes of one answer."""
    connection.sendall(request)
    data = b""
    while b"}" not in data:
        more = connection.recv(65536)
        expect(more, f"the connection ended: {data!r}")
        data += more
    return data


def first_requests(chosen, ends):
    """How many of 20 connections had their first request answered by the fast path."""
    before = counted(chosen)
    for _ in range(20):
        with ends.open("client") as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            raw(connection, head("POST", "/nonces", "Content-Length: 0"))
    return counted(chosen) - before


def main():
    chosen = options.parser(__doc__).parse_args()
    world = World(chosen.public, chosen.client, chosen.ops, chosen.ca, options.provider(chosen), None)
    device = world.device()
    token = world.log_in(device, world.user())["session_token"]
    field = f'Authorization: Layer session-token="{token}"'
    calls = (("GET", "/sessions/current", [field]), ("POST", "/nonces", ["Content-Length: 0"]))
    connection = Ends(chosen, device).open("client")
    raw(connection, head("GET", "/sessions/current?", field))  # attaches the session
    for method, path, fields in calls:
        before = counted(chosen)
        fast, routed = [masked(raw(connection, head(method, path + way, *fields))) for way in WAYS]
        equal(fast, routed, f"{method} {path} over HTTP/1.1")
        expect(b"Date: " not in fast and b"no-store" in fast, f"{fast!r}")
        equal(counted(chosen) - before, 1, f"answers of the fast path to {method} {path}")
    connection.close()
    # The first request of a connection comes with the end of its handshake, and is answered as any other. A node whose
    # view of the store is older than a second leaves all to the routes, so that there are several rounds.
    rounds = []
    while len(rounds) < 10 and max(rounds, default=0) < 18:
        rounds.append(first_requests(chosen, Ends(chosen, device)))
    expect(max(rounds) >= 18, f"of 20 first requests {rounds} by the fast path")
    with httpx.Client(http2=True, verify=tls(chosen, device), trust_env=False, timeout=TIMEOUT) as client:
        fields = {"authorization": field.split(": ")[1]}
        # The fast path leaves a request that accepts a JWT to the routes, which ignore that here.
        routed_fields = fields | {"accept": "*/*, application/jwt"}
        accepted(client.get(chosen.client + "/sessions/current", headers=routed_fields))
        for method, path, _ in calls:
            before = counted(chosen)
            answers = [client.request(method, chosen.client + path, headers=way) for way in (fields, routed_fields)]
            fast, routed = [
                (answer.http_version, answer.status_code, [name for name, _ in answer.headers.raw],
                 masked(answer.content)) for answer in answers]
            equal(fast, routed, f"{method} {path} over HTTP/2")
            if method == "GET":  # httpx ends a POST by a frame of its own. If that is read later, the routes answer.
                equal(counted(chosen) - before, 1, f"answers of the fast path to {method} {path} over HTTP/2")
    world.close()


if __name__ == "__main__":
    main()
