"""Attacks on the way to the store, or its bad days: commits that take long, and a server that stands still."""

import signal
import threading
import time
from collections import Counter

import requests

from Attacks.attack_world import Beside, attack, percentile, request, share
from Shared.client import https

DELAYS = (0, 0.05, 0.1, 0.25)


@attack(is_postgresql=True, limits="off")
def slow_commits(target):
    """Checks of a known session while each commit takes longer and longer: a node that is behind refuses."""
    person, parts = target.person(), []
    asked = request("GET", "/sessions/current", person)
    for delay in DELAYS:
        target.way.commit_delay = delay
        time.sleep(2)
        connection, statuses, waits = target.connection(person), Counter(), []
        end = time.monotonic() + 5
        while time.monotonic() < end:
            start = time.monotonic()
            status = connection.ask(asked)
            if status is None:
                connection.close()
                connection = target.connection(person)
            statuses[status] += 1
            waits.append(time.monotonic() - start)
            time.sleep(0.005)
        connection.close()
        total = sum(statuses.values())
        parts.append(f"{delay * 1000:.0f} ms {share(total - statuses[200], total)}, p99 {percentile(waits, 0.99):.0f} ms")
    target.way.commit_delay = 0
    return "refused by the delay of a commit: " + "; ".join(parts)


@attack(is_postgresql=True, limits="off")
def lost_store(target):
    """64 sign-ins are under way when the server stands still, for 30 seconds."""
    people = [target.person(f"user-{number}") for number in range(4)]
    bodies = [[{"identity_token": target.backend.identity_token(f"new-{number}-{turn}", person.device.nonce())}
               for turn in range(16)] for number, person in enumerate(people)]
    statuses, waits, lock, before = Counter(), [], threading.Lock(), target.memory()

    def sign_in(person, body):
        start = time.monotonic()
        with https(target.ca, person.device.files) as session:
            try:
                status = session.post(target.client + "/sessions", json=body, timeout=90).status_code
            except requests.RequestException:
                status = None
        with lock:
            statuses[status] += 1
            waits.append(time.monotonic() - start)

    threads = [threading.Thread(target=sign_in, args=(person, body))
               for person, all_ in zip(people, bodies) for body in all_]
    target.server.signal(signal.SIGSTOP)
    try:
        with Beside(target) as beside:
            for thread in threads:
                thread.start()
            time.sleep(30)
            answered, peak = len(waits), target.memory()
    finally:
        target.server.signal(signal.SIGCONT)
    for thread in threads:
        thread.join()
    started = time.monotonic()
    target.node.wait(True)
    told = ", ".join(f"{count} of {status}" for status, count in statuses.items())
    return (f"{answered} of {len(threads)} answered while it stood, after {percentile(waits, 0.5) / 1000:.1f} s, p99 "
            f"{percentile(waits, 0.99) / 1000:.1f} s ({told}); {peak - before:.1f} MiB more; ready "
            f"{time.monotonic() - started:.1f} s later; {beside}")
