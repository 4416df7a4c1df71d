"""One fault, under load, and the check that no promise was broken.

    python3 faults.py CASE --countersign FILE --policies DIRECTORY
"""

import argparse
import gc
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Model"))

from Cluster import fault_availability  # pylint: disable=unused-import
from Cluster import fault_cases
from Cluster import fault_machines  # pylint: disable=unused-import
from Cluster import fault_restores  # pylint: disable=unused-import
from Cluster import fault_upgrades  # pylint: disable=unused-import
from Shared.checks import expect, soon
from Cluster.fault_load import Load
from Cluster.history import History
from Shared.installation import Installation
import trace  # the model's, not the standard library's

SESSIONS = "SELECT external_id, id, state FROM sessions"
VERIFICATIONS = "SELECT id, checks, verified_at IS NOT NULL AS is_verified FROM phone_verifications"
BANS = "SELECT id FROM bans WHERE lifted_at IS NULL"


class Trial:
    """What a case works with: a directory, an installation on a store, a load and its history."""

    def __init__(self, countersign, policies):
        self.countersign, self.policies = countersign, policies
        self.directory = Path(tempfile.mkdtemp(prefix="countersign-", dir="/tmp"))
        self.directory.chmod(0o711)
        self.history = History()
        self.servers, self.installation, self.load = [], None, None
        self.last = []  # what is done after all has ended
        self.started = time.monotonic()

    def say(self, sentence):
        """One line with the time since the start."""
        print(f"{time.monotonic() - self.started:6.2f} s  {sentence}", flush=True)

    def install(self, store):
        """Keys, a provider and the tables."""
        self.installation = Installation(self.countersign, self.policies, self.directory, store)
        self.say("installed")
        return self.installation

    def begin(self, kind=Load, **options):
        """Starts a kind of load on the nodes that run."""
        self.load = kind(self.installation, self.history).start(**options)
        self.say("the load runs")
        return self.load

    def judge(self, rows, least):
        """Stops load and nodes, and compares the history with the store.

        On a busy machine the load goes on until so many sessions were acknowledged.
        """
        expect(self.acknowledged(), "no session was opened until the fault's end")
        soon(
            lambda: self.acknowledged() >= least or self.load.failures,
            f"fewer than {least} sessions were acknowledged")
        self.load.stop()
        self.say(self.history.summary())
        self.replay()
        self.say("every session was asked for again")
        self.load.close()
        # Failed requests keep their connections in cycles, and a node waits for the end of each.
        gc.collect()
        self.installation.stop()
        sessions = rows(SESSIONS)
        found = self.history.violations(sessions, rows(VERIFICATIONS), len(rows(BANS)))
        refused, (parts, users) = trace.refused(self.history.events, sessions)
        self.say(f"the model was shown {parts} different parts of {users} users' histories")
        found += refused
        for sentence in found[:20]:
            print("broken:", sentence)
        expect(not found, f"{len(found)} promises were broken")
        for node in self.installation.nodes:
            expect("internal_error" not in node.log.read_text(), f"{node.name} logged an internal error")
        self.say(f"{self.acknowledged()} sessions were acknowledged, and every promise holds")

    def acknowledged(self):
        """How many sessions were opened, as their answers say."""
        return len(self.history.of("open", "done"))

    def replay(self):
        """After the fault every session that was acknowledged is asked for once more, on every node."""
        for user, token, device, _ in self.load.live[-60:]:
            for node in device:
                look = self.load.look_until_answered(device, user, token, node)
                expect(look.outcome in ("done", "refused"), f"a node does not answer after the fault: {look}")

    def close(self):
        """Ends what still runs."""
        if self.load:
            self.load.stopping.set()
        for node in self.installation.nodes if self.installation else []:
            if node.process.poll() is None:
                node.kill()
        for server in self.servers:
            server.stop()
        for act in self.last:
            act()
        shutil.rmtree(self.directory, ignore_errors=True)


def main():
    """Runs one case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=sorted(fault_cases.CASES))
    parser.add_argument("--countersign", required=True)
    parser.add_argument("--policies", required=True)
    chosen = parser.parse_args()
    trial = Trial(chosen.countersign, chosen.policies)
    try:
        fault_cases.CASES[chosen.case](trial)
    except BaseException:
        for log in sorted(trial.directory.rglob("*.log")):
            print(f"--- {log.relative_to(trial.directory)}\n{log.read_text()[-1500:]}", file=sys.stderr)
        raise
    finally:
        trial.close()


if __name__ == "__main__":
    main()
