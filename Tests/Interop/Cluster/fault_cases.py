"""Faults of nodes, servers and the ways between them: what breaks, what clients see meanwhile, and how it ends."""

import signal
import threading
import time

from Shared import postgresql
from Shared.checks import expect, soon
from Shared.client import Device
from Cluster.history import BOUND
from Shared.proxy import Proxy

CASES = {}


def case(function):
    """Adds a case under the function's name."""
    CASES[function.__name__] = function
    return function


def server(trial, name="primary", **options):
    """A server in a directory of the trial's."""
    made = postgresql.Server(trial.directory / name, **options)
    trial.servers.append(made)
    return made


def done_on(trial, node, since):
    """How many sessions were acknowledged on a node since a moment."""
    return len(trial.history.of("open", "done", since=since, node=node.name))


@case
def kill(trial):
    """Each of two nodes is killed while the other goes on; one is halted while a user is banned."""
    primary = server(trial).make().start()
    installation = trial.install(postgresql.address(primary))
    nodes = [installation.node(name) for name in ("a", "b")]
    trial.begin()
    time.sleep(2)
    for killed, other in (nodes, nodes[::-1]):
        began = time.monotonic()
        killed.kill()
        time.sleep(2)
        soon(lambda: done_on(trial, other, began), f"{other.name} did not go on")
        trial.say(f"{killed.name} was killed; {other.name} opened {done_on(trial, other, began)} sessions meanwhile")
        killed.start()
        time.sleep(1.5)
    halt(trial, nodes[1])
    trial.judge(primary.rows, 50)


def halt(trial, node):
    """Stops a node's process as a machine that is moved: what it is asked meanwhile it answers afterwards."""
    load = trial.load
    device = load.device()
    user, token, body = load.insist(device)
    expect(load.look_until_answered(device, user, token, node.name).status == 200, "the node does not know a session")
    node.process.send_signal(signal.SIGSTOP)
    trial.history.told("ban", user, "admin", lambda: trial.installation.admin(
        "ban", "add", "--user", body["user_id"], "--reason", "test", "--yes"))
    time.sleep(1.2)
    asking = threading.Thread(target=load.look, args=(device, load.random, user, token, node.name))
    asking.start()
    time.sleep(0.5)
    node.process.send_signal(signal.SIGCONT)
    asking.join()
    seen = [look.status for look in trial.history.of("look", node=node.name) if look.subject == user]
    trial.say(f"of a user who was banned meanwhile a node that was halted said {seen[-1]}")


@case
def failover(trial):
    """The primary is killed and a synchronous standby promoted."""
    primary = server(trial).make().start()
    standby = server(trial, "standby").follow(primary, "standby").start()
    primary.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    primary.execute("SELECT pg_reload_conf()")
    installation = trial.install(postgresql.address(primary, standby))
    nodes = [installation.node(name) for name in ("a", "b")]
    trial.begin()
    uncertain_commit(trial, primary, standby)
    time.sleep(2)
    killed = time.monotonic()
    primary.kill()
    gone = time.monotonic()
    trial.servers.remove(primary)
    trial.say("the primary was killed")
    for node in nodes:
        trial.say(f"{node.name} is not ready after {node.wait(False):.2f} s")
    time.sleep(2)
    away = time.monotonic()
    standby.promote()
    promoted = time.monotonic()
    trial.say("the standby was promoted")
    for node in nodes:
        soon(lambda node=node: done_on(trial, node, promoted), f"{node.name} opens no session after the primary's end")
    trial.say(f"all nodes open sessions {time.monotonic() - promoted:.2f} s after the promotion")
    time.sleep(3)
    for node in nodes:
        meanwhile = [event for kind in ("nonce", "open", "look", "end")
                     for event in trial.history.of(kind, since=gone + BOUND, node=node.name)
                     if event.end and event.end < away]
        expect(meanwhile, f"{node.name} was not asked while the store was away")
        wrong = [event for event in meanwhile if event.status != 503]
        expect(not wrong, f"{node.name} answered while the store was away: {wrong[:3]}")
    trial.judge(standby.rows, 50)


def uncertain_commit(trial, primary, standby):
    """Somebody ends the wait of commits for the standby: they must not be acknowledged.

    Every commit waits while the standby is halted, and every wait is ended, also that of the write which looks whether the
    commit took place. So the first request that writes provokes the state. A node whose view of the store is too old sends
    no more commits: then the standby goes on, and it is tried again.
    """
    for _ in range(10):
        began = time.monotonic()
        standby.signal(signal.SIGSTOP)
        try:
            while time.monotonic() < began + 12:
                for row in primary.rows("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"):
                    primary.execute(f"SELECT pg_cancel_backend({row['pid']})")
                if any(event.status == 503 and (event.body or {}).get("reason") == "outcome_unknown"
                       for event in list(trial.history.events)):
                    trial.say("a commit that was not waited for was not acknowledged")
                    return
                time.sleep(0.02)
        finally:
            standby.signal(signal.SIGCONT)
        for node in trial.installation.nodes:
            node.wait(True)
    raise AssertionError("no request wrote anything while the standby was halted")


