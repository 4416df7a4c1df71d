"""The audit log of a running service, from outside: what is done is chained within seconds and signed, the command line
and an independent reading of the export agree on it, and a log of many entries is verified in bounded memory."""

import argparse
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import time
import uuid
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import serialization

from Audit.verify_audit import TYPE, digest, text, verify
from Shared.checks import soon

BATCH = 1000


class Commands:
    """Admin commands on one service's files."""

    def __init__(self, chosen):
        self.program = chosen.countersign
        self.directory = Path(chosen.directory)
        self.store = getattr(chosen, "store", None)

    def places(self, store):
        if self.store and not store:
            return ["--keys", str(self.directory / "Keys"), "--store", self.store]
        return ["--keys", str(self.directory / "Keys"), "--store", f"sqlite:{store or self.directory / 'store.db'}"]

    def run(self, *arguments, store=None, status=0):
        """A command's standard output."""
        done = subprocess.run(
            [self.program, *arguments, *self.places(store)], capture_output=True, timeout=600, check=False)
        assert done.returncode == status, (arguments, done.returncode, done.stderr.decode())
        return done.stdout.decode()

    def json(self, *arguments, store=None, status=0):
        """A command's answer."""
        return json.loads(self.run(*arguments, "--json", store=store, status=status))


def follow(commands):
    """What `audit tail --follow` shows of an act that another process does meanwhile, and how soon, in seconds."""
    tail = subprocess.Popen(
        [commands.program, "audit", "tail", "--follow", "--limit", "0", "--json", *commands.places(None)],
        stdout=subprocess.PIPE)
    try:
        time.sleep(1)
        commands.run("provider", "disable", "test", "--reason", "ticket:17", "--yes")
        done = time.monotonic()
        line = json.loads(tail.stdout.readline())
        return line, time.monotonic() - done
    finally:
        tail.terminate()
        tail.wait()


def live(chosen):
    """The log of the running service."""
    commands = Commands(chosen)
    line, waited = follow(commands)
    assert (line["event"], line["reason"]) == ("provider_disabled", "ticket:17"), line
    assert line["actor"].startswith("admin "), line
    assert line["sequence"] is not None and waited < 10, (line, waited)
    commands.run("provider", "enable", "test")
    soon(lambda: commands.json("status")["audit"]["unchained"] == 0, "entries are not chained")
    report = commands.json("audit", "verify")
    assert report["valid"] and report["signed_through"] > 0, report
    export = commands.directory / "export.jsonl"
    export.write_text(commands.run("audit", "export"))
    key = serialization.load_pem_private_key((commands.directory / "Keys/service.key").read_bytes(), password=None)
    with open(export, encoding="utf-8") as lines:
        found = verify(lines, [key.public_key()])
    assert found["entries"] >= report["entries"] and found["signed_through"] > 0, (found, report)
    lines = export.read_text().splitlines()
    token = [json.loads(line) for line in lines if line.startswith('{"checkpoint"')][0]["checkpoint"]
    assert commands.json("audit", "verify", "--checkpoint", token)["valid"]
    print(json.dumps({"chained_after": round(waited, 3), **found}))


def make(commands, store, count):
    """A store with a log of so many entries, chained and signed by this script alone."""
    commands.run("store", "migrate", store=store)
    key = serialization.load_pem_private_key((commands.directory / "Keys/service.key").read_bytes(), password=None)
    keys = commands.run("audit", "export", store=store)
    kid = json.loads(keys.splitlines()[0])["keys"][0]["kid"]
    last, signed = hashlib.sha256(b"countersign audit chain").digest(), 0
    names = ("sequence", "id", "at_ms", "event", "subject", "actor", "detail", "reason")
    with sqlite3.connect(store) as database:
        rows = []
        for number in range(1, count + 1):
            line = dict(zip(names, (
                number, str(uuid.UUID(int=number)), 1_800_000_000_000 + number, "session_ended",
                f"session {uuid.UUID(int=number)}", f"provider {uuid.UUID(int=1)}", None, "provider_logout")))
            last = digest(line, last)
            rows.append([*line.values(), last])
            if number % BATCH == 0 or number == count:
                database.executemany(
                    "INSERT INTO audit_entries (sequence, id, at, event, subject, actor, detail, reason, digest)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
                token = jwt.encode(
                    {"digest": text(last), "iat": 1_800_000_000, "prev": signed, "seq": number}, key, "ES256",
                    headers={"alg": "ES256", "kid": kid, "typ": TYPE}, sort_headers=True)
                database.execute("INSERT INTO audit_checkpoints (sequence, token) VALUES (?, ?)", (number, token))
                rows, signed = [], number
        database.execute("UPDATE audit_head SET sequence = ?, digest = ?, signed = ?", (count, last, signed))


def measured(commands, store, status=0):
    """The answer of `audit verify`, its peak of memory in KiB, and its time in seconds, as a process of its own."""
    started = time.monotonic()
    process = subprocess.Popen(
        [commands.program, "audit", "verify", "--json", *commands.places(store)], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    _, ended, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(ended) == status, output
    return json.loads(output), usage.ru_maxrss, time.monotonic() - started


def large(chosen):
    """Logs of a thousand entries and of many: the second needs no more memory than the first."""
    commands = Commands(chosen)
    small, big = (str(commands.directory / name) for name in ("small.db", "large.db"))
    make(commands, small, BATCH)
    make(commands, big, chosen.entries)
    report, little, _ = measured(commands, small)
    assert report["valid"] and report["entries"] == BATCH, report
    report, much, seconds = measured(commands, big)
    assert report["valid"] and report["entries"] == report["signed_through"] == chosen.entries, report
    assert much - little < 16 * 1024, (little, much)
    with sqlite3.connect(big) as database:
        victim = chosen.entries - BATCH // 2
        database.execute("UPDATE audit_entries SET actor = 'provider nobody' WHERE sequence = ?", (victim,))
    report, _, _ = measured(commands, big, status=1)
    assert report["defect"]["entry"] == victim, report
    print(json.dumps({"entries": chosen.entries, "seconds": round(seconds, 2), "peak_kib": much, "small_kib": little}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("live", "large"))
    parser.add_argument("--countersign", required=True)
    parser.add_argument("--directory", required=True)
    parser.add_argument("--entries", type=int, default=100_000)
    chosen, _ = parser.parse_known_args()
    {"live": live, "large": large}[chosen.what](chosen)


if __name__ == "__main__":
    sys.exit(main())
