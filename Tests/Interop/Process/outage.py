"""Takes the store away and brings it back: first the file is moved, then another process holds its write lock."""

import sqlite3
import time
import uuid
from pathlib import Path

import requests

from Shared import options
from Shared.checks import accepted, equal, expect, refused, soon
from Shared.client import TIMEOUT, Device


def ready(chosen):
    """Whether the probe says so, by status and body alike."""
    answer = requests.get(chosen.ops + "/readyz", timeout=TIMEOUT)
    equal(answer.json()["ready"], answer.status_code == 200, "the body's ready")
    return answer.status_code == 200


def wait(chosen, wanted):
    """Waits for the probe; how long it took."""
    started = time.monotonic()
    soon(lambda: ready(chosen) is wanted, f"/readyz does not become {wanted}")
    return time.monotonic() - started


def counts(store):
    """How many rows the tables that requests write have."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        return [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("certificates", "sessions", "audit_entries")]


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--store", required=True)
    chosen = parser.parse_args()
    provider = options.provider(chosen)
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    user = f"user-{uuid.uuid4()}"
    session = accepted(device.create_session(provider.identity_token(user, device.nonce())), 201)["session_token"]
    identity = provider.identity_token(user, device.nonce())
    expect(ready(chosen), "not ready at the start")
    before = counts(chosen.store)

    store, away = Path(chosen.store), Path(chosen.store + ".away")
    store.rename(away)
    print(f"not ready {wait(chosen, False):.2f} s after the store went away")
    time.sleep(1.1)
    stranger = Device(chosen.public, chosen.client, chosen.ca, "EC")
    for _ in range(2):
        for answer in (device.current(session), device.create_session(identity), device.ask_nonce(),
                       device.end_session(session), device.call("DELETE", "/certificates/current"),
                       stranger.certify(), provider.introspect(session), provider.record()):
            refused(answer, 503, "unavailable")
            expect("Retry-After" in answer.headers, "no Retry-After")
    equal(requests.get(chosen.ops + "/livez", timeout=TIMEOUT).status_code, 200, "/livez without a store")
    away.rename(store)
    print(f"ready {wait(chosen, True):.2f} s after it came back")
    equal(counts(chosen.store), before, "the rows")
    accepted(device.current(session))
    accepted(device.create_session(identity), 201)  # its nonce was not spent

    # Another process writes for longer than the service waits: what only reads goes on, what writes changes nothing.
    identity = provider.identity_token(user, device.nonce())
    before = counts(chosen.store)
    other = sqlite3.connect(chosen.store, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    refused(device.create_session(identity), 503, "unavailable")
    expect(time.monotonic() - started > 4, "the wait for the lock is not the store's")
    accepted(device.current(session))
    other.execute("ROLLBACK")
    other.close()
    equal(counts(chosen.store), before, "the rows")
    accepted(device.create_session(identity), 201)
    expect(ready(chosen), "not ready at the end")


if __name__ == "__main__":
    main()
