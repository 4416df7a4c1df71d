"""Bans by the command line against a running service: open connections, resumed ones, processes killed on the way.

    python3 ban.py --mode user|resumption|crash|measure … --countersign FILE --directory DIRECTORY

`--directory` holds `Keys`, `Policies` and `store.db`.
"""

import json
import random
import resource
import select
import sqlite3
import subprocess
import threading
import time
import uuid
from pathlib import Path

from Shared import options
from Shared.checks import accepted, equal, expect, lives, now, refused
from Shared.client import TIMEOUT, Device, https
from Requests.description import Description
from Shared.phones import begin, check, new_number, wait_for_texts, wrong
from Certificates.resumption import s_client
from Bans.connections import HTTP1, HTTP2
from Bans.admin import Admin

EFFECTIVE = 1.0  # seconds after which a ban must be in force everywhere


def new_device(chosen):
    """A certified device."""
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    return device


def log_in(device, provider, user):
    """A session of a user."""
    return accepted(device.create_session(provider.identity_token(user, device.nonce())), 201)


def with_export_token(device, method, path, token):
    """A request with what a banned user was given."""
    return device.call(method, path, headers={"Authorization": f'Layer export-token="{token}"'})


def prove(chosen, device, token, number):
    """Starts the proof of a number; its id and the code of its text."""
    before = len([1 for line in texts_of(chosen) if number in line])
    started = accepted(begin(device, token, number), 202)
    return started["id"], wait_for_texts(Path(chosen.directory, "texts.jsonl"), number, before + 1)[-1]


def texts_of(chosen):
    """The lines of the file sender."""
    path = Path(chosen.directory, "texts.jsonl")
    return path.read_text().splitlines() if path.exists() else []


def ban_user(chosen, provider, admin):
    """One user with connections over both protocols, beside another user."""
    alice, bob, number = f"alice-{uuid.uuid4()}", f"bob-{uuid.uuid4()}", new_number()
    first, second, shared = (new_device(chosen) for _ in range(3))
    tokens = [log_in(device, provider, alice)["session_token"] for device in (first, second, shared)]
    bobs = log_in(shared, provider, bob)["session_token"]
    verification, code = prove(chosen, first, tokens[0], number)
    accepted(check(first, tokens[0], verification, code))
    connections = [HTTP1(chosen, first), HTTP2(chosen, second)]
    both = HTTP1(chosen, shared)
    equal(connections[0].request("GET", "/sessions/current", tokens[0])[0], 200, "HTTP/1.1 before")
    equal(connections[1].request("GET", "/sessions/current", tokens[1]), 200, "HTTP/2 before")
    for token in (tokens[2], bobs):
        equal(both.request("GET", "/sessions/current", token)[0], 200, "the shared connection before")

    address = f"{provider.slug}/{alice}"
    status, sentence = admin.refused("ban", "add", "--device", shared.device_id, "--reason", "lost")
    expect(status == 1 and "2 users" in sentence and "--yes" in sentence, f"two users are hit unasked: {sentence}")
    foreseen = admin.run("ban", "add", "--user", address, "--reason", "spam", "--dry-run")
    equal((foreseen["ban_id"], len(foreseen["users"]), foreseen["sessions"]), (None, 1, 3), "what is foreseen")
    equal(connections[0].request("GET", "/sessions/current", tokens[0])[0], 200, "after the dry run")

    banned = now()
    made = admin.run("ban", "add", "--user", address, "--reason", "spam", "--for", "1h", "--note", "seen by many")
    returned = time.monotonic()
    for connection in connections:
        expect(connection.note_end(returned + EFFECTIVE), f"{type(connection).__name__} stays open")
    print("closed after %.0f and %.0f ms" % tuple((one.closed_at - returned) * 1000 for one in connections))
    status, body = both.request("GET", "/sessions/current", tokens[2])
    equal((status, body["code"]), (401, "session_destroyed"), "alice on the shared connection")
    equal(both.request("GET", "/sessions/current", bobs)[0], 200, "bob on the shared connection")

    # She is told so, with a token for her own data from this device.
    answer = second.create_session(provider.identity_token(alice, second.nonce()))
    told = refused(answer, 403, "user_banned", "spam")
    lives(told["until"], 3600, banned)
    export = told["export_token"]
    with https(chosen.ca) as public:
        described = Description(public.get(chosen.public + "/openapi.json", timeout=TIMEOUT).json())
    described.judge("/sessions", answer)
    held = accepted(with_export_token(second, "GET", "/me/export", export))
    equal((held["address"], held["phone_number"]), (address, number), "what is held")
    refused(with_export_token(first, "GET", "/me/export", export), 401, "session_required")
    refused(with_export_token(second, "GET", "/sessions", export), 401, "session_required")
    refused(with_export_token(second, "GET", "/me", export), 401, "session_required")
    passing = second.with_identity(
        "GET", "/sessions/current", provider.identity_token(alice, second.nonce()), provider.app_id, provider.realm)
    refused(passing, 403, "user_banned", "spam")

    # Her provider is told, and the number is no way back.
    equal(accepted(provider.user(alice))["banned"], True, "banned")
    equal(accepted(provider.user(bob))["banned"], False, "banned of bob")
    equal(accepted(provider.introspect(tokens[0])), {"active": False}, "the introspection")
    verification, code = prove(chosen, shared, bobs, number)
    refused(check(shared, bobs, verification, wrong(code)), 422, "verification_failed")
    body = refused(check(shared, bobs, verification, code), 403, "user_banned")
    expect("until" not in body and "export_token" not in body, "bob is told of alice's ban")
    equal(both.request("GET", "/sessions/current", bobs)[0], 200, "bob after his try")

    admin.run("ban", "lift", made["ban_id"], "--note", "by mistake")
    refused(second.current(tokens[1]), 401, "session_destroyed")
    fresh = log_in(second, provider, alice)["session_token"]
    accepted(second.current(fresh))

    # Messaging alone; then out for good, and gone with all that is held.
    admin.run("ban", "add", "--user", address, "--reason", "spam", "--scope", "messaging")
    time.sleep(EFFECTIVE)
    accepted(second.current(fresh))
    admin.run("ban", "add", "--user", address, "--reason", "spam", "--permanent")
    time.sleep(EFFECTIVE)  # until her connection is closed: a request on its way would be lost with it
    told = refused(second.create_session(provider.identity_token(alice, second.nonce())), 403, "user_banned", "spam")
    expect("until" not in told, "a permanent ban has an end")
    accepted(with_export_token(second, "DELETE", "/me", told["export_token"]), 202)
    held = accepted(with_export_token(second, "GET", "/me/export", told["export_token"]))
    equal(held["phone_number"], None, "the number after the erasure")
    refused(second.create_session(provider.identity_token(alice, second.nonce())), 403, "user_banned", "spam")


