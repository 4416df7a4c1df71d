"""A cluster of database servers loses its primary, and a backup of it is restored into a new server."""

import os
import re
import time

from Cluster.database_cluster import EXAMPLES, DatabaseCluster
from Cluster.fault_cases import case, done_on
from Shared import postgresql
from Shared.checks import accepted, equal, expect, soon
from Shared.client import Device

FIRST_SIGN_IN = 2  # seconds after a promotion


def setting(name):
    """A number of seconds in the example for Patroni."""
    return int(re.search(rf"^ +{name}: (\d+)$", (EXAMPLES / "patroni.yml").read_text(), re.MULTILINE)[1])


@case
def availability(trial):
    """The primary's Patroni and PostgreSQL are killed. Later a mistake is undone by a restore to the moment before."""
    cluster = DatabaseCluster(trial.directory)
    trial.servers.append(cluster)
    cluster.start()
    os.environ["PGPASSFILE"] = str(cluster.password_file())
    first = cluster.primary()
    trial.say(f"{first.name} is the primary of three servers")
    first.backup("stanza-create")
    first.backup("backup", "--type=full")
    trial.say("a full backup was made")
    installation = trial.install(cluster.store())
    nodes = [installation.node(name) for name in ("a", "b")]
    trial.begin()
    for node in nodes:
        soon(lambda node=node: done_on(trial, node, 0), f"{node.name} opens no session")
    time.sleep(3)
    lose(trial, cluster, first)
    first.start_patroni()
    soon(
        lambda: cluster.standbys(cluster.primary()) == [0, 1], "the former primary does not follow the new one")
    trial.say(f"{first.name} follows the new primary")
    trial.judge(cluster.rows, 50)
    undo(trial, cluster)


def lose(trial, cluster, first):
    """Kills the primary. A standby is promoted in time, and users sign in soon after."""
    longest = setting("ttl") + setting("loop_wait")
    killed = time.monotonic()
    first.kill()
    trial.say(f"{first.name} was killed")
    second, seconds = cluster.await_primary(first, killed, longest)
    promoted = killed + seconds
    trial.say(f"{second.name} is the primary {seconds:.2f} s later, of {longest} s at most")
    for node in trial.installation.nodes:
        soon(lambda node=node: done_on(trial, node, promoted), f"{node.name} opens no session")
        signed_in = min(event.end for event in trial.history.of("open", "done", since=promoted, node=node.name))
        trial.say(f"a user signs in at {node.name} {signed_in - promoted:.2f} s after the promotion")
        expect(signed_in < promoted + FIRST_SIGN_IN, f"{node.name} needed more than {FIRST_SIGN_IN} s")
    time.sleep(3)


def undo(trial, cluster):
    """Somebody deletes all sessions. The backup and the archived log give them back, in a new server."""
    installation, primary = trial.installation, cluster.primary()
    sessions = {row["id"] for row in cluster.rows("SELECT id FROM sessions")}
    before = primary.query("SELECT clock_timestamp()")
    time.sleep(1)
    primary.query("DELETE FROM sessions")
    primary.backup("check")
    trial.say("all sessions were deleted, and the log is archived")
    restored = RestoredServer(trial.directory / "restored", cluster)
    trial.servers.append(restored)
    restored.restore(before)
    found = {row["id"] for row in restored.rows("SELECT id FROM sessions")}
    equal(found, sessions, "the sessions of the restored server")
    trial.say(f"{len(sessions)} sessions are in the restored server")
    replaced, installation.store = installation.store, restored.store
    installation.admin("store", "restore", "--in-place", "--replaced", replaced, "--reason", "mistake", "--yes")
    installation.admin("audit", "verify")
    node = installation.node("c")
    device = Device(node.public, node.client, installation.authority, "EC")
    accepted(device.certify(), 201)
    accepted(device.create_session(installation.provider(node).identity_token("user", device.nonce())), 201)
    device.close()
    node.ask_to_end()
    node.await_end()
    trial.say("a user signs in on the restored server")


class RestoredServer(postgresql.Server):
    """A server of its own, with what the cluster had at a moment."""

    def __init__(self, directory, cluster):
        super().__init__(directory)
        self.cluster = cluster
        self.store = f"postgresql:///countersign?user=countersign&host={self.directory}"

    def restore(self, moment):
        """Fills it from the repository and starts it. It follows the archived log up to a moment."""
        configuration = self.directory / "pgbackrest.conf"
        configuration.write_text(self.cluster.backup_configuration(self.directory, self.data))
        self.cluster.own(configuration)
        self.cluster.run(
            "pgbackrest", f"--config={configuration}", "--stanza=countersign", "--archive-mode=off", "--type=time",
            f"--target={moment}", "--target-action=promote", "restore")
        access = self.directory / "hba"
        access.write_text("local all all trust\n")
        self.cluster.own(access)
        # No standby follows it, so no commit may wait for one.
        self.start(f"hba_file={access}", "max_connections=120", "ssl=off", "synchronous_standby_names=")
        soon(
            lambda: self.execute("SELECT pg_is_in_recovery()").strip() == "f", "the restored server still recovers")

    def execute(self, sql):
        """Runs a statement in the service's database."""
        done = self.cluster.run(
            postgresql.programs() / "psql", "-h", self.directory, "-U", "countersign", "-d", "countersign", "-qAtXc",
            sql, check=False)
        if done.returncode:
            raise ConnectionError(done.stderr)
        return done.stdout
