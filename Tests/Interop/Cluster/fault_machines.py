"""Faults of machines: file systems without room, and a clock that is wrong."""

import ctypes
import errno
import os
import sqlite3
import subprocess
import time
from pathlib import Path

import requests

from Shared import postgresql
from Shared.checks import accepted, expect, soon
from Shared.client import Device
from Cluster.fault_cases import case, done_on, server
from Shared.installation import NotReady

DETACHED = 2  # MNT_DETACH of umount2(2)


def small(trial, name, megabytes):
    """A file system of its own, which only this process and its children see: run it by `unshare --mount`."""
    place = trial.directory / name
    place.mkdir()
    library = ctypes.CDLL(None, use_errno=True)
    # Not by mount(8), which lets only root do it, whatever an account may do in a namespace of its own.
    if library.mount(b"tmpfs", os.fsencode(place), b"tmpfs", ctypes.c_ulong(0), b"size=%dm" % megabytes):
        raise OSError(ctypes.get_errno(), "a small file system cannot be mounted: this test needs CAP_SYS_ADMIN")
    trial.last.append(lambda: library.umount2(os.fsencode(place), DETACHED))
    return place


def fill(place):
    """Takes all of its room; gives the file that does."""
    ballast = place / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        for size in (1 << 20, 4096):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    return ballast


def while_full(trial, place, node, sign, press=lambda: None, mend=lambda: None):
    """Fills the store's place: what writes is refused, nothing that was acknowledged goes, and room heals it.

    `sign` is what the log says of the reason; `press` uses up what room was set aside, and `mend` is what an operator
    does besides making more.
    """
    load = trial.load
    device = load.device()
    user, token, _ = load.insist(device)
    filled = time.monotonic()
    ballast = fill(place)
    press()
    trial.say("the file system is full")
    soon(lambda: [event for event in trial.history.of("open", "unchanged", since=filled) if event.status == 503],
         "nothing is refused on a full file system")
    trial.say(f"the first write was refused {time.monotonic() - filled:.2f} s later")
    time.sleep(3)
    look = load.look(device, load.random, user, token)
    expect(look.status in (200, 503), f"a known session is refused while there is no room: {look}")
    wrong = [event for event in trial.history.events if event.begin > filled and event.status == 500]
    expect(not wrong, f"{wrong[:3]}")
    expect(node.process.poll() is None, "the node ended")
    expect(requests.get(node.ops + "/livez", timeout=60).status_code == 200, "the node is not live")
    expect(sign in node.log.read_text(), f"the log does not say {sign}")
    ballast.unlink()
    trial.say("there is room again")
    mend()
    freed = time.monotonic()
    soon(lambda: done_on(trial, node, freed), "the node does not recover")
    trial.say(f"it opens sessions {time.monotonic() - freed:.2f} s later")
    time.sleep(1)


@case
def full_file(trial):
    """The file system of a SQLite store is full."""
    place = small(trial, "store", 32)
    installation = trial.install(f"sqlite:{place}/store.db")
    node = installation.node("a")
    trial.begin()
    time.sleep(1)
    while_full(trial, place, node, "disk is full")

    def rows(sql):
        with sqlite3.connect(f"file:{place}/store.db?mode=ro", uri=True) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql)]

    trial.judge(rows, 50)


@case
def full_server(trial):
    """The file system of a PostgreSQL server's tables is full; what it writes ahead lies elsewhere."""
    place = small(trial, "primary", 96)
    beside = trial.directory / "beside"
    beside.mkdir(mode=0o700)
    primary = server(trial, beside=beside).make().start()
    installation = trial.install(postgresql.address(primary))
    node = installation.node("a")
    trial.begin()
    time.sleep(1)
    while_full(trial, place, node, "disk is full")
    trial.judge(primary.rows, 20)


