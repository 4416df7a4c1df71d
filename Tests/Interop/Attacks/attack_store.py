"""Attacks on the way to the store, or its bad days: commits that take long, and a server that stands still."""

import signal
import threading
import time
from collections import Counter

import requests

from Attacks.attack_world import Beside, attack, percentile, request
from Shared import postgresql
from Shared.checks import soon
from Shared.client import https

# Seconds that each commit takes, and the one at which a ban is timed. At 0.25 s nothing shows: a heartbeat that waits for
# the one before is late from half of `maximum_staleness` on, which is 1 s.
DELAYS, BAN_DELAY = (0, 0.3, 0.48, 0.58, 0.8), 0.3
# A thousand checks or more for each delay, so that a share of 0.1 % is visible.
MEASURED = 12


@attack(is_postgresql=True, limits="off")
def slow_commits(target):
    """Checks of a known session while each commit takes longer and longer, and a ban by another process meanwhile."""
    person, banned = target.person(), [target.person(f"banned-{number}") for number in range(3)]
    parts, times = [], []
    for delay in DELAYS:
        target.way.commit_delay = delay
        time.sleep(2)
        statuses, waits = checked(target, person, time.monotonic() + MEASURED)
        total = sum(statuses.values())
        parts.append(f"{delay * 1000:.0f} ms {100 * (total - statuses[200]) / total:.2f} % of {total}, "
                     f"p99 {percentile(waits, 0.99):.0f} ms")
        if delay == BAN_DELAY:
            times = [ban(target, one) for one in banned]
    target.way.commit_delay = 0
    return (f"checks that fail, by the time of a commit: {'; '.join(parts)}. At {BAN_DELAY * 1000:.0f} ms bans take "
            f"effect {', '.join(f'{one:.2f}' for one in times)} s after their command")


def checked(target, person, end):
    """Asks for the person's session until a moment; the statuses with their number, and the times of the answers."""
    asked, connection, statuses, waits = request("GET", "/sessions/current", person), None, Counter(), []
    while time.monotonic() < end:
        start = time.monotonic()
        connection = connection or target.connection(person)
        status = connection.ask(asked)
        if status is None:
            connection.close()
            connection = None
        statuses[status] += 1
        waits.append(time.monotonic() - start)
        time.sleep(0.005)
    connection and connection.close()
    return statuses, waits


def ban(target, person):
    """Bans a user with a known session; seconds from the command's end until the node answers no more with 200."""
    asked, connection = request("GET", "/sessions/current", person), target.connection(person)
    soon(lambda: connection.ask(asked) == 200, "the session is not known")
    ended = []

    def command():
        target.installation.admin("ban", "add", "--user", person.user_id, "--reason", "spam", "--yes",
                                  store=postgresql.address(target.way.address))
        ended.append(time.monotonic())

    thread, last = threading.Thread(target=command), time.monotonic()
    thread.start()
    while not ended or last < ended[0] + 60:
        start = time.monotonic()
        status = connection.ask(asked)
        # A ban ends the connection, or the session is refused. 503 is neither.
        if status in (None, 401, 403):
            break
        if status == 200:
            last = start
        time.sleep(0.005)
    thread.join()
    connection.close()
    return max(0, last - ended[0])


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
