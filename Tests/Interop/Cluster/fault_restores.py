"""Faults in which the store loses what it had: a failover that lost a commit, and a restore beside a halted node."""

import signal
import subprocess
import time

from Shared import postgresql
from Shared.checks import PATIENCE, accepted, equal, expect, refused, soon
from Shared.client import Device
from Cluster.fault_cases import case, server
from Shared.proxy import Proxy


def synchronous_pair(trial):
    """A primary, its synchronous standby, and the way between them."""
    primary = server(trial).make().start()
    way = Proxy(primary.directory / ".s.PGSQL.5432")
    trial.last.append(way.release)
    standby = server(trial, "standby")
    host, port = way.address.split(":")
    standby.run("pg_basebackup", "-D", standby.data, "-R", "-c", "fast", "--no-sync", "-d",
                f"host={host} port={port} user=countersign application_name=standby")
    standby.start()
    primary.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    primary.execute("SELECT pg_reload_conf()")
    return primary, standby, way


def end_waits(primary, seconds):
    """Somebody ends every wait for the standby, as an operator may."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for row in primary.rows("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"):
            primary.execute(f"SELECT pg_cancel_backend({row['pid']})")
        time.sleep(0.02)


@case
def lost_commit(trial):
    """The new primary lacks a commit that a node has read, and gives its numbers to another."""
    primary, standby, way = synchronous_pair(trial)
    installation = trial.install(postgresql.address(primary, standby))
    node = installation.node("b")
    provider = installation.provider(node)
    device = Device(node.public, node.client, installation.authority, "EC")
    accepted(device.certify(), 201)
    first, second = (
        accepted(device.create_session(provider.identity_token(user, device.nonce())), 201) for user in ("one", "two"))
    for session in (first, second):
        accepted(device.current(session["session_token"]))
    way.hold()
    time.sleep(0.3)
    admin = subprocess.Popen(
        [installation.countersign, "session", "challenge", first["session_id"],
         *installation.places(installation.store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end_waits(primary, 2)
    output = admin.communicate(timeout=PATIENCE)
    expect(admin.returncode != 0, f"a commit that the standby lacks was acknowledged: {output}")
    # Its own commits reach no standby: it has seen the change, and refuses to decide by what it sees.
    expect(node.ready()["view"] is False, "a node whose commits reach no standby says that its view is young")
    trial.say("a change is on the primary alone, and the node has read it")
    node.process.send_signal(signal.SIGSTOP)
    primary.kill()
    trial.servers.remove(primary)
    standby.promote()
    installation.admin("session", "end", second["session_id"])
    node.process.send_signal(signal.SIGCONT)
    statuses = []

    def answered():
        statuses.append(device.current(second["session_token"]).status_code)
        return statuses[-1] != 503

    soon(answered, "the node answers 503 without end")
    equal(statuses[-1], 401, "the first answer that is no 503 for a session that was ended on the new primary")
    accepted(device.current(first["session_token"]))
    trial.say(f"the node noticed the take-over after {len(statuses) - 1} times 503")
    device.close()


@case
def isolated(trial):
    """A node reaches a primary alone that no standby follows any more, while another server took over."""
    primary, standby, way = synchronous_pair(trial)
    installation = trial.install(postgresql.address(primary))
    node = installation.node("b")
    provider = installation.provider(node)
    device = Device(node.public, node.client, installation.authority, "EC")
    accepted(device.certify(), 201)
    session = accepted(device.create_session(provider.identity_token("one", device.nonce())), 201)["session_token"]
    accepted(device.current(session))
    way.hold()
    standby.promote()
    isolated_since = time.monotonic()
    while (status := device.current(session).status_code) == 200:
        expect(time.monotonic() < isolated_since + 3, "the node goes on answering from an isolated primary")
        time.sleep(0.02)
    equal(status, 503, "the answer beside an isolated primary")
    trial.say(f"it refuses {time.monotonic() - isolated_since:.2f} s after the primary was isolated")
    # The server itself answers whoever only reads.
    equal(primary.rows("SELECT count(*) AS n FROM sessions"), [{"n": 1}], "what the isolated primary says")
    seen = set()
    until = time.monotonic() + 3
    while time.monotonic() < until:
        seen.add(device.current(session).status_code)
        time.sleep(0.05)
    equal(seen, {503}, "later answers")
    device.close()


@case
def restored(trial):
    """A node is halted while its store is restored, and asked for a sign-in that was accepted before."""
    primary = server(trial).make().start()
    installation = trial.install(postgresql.address(primary))
    first, halted = installation.node("a"), installation.node("b")
    provider = installation.provider(first)
    device = Device(first.public, first.client, installation.authority, "EC")
    accepted(device.certify(), 201)
    beside = device.at(halted.public, halted.client)
    accepted(beside.ask_nonce(), 201)
    programs = postgresql.programs()
    place = ["-h", primary.directory, "-U", "countersign", "-d", "postgres"]
    dump = subprocess.run(
        [programs / "pg_dump", *place], capture_output=True, check=True, timeout=60).stdout
    token = provider.identity_token("victim", device.nonce())
    accepted(device.create_session(token), 201)
    halted.process.send_signal(signal.SIGSTOP)
    first.ask_to_end()
    first.await_end()
    installation.nodes.remove(first)
    primary.execute("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    " WHERE pid <> pg_backend_pid() AND datname = 'postgres'")
    primary.execute("DROP SCHEMA public CASCADE")
    primary.execute("CREATE SCHEMA public")
    subprocess.run(
        [programs / "psql", *place, "-q", "-v", "ON_ERROR_STOP=1"], input=dump, capture_output=True, check=True,
        timeout=60)
    installation.admin("store", "restore", "--in-place", "--lost", "--yes")
    halted.process.send_signal(signal.SIGCONT)
    asked = 0
    while halted.process.poll() is None:
        try:
            refused(beside.create_session(token), 503, "unavailable")
            asked += 1
        except OSError:
            pass  # It ends.
        expect(asked < 400, "the node that was halted does not end")
        time.sleep(0.02)
    expect("the store was restored while this node ran" in halted.log.read_text(), "the node does not say why it ended")
    equal(halted.process.returncode, 1, "how the node ended")
    installation.nodes.remove(halted)
    equal(primary.rows("SELECT count(*) AS n FROM sessions"), [{"n": 0}], "the sessions after the restore")
    trial.say(f"the token was refused {asked} times, and the node ended")
    device.close()
