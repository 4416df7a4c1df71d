"""Attacks by the number of rows that one call changes: an erasure of a user with very many, and log-outs by a provider.

Hot rows with 24 and 72 callers on three nodes are the part `callers` of the benchmarks.
"""

import contextlib
import sqlite3
import threading
import time
from collections import Counter

import requests

from Attacks.attack_world import OPEN_STREAMS, Beside, attack, new_id, percentile
from Messaging.streams import message
from Shared.checks import accepted, soon

MESSAGES, STREAMS, QUEUED, WRITERS = 50_000, 200, 200_000, 4
CALLERS, FLOOD = 8, 20


def plant(target, user, streams):
    """Writes messages of a user into streams, and pushes that were sent to the user: more than one can send in a minute."""
    each, now = MESSAGES // len(streams), int(time.time() * 1000)
    with contextlib.closing(sqlite3.connect(target.directory / "store.db", timeout=60)) as store, store:
        for stream in streams:
            store.executemany(
                "INSERT INTO stream_events (stream_id, sequence, event_id, sender_id, sent_at, size, sealed_body) "
                "VALUES (?, ?, ?, ?, ?, 256, x'01')",
                ((stream, number + 1, new_id(), user, now) for number in range(each)))
            store.execute("UPDATE streams SET last_sequence = ? WHERE id = ?", (each, stream))
        store.executemany(
            "INSERT INTO outbox (id, kind, owner, subject, user_id, deduplication_key, payload, created_at, expires_at, "
            "due_at, tries, state, ended_at) VALUES (?1, 'message_push', 'x', 'x', ?2, ?1, x'', ?3, ?3, ?3, 1, 'sent', ?3)",
            ((new_id(), user, now) for _ in range(QUEUED)))


def rows_left(target, user):
    """The rows that name the user and are still there."""
    with contextlib.closing(sqlite3.connect(target.directory / "store.db", timeout=60)) as store:
        return sum(store.execute(f"SELECT COUNT(*) FROM {table} WHERE {column} = ?", (user,)).fetchone()[0]
                   for table, column in (("stream_events", "sender_id"), ("outbox", "user_id"), ("erasures", "user_id")))


@attack(policies=OPEN_STREAMS, limits="off")
def large_erasure(target):
    """A user with 50,000 messages in 200 streams and 200,000 sent pushes is erased while four others write."""
    ann, bob, streams = target.person("ann"), target.person("bob"), []
    for _ in range(STREAMS):
        streams.append(new_id())
        accepted(ann.call("POST", "/streams", json={
            "id": streams[-1], "kind": "conversation", "members": [bob.user_id]}), 201)
    plant(target, ann.user_id, streams)
    writers = [target.person(f"writer-{number}") for number in range(WRITERS)]
    statuses, waits, lock, stop = Counter(), [], threading.Lock(), threading.Event()

    def write(person):
        own = new_id()
        accepted(person.call("POST", "/streams", json={"id": own, "kind": "conversation", "members": [bob.user_id]}), 201)
        while not stop.is_set():
            start = time.monotonic()
            try:
                status = person.call("POST", f"/streams/{own}/events", json=message("x")).status_code
            except requests.RequestException:
                status = None
            with lock:
                statuses[status] += 1
                waits.append(time.monotonic() - start)

    threads = [threading.Thread(target=write, args=(person,)) for person in writers]
    for thread in threads:
        thread.start()
    started = time.monotonic()
    try:
        accepted(ann.call("DELETE", "/me"), 202)
        erased = time.monotonic() - started
        soon(lambda: rows_left(target, ann.user_id) == 0, "rows of the erased user are left", seconds=240)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    told = ", ".join(f"{count} of {status}" for status, count in sorted(statuses.items(), key=str))
    return (f"erased after {erased:.2f} s, the last row after {time.monotonic() - started:.1f} s; others: {told}; they "
            f"wait p99 {percentile(waits, 0.99):.0f} ms, {max(waits) * 1000:.0f} ms at most")


@attack(limits="on")
def provider_log_outs(target):
    """One provider ends the sessions of a user again and again, from eight connections for 20 seconds."""
    person, statuses, lock = target.person(), Counter(), threading.Lock()
    end = time.monotonic() + FLOOD

    def flood():
        while time.monotonic() < end:
            try:
                status = target.backend.end_sessions(person.name).status_code
            except requests.RequestException:
                status = None
            with lock:
                statuses[status] += 1

    before, threads = target.processor(), [threading.Thread(target=flood) for _ in range(CALLERS)]
    with Beside(target) as beside:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    total = sum(statuses.values())
    with contextlib.closing(sqlite3.connect(target.directory / "store.db", timeout=60)) as store:
        waiting = store.execute("SELECT COUNT(*) FROM cuts").fetchone()[0]
    told = ", ".join(f"{count} of {status}" for status, count in sorted(statuses.items(), key=str))
    return (f"{total / FLOOD:.0f} a second ({told}), {(target.processor() - before) / max(1, total):.1f} ms of processor "
            f"each; {waiting} revocations wait; {beside}")
