"""Steps: requests whose head was let in, and whose body comes when the session is over."""

import json
import socket
import ssl
import struct
import time
import urllib.parse
import uuid

from Shared import specimen
from Shared.checks import equal, expect, soon, step
from Shared.client import TIMEOUT
from Shared.phones import new_number

CALLS = [
    ("PATCH", "/me", {"push_endpoint": None}),
    ("POST", "/phone-verifications", {"phone_number": new_number()}),
    ("POST", f"/phone-verifications/{uuid.uuid4()}/check", {"code": "123456"}),
    ("POST", "/identity-cards", {"aamva": specimen.aamva()}),
    ("POST", "/authorizations", {"id": str(uuid.uuid4()), "to": str(uuid.uuid4())}),
]


def begin(device, method, path, token, body):
    """Sends all of a request but its last byte."""
    parts = urllib.parse.urlsplit(device.client)
    context = ssl.create_default_context(cafile=device.authority)
    context.load_cert_chain(*device.files)
    plain = socket.create_connection((parts.hostname, parts.port), timeout=TIMEOUT)
    connection = context.wrap_socket(plain, server_hostname="localhost")
    fields = [f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Connection: close",
              f'Authorization: Layer session-token="{token}"', f"Content-Length: {len(body)}", "", ""]
    connection.sendall("\r\n".join(fields).encode() + body[:-1])
    return connection


def answer(connection):
    """Status and members of the answer."""
    data = b""
    while more := connection.recv(65536):
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    expect(head, "no answer")
    return int(head.split()[1]), json.loads(body) if body else {}


@step
def body_after_logout(world):
    """A request whose body comes after the logout is refused as if it had come whole after it."""
    device, user = world.device("fourth"), world.user()
    for method, path, members in CALLS:
        session = world.log_in(device, user)
        body = json.dumps(members).encode()
        with begin(device, method, path, session["session_token"], body) as held:
            time.sleep(0.2)  # the head is judged meanwhile
            equal(device.end_session(session["session_token"]).status_code, 204, "the status of the logout")
            held.sendall(body[-1:])
            status, problem = answer(held)
        equal((status, problem.get("code")), (401, "session_destroyed"), f"{method} {path}")


def leave(connection, way):
    """Closes a connection in one of the ways in which clients go away."""
    if way == "close_notify":
        connection.settimeout(0.2)
        try:
            connection.unwrap()
        except (OSError, ValueError):
            pass
    elif way == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@step
def polls_left_behind(world):
    """Calls that wait give their places back when their clients are gone, so that the next one is answered."""
    device, user = world.device("fourth"), world.user()
    session = world.log_in(device, user)
    token = session["session_token"]
    for way in ("close_notify", "fin", "reset"):
        polls = [begin(device, "GET", "/sync?wait=25", token, b"\n") for _ in range(8)]
        for poll in polls:
            poll.sendall(b"\n")
        time.sleep(0.3)  # all of them wait
        for poll in polls:
            leave(poll, way)

        def judged():
            with begin(device, "GET", "/sync", token, b"\n") as next_one:
                next_one.sendall(b"\n")
                status, _ = answer(next_one)
            return status if status != 429 else None

        # Less than the time after which those calls would have ended by themselves.
        status = soon(judged, f"no place is free after eight that ended by {way}", seconds=15)
        equal(status, 200, f"the status of a call after eight that ended by {way}")
    equal(device.end_session(token).status_code, 204, "the status of the logout")
