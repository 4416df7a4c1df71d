"""The judge of histories, judged: each broken promise is found, and a history that kept all of them is let pass."""

from Shared.checks import equal, expect
from Cluster.history import History


class Answer:
    """As much of a response as a history looks at."""

    def __init__(self, status, body=None):
        self.status_code, self.body, self.content = status, body or {}, b"{}"

    def json(self):
        return self.body


def told(history, kind, subject, status, node="a", at=(0.0, 0.1), **body):
    """An event that ended so."""
    event = history.ask(kind, subject, node, lambda: Answer(status, body))
    event.begin, event.end = at
    return event


def sessions(*rows):
    """Rows of the table."""
    return [{"external_id": user, "id": identifier, "state": state} for user, identifier, state in rows]


def proof(checks, is_verified):
    """A row of the table."""
    return [{"id": "p", "checks": checks, "is_verified": is_verified}]


OPEN = ("open", "u", 201)
LIVE = sessions(("u", "s", "authenticated"))
OVER = sessions(("u", "s", "unauthenticated"))

# What was told, then sessions, proofs and bans in the store, then a part of the sentence or nothing.
CASES = [
    ([(*OPEN, {"session_id": "s"})], LIVE, [], 0, None),
    ([(*OPEN, {"session_id": "s"})], [], [], 0, "is lost"),
    ([(*OPEN, {"session_id": "other"})], LIVE, [], 0, "another session"),
    ([(*OPEN, {"session_id": "s"})], OVER, [], 0, "nobody ended"),
    ([(*OPEN, {"session_id": "s"})], LIVE + sessions(("u", "t", "authenticated")), [], 0, "accepted 2 times"),
    ([(*OPEN, {"session_id": "s"}), (*OPEN, {"session_id": "s"})], LIVE, [], 0, "acknowledged twice"),
    ([("open", "u", 503, {})], LIVE, [], 0, "nothing was changed"),
    ([("open", "u", 503, {"reason": "outcome_unknown"})], LIVE, [], 0, None),
    ([("open", "u", 503, {"reason": "outcome_unknown"})], [], [], 0, None),
    ([("open", "u", 500, {})], [], [], 0, "internal error"),
    ([(*OPEN, {"session_id": "s"}), ("end", "u", 204, {"at": (1, 2)})], OVER, [], 0, None),
    ([(*OPEN, {"session_id": "s"}), ("end", "u", 204, {"at": (1, 2)})], LIVE, [], 0, "end is lost"),
    ([(*OPEN, {"session_id": "s"}), ("challenge", "u", 200, {"at": (1, 2)})], LIVE, [], 0, "challenge is lost"),
    ([(*OPEN, {"session_id": "s"}), ("end", "u", 204, {"at": (1, 2)}), ("look", "u", 200, {"at": (2.1, 3)})], OVER, [],
     0, "session acted"),
    ([(*OPEN, {"session_id": "s"}), ("ban", "u", 200, {"at": (1, 2)}),
      ("look", "u", 200, {"at": (2.9, 3), "node": "b"})], OVER, [], 1, None),
    ([(*OPEN, {"session_id": "s"}), ("ban", "u", 200, {"at": (1, 2)}),
      ("look", "u", 200, {"at": (3.1, 4), "node": "b"})], OVER, [], 1, "session acted"),
    ([("ban", "u", 200, {})], [], [], 0, "bans were acknowledged"),
    ([(*OPEN, {"session_id": "s"}), ("look", "u", 401, {"at": (1, 2)})], LIVE, [], 0, "live session was refused"),
    ([("ban", "u", 200, {}), (*OPEN, {"session_id": "s", "at": (1, 2)})], OVER, [], 1, "signed in"),
    ([("check", "p", 422, {}), ("check", "p", 200, {})], [], proof(2, True), 0, None),
    ([("check", "p", 422, {})], [], [], 0, "proof is lost"),
    ([("check", "p", 422, {}), ("check", "p", 422, {})], [], proof(1, False), 0, "attempts were counted"),
    ([("check", "p", 503, {})], [], proof(1, False), 0, "attempts were counted"),
    ([("check", "p", 200, {}), ("check", "p", 200, {})], [], proof(2, True), 0, None),
    ([("check", "p", 200, {})], [], proof(1, False), 0, "code was accepted"),
    ([("check", "p", 422, {})], [], proof(1, True), 0, "no answer said so"),
]


def main():
    for events, rows, proofs, bans, wanted in CASES:
        history = History()
        for kind, subject, status, body in events:
            body = dict(body)
            told(history, kind, subject, status, body.pop("node", "a"), body.pop("at", (0.0, 0.1)), **body)
        found = history.violations(rows, proofs, bans)
        if wanted is None:
            equal(found, [], f"what is found in {events}")
        else:
            expect(any(wanted in sentence for sentence in found), f"{wanted} is not found in {events}: {found}")
    print(f"{len(CASES)} histories were judged rightly")


if __name__ == "__main__":
    main()
