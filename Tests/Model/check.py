"""Checks the model, and that it needs each of its guards: without one a named property is violated.

    python3 check.py [--json] [--only MODULE]

It ends with 1 where the model has a violation, or where a guard is taken out and nothing happens.
"""

import argparse
import concurrent.futures
import json
import sys
import tempfile
import time

import planted
import tlc

AT_ONCE = 2  # runs side by side
PATIENCE = 10  # times the seconds that a run is expected to take

SNAPSHOT = {"Reading": '"snapshot"'}
PAIR = {"Sessions": "{1, 2}", "Renewals": "{}"}
RESTORED = {"Renewals": "{1}", "Cuts": "1", "Restores": "1"}
THREE = {"Nodes": "{a, b, c}", "Latest": "2", "Splits": "0", "Beats": "1", "Restarts": "FALSE", "SYMMETRY": "Alike"}
NO_SPLIT = {"Splits": "0"}
CLOCKS = {"Bound": "2", "Latest": "4", "Splits": "0", "Beats": "1", "Wrong": "2", "SessionEnd": "3"}

# What must hold: name, module, changed constants, seconds that it takes on a slow and busy core.
MODELS = [
    ("change log", "ChangeLog", {}, 8),
    ("change log, by snapshots", "ChangeLog", SNAPSHOT, 15),
    ("sessions, two renewals", "Session", {}, 5),
    ("sessions, two sign-ins", "Session", PAIR, 4),
    ("sessions and a restore", "Session", RESTORED, 7),
    ("nonce", "Nonce", {}, 3),
    ("caches, two servers", "Caches", {}, 15),
    ("caches of three nodes", "Caches", THREE, 15),
    ("caches and clocks", "Caches", CLOCKS, 5),
]

# What is taken out: module, constant, its value without the guard, the property that is violated, other constants.
GUARDS = [
    ("ChangeLog", "GuardHorizon", "FALSE", "NothingMissed", {}),
    ("ChangeLog", "GuardPositionBelowLastRow", "FALSE", "NothingMissed", {}),
    ("ChangeLog", "GuardOpenRemembered", "FALSE", "NothingMissed", SNAPSHOT),
    ("ChangeLog", "GuardSkipSeen", "FALSE", "AppliedOnce", {}),
    ("ChangeLog", "GuardPageToEnd", "FALSE", "NothingMissed", {}),
    ("ChangeLog", "GuardPurgeBelowPosition", "FALSE", "ListedReadsOn", SNAPSHOT),
    ("ChangeLog", "GuardPurgeOwnServer", "FALSE", "BeginnerReadsOn", SNAPSHOT),
    ("ChangeLog", "GuardPurgeNoted", "FALSE", "NothingMissed", SNAPSHOT),
    ("ChangeLog", "GuardIncarnation", "FALSE", "NothingMissed", {}),
    ("ChangeLog", "GuardRestoreEmptiesLog", "FALSE", "NothingMissed", {"Purges": "0"}),
    ("ChangeLog", "LossCheck", '"none"', "NothingLostIsKept", {}),
    ("ChangeLog", "LossCheck", '"tag"', "NothingLostIsKept", {}),
    ("Session", "GuardBanRaises", "FALSE", "CutStays", {}),
    ("Session", "GuardHeldAtSignIn", "FALSE", "HeldOpensNothing", {}),
    ("Session", "GuardOneStatement", "FALSE", "CutStays", {}),
    ("Session", "GuardGenerationOnLoad", "FALSE", "CutStays", {}),
    ("Session", "GuardRenewEquality", "FALSE", "CutStays", {}),
    ("Session", "GuardHeldAtRenew", "FALSE", "HeldRenewsNothing", {}),
    ("Session", "GuardRenewCompareToken", "FALSE", "RenewedOnce", {}),
    ("Session", "GuardRenewLiveOnly", "FALSE", "EndStays", {}),
    ("Session", "GuardLiftLooksAtOthers", "FALSE", "HeldOpensNothing", {}),
    ("Session", "GuardLiftSerializable", "FALSE", "HeldOpensNothing", {}),
    ("Session", "GuardSweepByGeneration", "FALSE", "SweepEndsOnlyCut", {}),
    ("Session", "GuardRestoreEndsAll", "FALSE", "EndStays", RESTORED),
    ("Session", "GuardRestoreReplays", "FALSE", "HeldOpensNothing", RESTORED),
    ("Nonce", "GuardExpiry", "FALSE", "SpentOnce", {}),
    ("Nonce", "GuardPrimaryKey", "FALSE", "SpentOnce", {}),
    ("Nonce", "GuardDecodedBytes", "FALSE", "SpentOnce", {}),
    ("Nonce", "GuardEverySpenderWrites", "FALSE", "SpentOnce", {}),
    ("Nonce", "GuardNonceRowKept", "FALSE", "SpentOnce", {}),
    ("Nonce", "GuardErasureKeepsRow", "FALSE", "SpentOnce", {}),
    ("Nonce", "GuardMargin", "FALSE", "SpentOnce", {}),
    ("Nonce", "GuardRestoreRaises", "FALSE", "SpentOnce", {}),
    ("Nonce", "GuardGenerationInSpend", "FALSE", "SpentOnce", {}),
    ("Caches", "GuardFreshness", "FALSE", "EndIsKnownInTime", NO_SPLIT),
    ("Caches", "GuardHeartbeat", "FALSE", "LoadIsNoOlder", {}),
    ("Caches", "GuardHeartbeatAcknowledged", "FALSE", "LoadIsNoOlder", {}),
    ("Caches", "GuardFreshAtBegin", "FALSE", "LoadIsNoOlder", {}),
    ("Caches", "GuardEpochOnLoad", "FALSE", "OwnEndAtOnce", NO_SPLIT),
    ("Caches", "GuardChangeReachesLoads", "FALSE", "EndIsKnownInTime", NO_SPLIT),
    ("Caches", "GuardLoadFromViewsServer", "FALSE", "LoadIsNoOlder", {}),
    ("Caches", "GuardOwnChangeApplied", "FALSE", "OwnEndAtOnce", NO_SPLIT),
    ("Caches", "GuardClock", "FALSE", "ExpiryInTime", CLOCKS),
]


