"""Herald's connections end by silence, by a client that reads nothing, and in order when the service stops.

    python3 herald_stop.py … --pid NUMBER

The service's policy closes an idle connection after 2 s, and one that takes nothing 2 s later than it must.
"""

import os
import re
import signal
import struct
import uuid

import requests

from Shared import options
from Shared.checks import accepted, equal, expect, soon
from Messaging.herald_client import KEEPALIVE, OK, PATIENCE, RPC, Closed, Herald, Person, data, frame

CALL = struct.pack(">I", 0x80010001) + struct.pack(">I", 11) + b"listStreams" + bytes(4) + b"\x00"
FORUMS = CALL[:-1] + b"\x0b\x00\x01" + struct.pack(">I", 5) + b"forum\x00"
END = 15  # seconds, less than the shutdown timeout, which would end the connection, too


def ended(chosen, reason):
    """Waits until a connection has ended for this reason, and for no other of the two."""
    found = []

    def is_counted():
        text = requests.get(chosen.ops + "/metrics", timeout=PATIENCE).text
        found[:] = re.findall(r'^countersign_herald_ends_total\{[^}]*reason="(refused|not_taken)"[^}]*\} [1-9]', text, re.M)
        return reason in found

    soon(is_counted, lambda: f"no connection ended as {reason}: {found}")
    return set(found)


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--pid", type=int, required=True)
    chosen = parser.parse_args()
    alice = Person(chosen, options.provider(chosen), "alice")
    silent, held = Herald(chosen, alice.device), Herald(chosen, alice.device)
    equal((silent.auth(alice.token), held.auth(alice.token)), (OK, OK), "Auth")
    unfinished = data(1, 2, b"x")
    equal(held.add(1, RPC), OK, "ChAdd")
    held.send(unfinished)
    equal(silent.ended(), [], "what silence is told")
    # It asks on and reads nothing: large answers fill the buffers, and the service ends the connection.
    for _ in range(20):
        forum = {"id": str(uuid.uuid4()), "kind": "forum", "title": "A forum", "metadata": {"about": "x" * 3000}}
        accepted(alice.call("POST", "/streams", json=forum), 201)
    deaf = Herald(chosen, alice.device, window=4096)
    equal((deaf.auth(alice.token), deaf.add(1, RPC)), (OK, OK), "Auth")
    try:
        while True:
            deaf.socket.sendall(data(1, len(FORUMS), FORUMS) * 100)
    except OSError:
        pass
    equal(ended(chosen, "not_taken"), {"not_taken"}, "why the client that reads nothing was ended")
    loud = Herald(chosen, alice.device)
    equal(loud.auth(alice.token), OK, "Auth")
    try:
        loud.socket.sendall(frame(KEEPALIVE, 0) * 10_000)
    except OSError:
        pass
    equal(ended(chosen, "refused"), {"not_taken", "refused"}, "why connections were ended")
    busy = Herald(chosen, alice.device)
    equal((busy.auth(alice.token), busy.add(1, RPC)), (OK, OK), "Auth")
    busy.send(data(1, len(CALL), CALL))
    packet, answer = busy.message(1)
    equal((packet, answer[:4]), (0, struct.pack(">I", 0x80010002)), "the answer")
    busy.socket.settimeout(END)
    os.kill(chosen.pid, signal.SIGTERM)
    try:
        while True:
            busy.read()
    except Closed:
        pass
    except TimeoutError:
        expect(False, f"open {END} s after the service was stopped")


if __name__ == "__main__":
    main()