@case
def full_log(trial):
    """The file system of what a PostgreSQL server writes ahead is full: it ends, and is started where there is room."""
    place = small(trial, "beside", 16)
    settings = ("min_wal_size=2MB", "max_wal_size=64MB")
    primary = server(trial, beside=place).make("--wal-segsize", "1").start(*settings)
    installation = trial.install(postgresql.address(primary))
    node = installation.node("a")
    trial.begin()
    time.sleep(1)

    def press():
        try:
            for _ in range(40):
                primary.execute("SELECT pg_logical_emit_message(true, 'test', repeat('x', 500000))")
        except ConnectionError:
            pass

    def mend():
        log = (primary.directory / "log").read_text()
        expect("PANIC" in log, "the server had room")
        try:
            primary.process.wait(timeout=2)
            trial.say("the server has ended, and is started again")
            primary.start(*settings)
        except subprocess.TimeoutExpired:
            trial.say("the server goes on by itself")

    while_full(trial, place, node, "the change log cannot be read", press, mend)
    trial.judge(primary.rows, 20)


def forget_time(node):
    """Removes what the library shares between the processes of a node, and leaves where one is killed."""
    for identifier in node.identifiers:
        for name in (f"faketime_shm_{identifier}", f"sem.faketime_sem_{identifier}"):
            (Path("/dev/shm") / name).unlink(missing_ok=True)


@case
def clock(trial):
    """One of two nodes has a wrong clock: a little, a minute and a half, and right again."""
    primary = server(trial).make().start()
    installation = trial.install(postgresql.address(primary))
    offset = installation.directory / "offset"
    offset.write_text("+20s\n")
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    expect(library, "the package faketime is not installed")
    environment = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(offset), "FAKETIME_NO_CACHE": "1",
                   "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    right = installation.node("a")
    wrong = installation.node("b", environment=environment)
    trial.last.append(lambda: forget_time(wrong))
    name = "countersign_store_clock_difference_seconds "
    [measured] = [float(line.removeprefix(name)) for line in requests.get(
        wrong.ops + "/metrics", timeout=60).text.splitlines() if line.startswith(name)]
    expect(15 < measured < 21, f"the node's clock is {measured} s off, not 20")
    load = trial.begin(bans=False)
    device = load.device()
    soon(lambda: done_on(trial, wrong, 0), "a node whose clock is 20 s off opens no sessions")
    for seconds in (90, -90):
        old = load.provider.identity_token(
            "late", accepted(device["a"].ask_nonce(), 201)["nonce"], iat=int(time.time()) - 400,
            exp=int(time.time()) - 100)
        began = time.monotonic()
        offset.write_text(f"{seconds:+d}s\n")
        # The library delays the timers of a process that is behind. If that holds up the reading of the store, the node
        # refuses because its view is too old, before it sees the clock.
        soon(lambda probe="ready" if seconds < 0 else "clock": not wrong.ready()[probe],
             "the node does not notice that its clock is wrong")
        noticed = time.monotonic()
        trial.say(f"{wrong.name} is {seconds} s off, and says so {noticed - began:.2f} s later")
        # A node that is behind would take a token that is over, and one that is ahead refuse good ones.
        late = trial.history.ask("open", "late", "b", lambda old=old: device["b"].create_session(old))
        expect(late.status == 503, f"a node with a wrong clock judged a token: {late}")
        stranger = Device(wrong.public, wrong.client, installation.authority, "EC")
        expect(stranger.certify().status_code == 503, "a node with a wrong clock certifies")
        time.sleep(1.5)
        answered = [event for event in trial.history.events if event.node == "b" and event.begin > noticed
                    and event.end and event.status != 503]
        expect(not answered, f"a node with a wrong clock decided: {answered[:3]}")
        soon(lambda: done_on(trial, right, noticed), "the other node does not go on")
        if seconds < 0:
            # The library delays the timers of a process that is behind: it has to be started anew.
            wrong.kill()
            try:
                wrong.start()
                raise AssertionError("a node with a wrong clock has started")
            except NotReady as refusal:
                expect(refusal.status == 1 and "behind the store's" in refusal.log, f"{refusal}")
            offset.write_text("+0s\n")
            wrong.start()
        offset.write_text("+0s\n")
        trial.say(f"{wrong.name} is right again; ready {wrong.wait(True):.2f} s later")
    time.sleep(1)
    trial.judge(primary.rows, 50)