@case
def cut(trial):
    """One of two nodes is cut off from the store for half a minute, in which the other bans, challenges and ends."""
    primary = server(trial).make().start()
    installation = trial.install(postgresql.address(primary))
    way = Proxy(primary.directory / ".s.PGSQL.5432")
    installation.node("a")
    cut_off = installation.node("b", store=postgresql.address(way.address))
    load = trial.begin()
    time.sleep(2)
    device = load.device()
    watched = watch(load, device)
    trial.say("the way to the store is cut")
    way.hold()
    held = time.monotonic()
    acts, seen_stale = False, 0
    while time.monotonic() < held + 30:
        for user, token, _ in watched.values():
            look = load.look(device, load.random, user, token, "b")
            if look.begin > held + BOUND:
                expect(look.status == 503, f"the cut node answered {(look.begin - held):.2f} s later: {look}")
                seen_stale += 1
        if not acts and time.monotonic() > held + 4:
            acts = True
            asked = time.monotonic()
            stranger = Device(cut_off.public, cut_off.client, installation.authority, "EC")
            expect(stranger.certify().status_code == 503, "the cut node certifies")
            expect(time.monotonic() - asked < 5, "the refusal to certify waits for the store")
            banish(trial, watched, device)
            expect(cut_off.ready() == {"ready": False, "store": False, "view": False, "clock": True},
                   "the probe does not say that the view is old")
        time.sleep(0.1)
    # As if it had been cut off for longer than changes are kept.
    primary.execute("DELETE FROM change_log")
    way.release()
    trial.say(f"the way is open again; the cut node refused {seen_stale} looks")
    released = time.monotonic()
    while not done_on(trial, cut_off, released):
        for user, token, _ in watched.values():
            load.look(device, load.random, user, token, "b")
        expect(time.monotonic() < released + 15, "the cut node does not recover")
    trial.say(f"it opens sessions {time.monotonic() - released:.2f} s later")
    cut_off.wait(True)
    for act, (user, token, _) in watched.items():
        look = load.look_until_answered(device, user, token, "b")
        expect((look.status == 200) == (act == "none"), f"after {act}: {look}")
    time.sleep(2)
    trial.judge(primary.rows, 50)


@case
def slow_commits(trial):
    """Each commit of two nodes takes 0.3 s: what one of them ends, the other refuses, and it goes on with the rest."""
    primary = server(trial).make().start()
    installation = trial.install(postgresql.address(primary))
    way = Proxy(primary.directory / ".s.PGSQL.5432")
    for name in ("a", "b"):
        installation.node(name, store=postgresql.address(way.address))
    load = trial.begin()
    device = load.device()
    watched = watch(load, device)
    way.commit_delay = 0.3
    trial.say("each commit takes 0.3 s")
    # The history is judged: no look that begins a second after the end of an act may be answered with 200.
    banish(trial, watched, device)
    trial.say("three sessions were ended")
    for act, (user, token, _) in watched.items():
        soon(lambda act=act, user=user, token=token: (
            load.look_until_answered(device, user, token, "b").status == 200) == (act == "none"),
             f"{act} is not in force on the other node")
    asked = time.monotonic()
    soon(lambda: done_on(trial, installation.nodes[1], asked), "the node opens no session while commits are slow")
    way.commit_delay = 0
    trial.judge(primary.rows, 50)


def watch(load, device):
    """Four sessions that node b has in its memory, by what will become of them."""
    watched = {}
    for act in ("none", "ban", "challenge", "end"):
        user, token, body = load.insist(device)
        look = load.look_until_answered(device, user, token, "b")
        expect(look.status == 200, f"the node does not know a session: {look}")
        watched[act] = (user, token, body)
    return watched


def banish(trial, watched, device):
    """Ends three sessions in three ways, beside the watched node."""
    installation = trial.installation
    trial.history.told("ban", watched["ban"][0], "admin", lambda: installation.admin(
        "ban", "add", "--user", watched["ban"][2]["user_id"], "--reason", "test", "--yes"))
    trial.history.told("challenge", watched["challenge"][0], "admin", lambda: installation.admin(
        "session", "challenge", watched["challenge"][2]["session_id"]))
    user, token, _ = watched["end"]
    trial.history.ask("end", user, "a", lambda: device["a"].end_session(token))


@case
def reset(trial):
    """Connections to the store are reset at random points, mid-transaction and around commits."""
    primary = server(trial).make().start()
    installation = trial.install(postgresql.address(primary))
    ways = [Proxy(primary.directory / ".s.PGSQL.5432", seed) for seed in (1, 2)]
    for name, way in zip("ab", ways):
        installation.node(name, store=postgresql.address(way.address))
    trial.begin()
    for way in ways:
        way.chance = 0.01
    time.sleep(10)
    soon(lambda: sum(way.resets for way in ways) > 30, "too few connections were reset")
    for way in ways:
        way.chance = 0
    trial.say(f"{sum(way.resets for way in ways)} connections were reset")
    time.sleep(1)
    trial.judge(primary.rows, 50)
