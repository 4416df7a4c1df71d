"""What clients were told while something failed, and what must be true of the store after it.

Each request is recorded with its begin, its end and its outcome:

- `done`: acknowledged; it must be found for ever after;
- `refused`: judged and refused;
- `unchanged`: 503; the contract says that nothing was changed;
- `unknown`: no answer, or one that says `outcome_unknown`: all of it happened or nothing.
"""

import collections
import threading
import time

import requests

# What one node was told holds on the others after so many seconds.
BOUND = 1.0


class Event:
    """One request and what became of it."""

    def __init__(self, kind, subject, node):
        self.kind, self.subject, self.node = kind, subject, node
        self.begin, self.end = time.monotonic(), None
        self.outcome = self.status = self.body = self.error = None

    def __repr__(self):
        end = "never" if self.end is None else f"{self.end:.3f}"
        return f"{self.kind} {self.subject} on {self.node} [{self.begin:.3f}, {end}]: {self.outcome} {self.status}"


class History:
    """All requests of a run."""

    def __init__(self):
        self.lock = threading.Lock()
        self.events = []

    def ask(self, kind, subject, node, request):
        """Makes a request and records it; a subject is what the event is about, such as a user."""
        event = Event(kind, subject, node)
        with self.lock:
            self.events.append(event)
        try:
            answer = request()
            event.status = answer.status_code
            event.body = answer.json() if answer.content else {}
            event.outcome = self.outcome(answer.status_code, event.body)
        except (requests.RequestException, ValueError) as error:
            event.error, event.outcome = repr(error), "unknown"
        event.end = time.monotonic()
        return event

    def told(self, kind, subject, node, act):
        """Records what was asked in another way than by a request; an act that fails may have happened."""
        event = Event(kind, subject, node)
        with self.lock:
            self.events.append(event)
        try:
            act()
            event.outcome = "done"
        except RuntimeError as error:
            event.error, event.outcome = repr(error), "unknown"
        event.end = time.monotonic()
        return event

    @staticmethod
    def outcome(status, body):
        """What an answer promises."""
        if status < 300:
            return "done"
        if status == 503:
            return "unknown" if body.get("reason") == "outcome_unknown" else "unchanged"
        return "refused" if status < 500 else "unknown"

    def of(self, kind, *outcomes, since=0.0, node=None):
        """The events of a kind, with one of the outcomes where any are named."""
        with self.lock:
            return [event for event in self.events if event.kind == kind and event.begin >= since
                    and (not outcomes or event.outcome in outcomes) and node in (None, event.node)]

    def summary(self):
        """How many there were of each kind and outcome."""
        with self.lock:
            counts = collections.Counter((event.kind, event.outcome) for event in self.events)
        return ", ".join(f"{kind} {outcome} {count}" for (kind, outcome), count in sorted(counts.items(), key=str))

    # The checks

    def violations(self, sessions, verifications, bans):
        """Every promise that is broken.

        `sessions` are rows with `external_id`, `id` and `state`, `verifications` rows with `id`, `checks` and
        `is_verified`, `bans` the number of bans that hold.
        """
        found = [f"an internal error: {event}" for event in self.events if event.status == 500]
        rows = collections.defaultdict(list)
        for row in sessions:
            rows[row["external_id"]].append(row)
        found += self.openings(rows)
        found += self.endings(rows)
        found += self.looks()
        found += self.proofs({row["id"]: row for row in verifications})
        if bans < len(self.of("ban", "done")):
            found.append(f"{len(self.of('ban', 'done'))} bans were acknowledged, {bans} hold")
        return found

    def openings(self, rows):
        """Each user of a run signs in with one nonce, shown as often as the load likes."""
        found = [f"a nonce was accepted {len(held)} times, for {user}" for user, held in rows.items() if len(held) > 1]
        told = collections.defaultdict(list)
        for event in self.of("open"):
            told[event.subject].append(event)
        for user, events in told.items():
            outcomes = [event.outcome for event in events]
            if outcomes.count("done") > 1:
                found.append(f"a nonce was acknowledged twice: {events}")
            if "done" in outcomes and not rows[user]:
                found.append(f"an acknowledged session is lost: {events}")
            if rows[user] and not {"done", "unknown"} & set(outcomes):
                found.append(f"a session was made though the answer said that nothing was changed: {events}")
            for event in events:
                if event.outcome == "done" and rows[user] and rows[user][0]["id"] != event.body["session_id"]:
                    found.append(f"another session than the acknowledged one is in the store: {event}")
        return found

    def endings(self, rows):
        """Acknowledged ends stay; what nobody asked to end lives."""
        asked = {kind: collections.defaultdict(list) for kind in ("end", "challenge", "ban")}
        for kind, by_user in asked.items():
            for event in self.of(kind, "done", "unknown"):
                by_user[event.subject].append(event)
        found = []
        for event in self.of("open", "done"):
            user = event.subject
            states = {row["state"] for row in rows[user]}
            ends = asked["end"][user] + asked["ban"][user]
            if any(end.outcome == "done" for end in ends):
                if states != {"unauthenticated"}:
                    found.append(f"an acknowledged end is lost: {ends}, the session is {states}")
            elif not ends and not asked["challenge"][user] and states != {"authenticated"}:
                found.append(f"a session that nobody ended is {states}: {event}")
            if any(act.outcome == "done" for act in asked["challenge"][user]) and "authenticated" in states:
                found.append(f"an acknowledged challenge is lost: {asked['challenge'][user]}")
        return found

    def looks(self):
        """What was seen of a session agrees with what had been acknowledged by then."""
        opened = {event.subject: event for event in self.of("open", "done")}
        acts = collections.defaultdict(list)
        for kind in ("end", "challenge", "ban"):
            for event in self.of(kind, "done", "unknown"):
                acts[event.subject].append(event)
        found = []
        for look in self.of("look", "done"):
            # On the node that was told, at once.
            late = [act for act in acts[look.subject] if act.outcome == "done"
                    and look.begin > act.end + (0 if act.node == look.node else BOUND)]
            if late:
                found.append(f"an ended session acted: {look} after {late}")
        for look in self.of("look", "refused"):
            if look.subject in opened and look.begin > opened[look.subject].end and not any(
                    act.begin < look.end for act in acts[look.subject]):
                found.append(f"a live session was refused: {look}, {look.body}")
        for opening in self.of("open", "done"):
            bans = [act for act in acts[opening.subject] if act.kind == "ban" and act.outcome == "done"]
            if any(opening.begin > ban.end for ban in bans):
                found.append(f"a banned user signed in: {opening}")
        return found

    def proofs(self, rows):
        """Each acknowledged wrong code was counted, no more than were sent, and a code is right once."""
        found = []
        told = collections.defaultdict(list)
        for event in self.of("check"):
            told[event.subject].append(event)
        for identifier, events in told.items():
            outcomes = collections.Counter(event.outcome for event in events)
            row = rows.get(identifier)
            if row is None:
                found.append(f"an acknowledged proof is lost: {events}")
                continue
            # 503 counts for nothing, what went unanswered may.
            judged = sum(event.status in (200, 422) for event in events)
            if not judged <= row["checks"] <= judged + outcomes["unknown"]:
                found.append(f"{row['checks']} attempts were counted: {events}")
            # The right code, sent again, gets its answer again.
            if outcomes["done"] and not row["is_verified"]:
                found.append(f"a code was accepted, and the row says {row['is_verified']}: {events}")
            if row["is_verified"] and not {"done", "unknown"} & set(outcomes):
                found.append(f"a number was proven though no answer said so: {events}")
        return found
