"""Upgrades: nodes of this version and of the next one on one store under load, and a new major version of PostgreSQL."""

import json
import subprocess
import time

from Cluster.fault_cases import case, done_on, server
from Cluster.fault_load import Load
from Shared import postgresql
from Shared.checks import accepted, equal, expect, soon
from Shared.client import Device

# What the next version adds to a store in use. A debug build reads it from the file that the variable names.
VARIABLE = "COUNTERSIGN_NEXT_MIGRATIONS"
NEXT = [
    {"name": "notes of sessions", "isReadable": True, "statements": [
        "ALTER TABLE sessions ADD COLUMN next_note TEXT NOT NULL DEFAULT 'none'",
        "CREATE TABLE next_notes (id TEXT NOT NULL PRIMARY KEY, session_id TEXT NOT NULL)"]},
    {"name": "sessions by note", "isReadable": True, "indexes": [
        {"name": "sessions_by_next_note", "table": "sessions", "definition": "(next_note)"}]},
]
QUIET = 1  # seconds without a request, after which a node that gets no new ones has none left
BACKUP = 4  # seconds that a backup reads the tables


class Ways(dict):
    """The connections of a device by node. A node that is out of rotation is not chosen, as by a balancer."""

    def __init__(self, ways, resting):
        super().__init__(ways)
        self.resting = resting

    def __iter__(self):
        return iter([name for name in dict.keys(self) if name not in self.resting])


class BalancedLoad(Load):
    """Load whose requests avoid the nodes that are replaced."""

    def __init__(self, installation, history):
        self.resting = set()
        super().__init__(installation, history)

    def device(self):
        """A newly certified device, on connections to each node."""
        self.devices[-1] = Ways(super().device(), self.resting)
        return self.devices[-1]


@case
def rolling(trial):
    """Each node is replaced by one of the next version, then by one of this version again. No call fails."""
    primary = server(trial).make().start()
    installation = trial.install(postgresql.address(primary))
    following = {VARIABLE: str(installation.write("next.json", json.dumps(NEXT).encode()))}
    nodes = [installation.node(name) for name in ("a", "b")]
    trial.begin(BalancedLoad)
    soon(lambda: all(done_on(trial, node, 0) for node in nodes), "a node opens no session")
    backup = read_tables(primary)
    for node in nodes:
        replace(trial, node, following)
        trial.say(f"{node.name} is of the next version")
        use(trial, primary, nodes)
    equal(backup.wait(timeout=60), 0, "the exit status of the backup")
    found = primary.rows("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('sessions_by_next_note')")
    equal(found, [{"indisvalid": True}], "the index of the next version")
    for node in nodes:
        replace(trial, node, {})
        trial.say(f"{node.name} is of this version again")
        use(trial, primary, nodes)
    installation.admin("status")
    trial.judge(primary.rows, 50)
    # A ban closes the connections of the user's device, which may wait for an answer.
    banned = {event.subject for event in trial.history.of("ban")}
    failed = [event for event in trial.history.events
              if event.outcome not in ("done", "refused") and not (event.kind == "look" and event.subject in banned)]
    expect(not failed, f"{len(failed)} calls failed: {[(event, event.error, event.body) for event in failed[:5]]}")
    longest = max(event.end - event.begin for event in trial.history.events if event.kind != "ban")
    trial.say(f"no call failed, and the longest took {longest:.2f} s")


def read_tables(primary):
    """Locks the tables as pg_dump does, beside the migration."""
    return subprocess.Popen(
        [postgresql.programs() / "psql", "-h", primary.directory, "-U", "countersign", "-d", "postgres", "-qAtX", "-c",
         f"BEGIN; LOCK TABLE sessions IN ACCESS SHARE MODE; SELECT pg_sleep({BACKUP}); COMMIT"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def replace(trial, node, environment):
    """Takes a node out of rotation, ends it when its requests have ended, and starts one of the other version."""
    load = trial.load
    load.resting.add(node.name)
    soon(lambda: is_quiet(trial, node), f"requests to {node.name} do not end")
    end(node)
    node.environment = environment
    node.start()
    node.wait(True)
    load.resting.discard(node.name)


def is_quiet(trial, node):
    """Whether a node has no request left."""
    with trial.history.lock:
        events = [event for event in trial.history.events if event.node == node.name]
    last = max((event.begin for event in events), default=0)
    return all(event.end for event in events) and time.monotonic() > last + QUIET


def use(trial, primary, nodes):
    """Lets all nodes work for a while, beside a program that knows the next version's column."""
    began = time.monotonic()
    primary.execute(
        "UPDATE sessions SET next_note = 'seen' WHERE id IN (SELECT id FROM sessions ORDER BY random() LIMIT 20)")
    for node in nodes:
        soon(lambda node=node: done_on(trial, node, began) > 5, f"{node.name} opens no session")


@case
def major_version(trial):
    """A store comes to a newer PostgreSQL in both ways: by a dump, and by pg_upgrade. Sessions go on."""
    old = server(trial).make("--data-checksums").start()
    installation = trial.install(postgresql.address(old))
    node = installation.node("a")
    provider = installation.provider(node)
    device = Device(node.public, node.client, installation.authority, "EC")
    accepted(device.certify(), 201)
    tokens = [
        accepted(device.create_session(provider.identity_token(f"user-{number}", device.nonce())), 201)["session_token"]
        for number in range(20)]

    def serve(new, name):
        """Starts the node at a new server: every session is valid, and one more user signs in."""
        node.store = installation.store = postgresql.address(new)
        node.start()
        for token in tokens:
            accepted(device.current(token))
        accepted(device.create_session(provider.identity_token(name, device.nonce())), 201)
        installation.admin("audit", "verify")
        version = new.execute("SHOW server_version").split(".")[0]
        trial.say(f"the sessions are valid on PostgreSQL {version} after {name}")
        end(node)

    end(node)
    newer = server(trial, "newer", chosen=postgresql.next_programs()).make("--no-data-checksums").start()
    newer.run("pg_dump", "-h", old.directory, "-U", "countersign", "-Fc", "-f", newer.directory / "dump", "postgres")
    newer.run("pg_restore", "-h", newer.directory, "-U", "countersign", "-d", "postgres", newer.directory / "dump")
    serve(newer, "pg_restore")
    old.stop()
    upgraded = server(trial, "upgraded", chosen=postgresql.next_programs()).make("--data-checksums")
    for how in (["--check"], []):
        upgraded.run(
            "pg_upgrade", "-U", "countersign", "-b", old.programs, "-B", upgraded.programs, "-d", old.data, "-D",
            upgraded.data, "-s", upgraded.directory, "--no-sync", *how)
    upgraded.start()
    upgraded.run("vacuumdb", "-h", upgraded.directory, "-U", "countersign", "--all", "--analyze-in-stages")
    serve(upgraded, "pg_upgrade")
    device.close()


def end(node):
    """Stops a node as an operator does."""
    node.ask_to_end()
    node.await_end()