def row(kind, name, expected, verdict, error=None):
    """A line of the table."""
    found = verdict.violated if verdict else None
    return {
        "kind": kind, "name": name, "expected": expected, "violated": found, "ok": not error and found == expected,
        "states": verdict.states if verdict else 0, "trace": verdict.length if verdict else 0,
        "seconds": round(verdict.seconds, 2) if verdict else 0, "cpu": round(verdict.processor, 2) if verdict else 0,
        "error": error,
    }


def checked(kind, name, expected, module, changes, seconds):
    """One run and its line."""
    try:
        return row(kind, name, expected, tlc.run(module, tlc.configuration(module, changes), seconds * PATIENCE))
    except tlc.Failure as failure:
        return row(kind, name, expected, None, str(failure))


def jobs(only):
    """Every run; the longest first, so that the last ones are short."""
    for name, module, changes, seconds in sorted(MODELS, key=lambda model: -model[3]):
        if only in (None, module):
            yield "model", name, None, module, changes, seconds
    for module, constant, value, expected, changes in GUARDS:
        if only in (None, module):
            name = f"{module}: without {constant}" if value == "FALSE" else f"{module}: {constant} = {value}"
            yield "guard", name, expected, module, {**changes, constant: value}, 5


def undeclared(only):
    """Guards of the modules that no run takes out."""
    listed = {(module, constant) for module, constant, *_ in GUARDS}
    for module in sorted({module for _, module, *_ in MODELS if only in (None, module)}):
        for line in tlc.configuration(module).splitlines():
            constant = line.strip().split(" ")[0]
            if constant.startswith("Guard") and (module, constant) not in listed:
                yield row("guard", f"{module}: without {constant}", "a violation", None, "no run takes it out")


def line(found):
    """As much of a row as a reader wants."""
    if found["kind"] == "history":
        return f"history: {found['name']:65} {'judged rightly' if found['ok'] else found['error']}"
    what = found["violated"] or "holds"
    length = f"{found['trace']:3} steps" if found["trace"] else " " * 9
    note = "" if found["ok"] else f"  <-- expected {found['expected'] or 'no violation'} {found['error'] or ''}"
    return (f"{found['name']:45} {what:18} {found['states']:8} states {length} {found['seconds']:6.1f} s"
            f" {found['cpu']:6.1f} s CPU{note}")


def main():
    """Runs all and says what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one document in place of a table")
    parser.add_argument("--only", choices=sorted({module for _, module, *_ in MODELS} | {"History"}))
    chosen = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        tlc.share(place)
        rows = list(pool.map(lambda job: checked(*job), jobs(chosen.only)))
        rows += undeclared(chosen.only)
        if chosen.only in (None, "History"):
            rows += [row("history", name, None, None, error) for name, error in planted.judge()]
    wrong = [found for found in rows if not found["ok"]]
    seconds = time.monotonic() - began
    if chosen.json:
        print(json.dumps({"ok": not wrong, "seconds": round(seconds, 1), "rows": rows}, indent=1))
    else:
        for found in rows:
            print(line(found))
        print(f"{len(rows)} runs, {len(wrong)} not as expected, {seconds:.0f} s,"
              f" {sum(found['cpu'] for found in rows):.0f} s CPU")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