def ban_resumed(chosen, provider, admin):
    """A device that resumes its TLS session, which no handshake callback sees."""
    device = new_device(chosen)
    saved = device.directory.name + "/session.pem"
    expect("201 Created" in s_client(chosen, device, ["-sess_out", saved]), "the first connection was not answered")
    before = s_client(chosen, device, ["-sess_in", saved])
    expect("Reused" in before and "201 Created" in before, "not resumed before the ban:\n" + before)
    open_one = HTTP1(chosen, device)
    equal(open_one.request("POST", "/nonces")[0], 201, "the open connection before")
    made = admin.run("ban", "add", "--device", device.device_id, "--reason", "lost")
    returned = time.monotonic()
    expect(open_one.note_end(returned + EFFECTIVE), "the open connection stays open")
    after = s_client(chosen, device, ["-sess_in", saved])
    expect("Reused" in after, "not resumed after the ban:\n" + after)
    expect("403 Forbidden" in after and "certificate_revoked" in after, "it was not refused:\n" + after)
    admin.run("ban", "lift", "--device", device.device_id, "--note", "found again")
    time.sleep(EFFECTIVE)
    expect("201 Created" in s_client(chosen, device, ["-sess_in", saved]), "not answered after the lifting")
    expect(made["devices"] == [device.device_id], "another device was banned")


