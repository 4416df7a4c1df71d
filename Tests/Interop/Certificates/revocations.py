"""Revokes many certificates, has many fetch the revocation list at once, and asks for nonces beside them: nobody is refused,
and each is given the whole list. Prints what it saw as JSON; the seconds in it are for people."""

import concurrent.futures
import hashlib
import json
import sqlite3
import sys
import threading
import time
import uuid

from cryptography import x509

from Shared import options
from Shared.checks import accepted, expect, soon
from Shared.client import TIMEOUT, Device, https

READERS = 16


def revoke(path, count):
    """Writes revoked certificates as the service would have, and tells its nodes."""
    now, device = int(time.time() * 1000), str(uuid.uuid4())
    store = sqlite3.connect(path, timeout=60, isolation_level=None)
    store.execute("BEGIN IMMEDIATE")
    store.execute("INSERT INTO devices (id, created_at, held) VALUES (?, ?, 0)", (device, now))
    store.executemany(
        "INSERT INTO certificates (thumbprint, serial, device_id, key_hash, subject_public_key_info, authority, not_before,"
        " not_after, issued_at, revoked_at, revocation_reason) VALUES (?, ?, ?, ?, x'', zeroblob(32), ?, ?, ?, ?, 'keyCompromise')",
        ((hashlib.sha256(b"certificate %d" % number).digest(), f"{(1 << 127) + number:032x}", device,
          hashlib.sha256(b"key %d" % number).digest(), now, now + 86_400_000, now, now) for number in range(count)))
    store.execute("UPDATE revocation_counter SET value = value + 1 WHERE id = 1")
    store.execute(
        "INSERT INTO change_log (tag, kind, key, at) VALUES (random(), 4, ?, ?)", (uuid.UUID(device).bytes, now // 1000))
    store.execute("COMMIT")
    store.close()


def wait_for_list(chosen):
    """The list, once it has all entries."""
    with https(chosen.ca) as public:
        def whole():
            answer = public.get(chosen.public + "/certificates/revocations", timeout=TIMEOUT)
            is_whole = answer.status_code == 200 and len(x509.load_der_x509_crl(answer.content)) >= chosen.revoked
            return answer.content if is_whole else None

        return soon(whole, "the list does not name what was revoked")


class Crowd:
    """Fetches the list over and over, as many a second as wanted, and counts what comes."""

    def __init__(self, chosen, whole):
        self.chosen, self.whole = chosen, whole
        self.lists, self.refused, self.times = set(), 0, []
        self.lock, self.next, self.started = threading.Lock(), 0, time.monotonic()

    def fetch(self):
        """One reader's share."""
        with https(self.chosen.ca) as public:
            while True:
                with self.lock:
                    number, self.next = self.next, self.next + 1
                if number >= self.chosen.requests:
                    return
                if self.chosen.rate:
                    time.sleep(max(0, self.started + number / self.chosen.rate - time.monotonic()))
                start = time.monotonic()
                answer = public.get(self.chosen.public + "/certificates/revocations", timeout=60)
                with self.lock:
                    self.times.append(time.monotonic() - start)
                    if answer.status_code == 200:
                        self.lists.add(hashlib.sha256(answer.content).hexdigest())
                    else:
                        self.refused += 1

    def served(self):
        """How many were given a list."""
        return len(self.times) - self.refused


def rank(times, part):
    """A rank of times, in milliseconds."""
    return round(sorted(times)[int((len(times) - 1) * part)] * 1000, 1) if times else None


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--store", required=True, help="the service's SQLite file")
    parser.add_argument("--revoked", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=500, help="requests a second, 0 for as many as go")
    parser.add_argument("--requests", type=int, default=5000)
    chosen = parser.parse_args()
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    accepted(device.call("POST", "/nonces"), 201)
    revoke(chosen.store, chosen.revoked)
    start = time.monotonic()
    whole = wait_for_list(chosen)
    made = time.monotonic() - start

    crowd, nonces, refused = Crowd(chosen, whole), [], 0
    with concurrent.futures.ThreadPoolExecutor(READERS) as pool:
        readers = [pool.submit(crowd.fetch) for _ in range(READERS)]
        while not all(reader.done() for reader in readers):
            begun = time.monotonic()
            refused += device.call("POST", "/nonces").status_code != 201
            nonces.append(time.monotonic() - begun)
            time.sleep(0.01)
        for reader in readers:
            reader.result(TIMEOUT)
    seconds = time.monotonic() - crowd.started
    expect(crowd.lists == {hashlib.sha256(whole).hexdigest()}, "different lists were handed out")
    json.dump({
        "revoked": chosen.revoked, "bytes": len(whole), "seconds_to_the_list": round(made, 2), "lists": len(crowd.lists),
        "served": crowd.served(), "refused": crowd.refused, "per_second": round(crowd.served() / seconds, 1),
        "list_p99_ms": rank(crowd.times, 0.99), "others": len(nonces), "others_refused": refused,
        "others_p50_ms": rank(nonces, 0.5), "others_p99_ms": rank(nonces, 0.99)}, sys.stdout)


if __name__ == "__main__":
    main()
