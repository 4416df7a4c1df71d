"""Asks for much and takes nothing: HTTP/2 connections whose windows are zero, each with as many requests as it may have.

Prints what the service holds in memory meanwhile, how long a client beside it waits, and when the connections end. With
`--limit`, `--growth` and `--end` these are judged. Python's own library alone, so that the benchmark can run it anywhere.
"""

import argparse
import http.client
import threading
import time
import urllib.parse
from pathlib import Path

from HTTP.http2_frames import Connection, context


def resident(pid, name="VmRSS"):
    """What a process holds, MiB (proc(5))."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return 0


class Honest(threading.Thread):
    """Asks in a row on one connection, and on a new one now and then."""

    def __init__(self, chosen):
        super().__init__()
        self.chosen, self.stop, self.waits, self.errors = chosen, threading.Event(), [], []

    def run(self):
        address = urllib.parse.urlsplit(self.chosen.public)
        tls = context(self.chosen.ca)
        count = 0
        while not self.stop.is_set():
            started = time.monotonic()
            try:
                if count % 10 == 0:
                    connection = http.client.HTTPSConnection(
                        address.hostname, address.port, timeout=60, context=tls)
                connection.request("GET", "/.well-known/countersign")
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    self.errors.append(answer.status)
            except (OSError, http.client.HTTPException) as error:
                self.errors.append(repr(error))
                count = -1
            self.waits.append(time.monotonic() - started)
            count += 1
            time.sleep(0.005)


def ended(connection, deadline):
    """Whether the service ends a connection in time; what it says is read, and no window opened."""
    try:
        while time.monotonic() < deadline:
            connection.tls.settimeout(max(0.1, deadline - time.monotonic()))
            if connection.read() is None:
                return True
    except OSError:
        pass
    return False


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1000 if values else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--public", required=True)
    parser.add_argument("--ca", required=True)
    parser.add_argument("--pid", type=int, required=True)
    parser.add_argument("--path", default="/openapi.json")
    parser.add_argument("--connections", type=int, default=40)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--hold", type=float, default=5, help="seconds before it is looked whether they end")
    parser.add_argument("--limit", type=float, help="the most memory that the service may hold, MiB")
    parser.add_argument("--growth", type=float, help="the most that it may hold beyond what it held before, MiB")
    parser.add_argument("--end", type=float, help="seconds from the last one on within which they must end")
    chosen = parser.parse_args()
    before = resident(chosen.pid)
    honest = Honest(chosen)
    honest.start()
    time.sleep(1)
    hoards, peak = [], 0
    for _ in range(chosen.connections):
        hoard = Connection(chosen.public, context(chosen.ca), window=0)
        hoard.send(*(hoard.request("GET", chosen.path, send=False)[1] for _ in range(chosen.streams)))
        hoards.append(hoard)
        peak = max(peak, resident(chosen.pid))
    # From the last one on: on a busy machine to make them takes longer than to end them.
    began = time.monotonic()
    while time.monotonic() < began + chosen.hold:
        peak = max(peak, resident(chosen.pid))
        time.sleep(0.05)
    left = None
    if chosen.end:
        gone = [ended(hoard, began + chosen.end) for hoard in hoards]
        left = gone.count(False)
        peak = max(peak, resident(chosen.pid))
    honest.stop.set()
    honest.join()
    for hoard in hoards:
        hoard.close()
    print(f"before {before:.1f} MiB, at most {peak:.1f} MiB with {chosen.connections} x {chosen.streams} streams")
    print(f"a client beside them: {len(honest.waits)} requests, p50 {percentile(honest.waits, 0.5):.1f} ms, "
          f"p99 {percentile(honest.waits, 0.99):.1f} ms, {len(honest.errors)} errors")
    if left is not None:
        print(f"after {chosen.end:.0f} s {left} of them are still open")
    assert not honest.errors, honest.errors[:5]
    assert len(honest.waits) > 20, "the client beside them was hardly answered"
    assert chosen.limit is None or peak < chosen.limit, f"{peak:.1f} MiB"
    assert chosen.growth is None or peak - before < chosen.growth, f"{peak:.1f} MiB after {before:.1f} MiB"
    assert not left, f"{left} connections that take nothing are still open"


if __name__ == "__main__":
    main()