def crash(chosen, provider, admin):
    """Kills the command at random moments: all of a ban is there, or nothing."""
    rolled = random.Random(8446)
    device = new_device(chosen)
    start = time.monotonic()
    admin.run("ban", "list")
    usual = time.monotonic() - start
    store = sqlite3.connect(f"file:{chosen.directory}/store.db?mode=ro", uri=True, timeout=60)
    whole = 0
    for round_ in range(chosen.rounds):
        user = f"user-{uuid.uuid4()}"
        sessions = [log_in(device, provider, user) for _ in range(2)]
        command = admin.command("ban", "add", "--user", sessions[0]["user_id"], "--reason", "spam", "--note", "n")
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rolled.uniform(0.6, 1.9) * usual)
        process.kill()
        process.wait()
        name = sessions[0]["user_id"]
        holds = store.execute(
            "SELECT ban_id FROM ban_holds WHERE kind = 'user' AND subject = ?", (uuid.UUID(name).bytes,)).fetchall()
        found = (
            len(holds),
            store.execute("SELECT count(*) FROM bans WHERE sealed_note IS NOT NULL AND id IN (%s)" % ",".join(
                "?" * len(holds)), [hold[0] for hold in holds]).fetchone()[0],
            store.execute(
                "SELECT count(*) FROM sessions WHERE user_id = ? AND end_reason = 'banned'", (name,)).fetchone()[0] // 2,
            store.execute(
                "SELECT count(*) FROM audit_entries WHERE event = 'ban_added' AND subject = ?",
                ("user " + name,)).fetchone()[0],
            store.execute(
                "SELECT count(*) FROM change_log WHERE kind = 3 AND key = ?", (uuid.UUID(name).bytes,)).fetchone()[0],
        )
        expect(found in ((0,) * 5, (1,) * 5), f"round {round_} left a part of a ban: {found}")
        whole += found[0]
        if found[0]:
            time.sleep(EFFECTIVE)
        for session in sessions:
            equal(device.current(session["session_token"]).status_code, 401 if found[0] else 200, "a session's status")
    print(f"{chosen.rounds} commands killed: {whole} bans whole, {chosen.rounds - whole} not there")


def measure(chosen, provider, admin):
    """How long after the command's return the last connection is closed and the last session refused."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * chosen.connections)), hard))
    user = f"alice-{uuid.uuid4()}"
    opened, tokens = [], []
    for index in range(chosen.connections):
        device = new_device(chosen)
        device.disconnect()
        one = HTTP1(chosen, device)
        mine = chosen.sessions * (index + 1) // chosen.connections - chosen.sessions * index // chosen.connections
        for _ in range(mine):
            nonce = one.request("POST", "/nonces")[1]["nonce"]
            status, body = one.request(
                "POST", "/sessions", body={"identity_token": provider.identity_token(user, nonce)})
            equal(status, 201, "the status of a session")
            tokens.append(body["session_token"])
        opened.append((device, one))
    # A session of the user on a connection that somebody else uses too: it is refused, not closed.
    shared = new_device(chosen)
    probe, other = (log_in(shared, provider, name)["session_token"] for name in (user, f"bob-{uuid.uuid4()}"))
    line = HTTP1(chosen, shared)
    for token in (probe, other):
        equal(line.request("GET", "/sessions/current", token)[0], 200, "before")
    refusals = []

    def ask():
        while line.request("GET", "/sessions/current", probe)[0] == 200:
            time.sleep(0.002)
        refusals.append(time.monotonic())

    def watch(found):
        waiting = {one.socket: one for _, one in opened}
        poll = select.poll()
        by_number = {end.fileno(): end for end in waiting}
        for number in by_number:
            poll.register(number, select.POLLIN | select.POLLHUP)
        while waiting and not found.is_set():
            for number, _ in poll.poll(200):
                end = by_number[number]
                waiting[end].read_end()
                if waiting[end].closed_at is not None:
                    poll.unregister(number)
                    del waiting[end]

    given_up = threading.Event()
    threads = [threading.Thread(target=ask), threading.Thread(target=watch, args=(given_up,))]
    for thread in threads:
        thread.start()
    admin.run("ban", "add", "--user", f"{provider.slug}/{user}", "--reason", "spam")
    returned = time.monotonic()
    threads[0].join(60)
    threads[1].join(60)
    given_up.set()
    left = [one for _, one in opened if one.closed_at is None]
    expect(not left, f"{len(left)} connections stay open")
    expect(refusals, "the session was never refused")
    delays = sorted(max(0.0, moment_ - returned) * 1000 for moment_ in [one.closed_at for _, one in opened] + refusals)
    p99 = delays[min(len(delays) - 1, int(len(delays) * 0.99))]
    for index, token in enumerate(tokens[:: max(1, len(tokens) // 50)]):
        refused(shared.current(token), 401, "session_destroyed")
    print(json.dumps({
        "connections": len(opened), "sessions": len(tokens) + 1, "p50_ms": round(delays[len(delays) // 2], 1),
        "p99_ms": round(p99, 1), "max_ms": round(delays[-1], 1)}))
    expect(p99 < EFFECTIVE * 1000, f"p99 is {p99} ms")


def main():
    parser = options.parser(__doc__)
    for name in ("countersign", "directory", "mode"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--version", default="-tls1_3")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--sessions", type=int, default=500)
    chosen = parser.parse_args()
    mode = {"user": ban_user, "resumption": ban_resumed, "crash": crash, "measure": measure}[chosen.mode]
    mode(chosen, options.provider(chosen), Admin(chosen))


if __name__ == "__main__":
    main()
