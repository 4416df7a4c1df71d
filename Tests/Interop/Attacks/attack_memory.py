"""A primary is lost and its standby promoted while a node remembers few devices, or many."""

import threading
import time

from Attacks.attack_world import attack, request
from Shared import postgresql
from Shared.checks import soon
from Shared.client import Device

# Each is a key, a certificate and a connection of its own: a row that was only written is not remembered. More take
# minutes on two cores.
DEVICES, MAKERS = 2500, 4


@attack(is_postgresql=True, limits="off")
def remembered_devices(target):
    """The standby of a lost primary is promoted; a known session is asked for until it is answered again."""
    person, times = target.person(), []
    made = [0]
    for wanted in (0, DEVICES):
        made.append(remember(target, wanted))
        times.append(fail_over(target, person))
    return "; ".join(f"{count} devices: 503 for {seconds:.2f} s after the promotion"
                     for count, seconds in zip(made[1:], times))


def remember(target, wanted):
    """Makes devices that the node knows by their connections; their number."""
    left, lock, count = list(range(wanted)), threading.Lock(), [0]

    def work():
        while True:
            with lock:
                if not left:
                    return
                left.pop()
            device = Device(target.public, target.client, target.ca, "EC")
            if device.certify().status_code == 201:
                device.nonce()
                with lock:
                    count[0] += 1
            device.close()

    threads = [threading.Thread(target=work) for _ in range(MAKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return count[0]


def fail_over(target, person):
    """Kills the primary and promotes its standby, which takes its place; seconds from then until a check is answered."""
    former = target.server
    standby = postgresql.Server(target.directory / f"standby-{time.monotonic_ns()}").follow(former, "standby").start()
    target.last.append(standby.stop)
    soon(lambda: former.rows("SELECT 1 FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()"),
         "the standby does not follow")
    former.kill()
    target.node.wait(False)
    standby.promote()
    target.way.target, target.server = str(standby.directory / ".s.PGSQL.5432"), standby
    promoted, asked = time.monotonic(), request("GET", "/sessions/current", person)

    def answered():
        connection = target.connection(person)
        try:
            return connection.ask(asked) == 200
        finally:
            connection.close()

    soon(answered, "the session is not known again")
    return time.monotonic() - promoted
