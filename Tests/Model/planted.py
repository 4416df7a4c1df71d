"""Histories that keep every promise and such that break one, judged by the model: it must tell them apart."""

from types import SimpleNamespace

import tlc
import trace


def event(kind, begin, end, outcome="done", node="a", **body):
    """One request."""
    return SimpleNamespace(kind=kind, subject="u", node=node, begin=begin, end=end, outcome=outcome, body=body)


NONCE = event("nonce", 0.0, 0.1)
OPEN = event("open", 1.0, 1.1)
END = event("end", 2.0, 2.1)
BAN = event("ban", 2.0, 2.1, node="admin")
OVER = {"code": "session_destroyed"}
USED = {"reason": "nonce_used"}

# What it is, whether the model accepts it, what was told, the states of the rows.
CASES = [
    ("nothing but a nonce and a session", True, [NONCE, OPEN], ["authenticated"]),
    ("an acknowledged session that is lost", False, [OPEN], []),
    ("a session that nobody ended", False, [OPEN], ["unauthenticated"]),
    ("an answer that is not known, and no session", True, [event("open", 1, 1.1, "unknown")], []),
    ("an answer that is not known, and a session", True, [event("open", 1, 1.1, "unknown")], ["authenticated"]),
    ("a session that came of an answer that nothing was changed", False, [event("open", 1, 1.1, "unchanged")],
     ["authenticated"]),
    ("a nonce that is spent twice, one after the other", False, [OPEN, event("open", 1.2, 1.3, node="b")],
     ["authenticated"]),
    ("a nonce that is spent twice, at once", False, [OPEN, event("open", 1.0, 1.3, node="b")], ["authenticated"]),
    ("a nonce that has two rows", False, [OPEN], ["authenticated", "authenticated"]),
    ("a nonce that is refused the second time", True, [OPEN, event("open", 1.2, 1.3, "refused", "b", **USED)],
     ["authenticated"]),
    ("a nonce that is refused before anybody showed it", False,
     [event("open", 0.5, 0.6, "refused", "b", **USED), OPEN], ["authenticated"]),
    ("a nonce that an unanswered request has spent", True,
     [event("open", 1, 1.1, "unknown"), event("open", 1.2, 1.3, "refused", "b", **USED)], ["authenticated"]),
    ("an ended session, refused everywhere", True,
     [OPEN, END, event("look", 2.2, 2.3, "refused", **OVER), event("look", 3.2, 3.3, "refused", "b", **OVER)],
     ["unauthenticated"]),
    ("an ended session that acts on another node, within the bound", True,
     [OPEN, END, event("look", 3.0, 3.2, node="b")], ["unauthenticated"]),
    ("an ended session that acts on another node, beyond the bound", False,
     [OPEN, END, event("look", 3.2, 3.3, node="b")], ["unauthenticated"]),
    ("an ended session that acts on the node that ended it", False,
     [OPEN, END, event("look", 2.2, 2.3)], ["unauthenticated"]),
    ("a session that acts while it is being ended", True,
     [OPEN, END, event("look", 2.05, 2.2)], ["unauthenticated"]),
    ("a node that knew of the end and forgets it", False,
     [OPEN, END, event("look", 2.2, 2.3, "refused", "b", **OVER), event("look", 2.4, 2.5, node="b")],
     ["unauthenticated"]),
    ("an end that is lost", False, [OPEN, END], ["authenticated"]),
    ("an end whose answer is not known, years later", True,
     [OPEN, event("end", 2, 2.1, "unknown"), event("look", 9, 9.1), event("look", 10, 10.1, "refused", **OVER)],
     ["unauthenticated"]),
    ("a live session that is refused", False, [OPEN, event("look", 2, 2.1, "refused", **OVER)], ["authenticated"]),
    ("a banned user's session that acts beyond the bound", False,
     [OPEN, BAN, event("look", 3.2, 3.3)], ["unauthenticated"]),
    ("a banned user who signs in", False, [event("ban", 0.5, 0.6, node="admin"), OPEN], ["authenticated"]),
    ("a sign-in beside a ban, which ends the session", True,
     [event("ban", 1.0, 1.2, node="admin"), OPEN, event("look", 2.3, 2.4, "refused", **OVER)], ["unauthenticated"]),
    ("a sign-in beside a ban, whose session stays", False, [event("ban", 1.0, 1.2, node="admin"), OPEN],
     ["authenticated"]),
    ("a challenged session that acts beyond the bound", False,
     [OPEN, event("challenge", 2, 2.1, node="admin"), event("look", 3.2, 3.3)], ["challenged"]),
    ("a challenged session that is told so", True,
     [OPEN, event("challenge", 2, 2.1, node="admin"),
      event("look", 3.2, 3.3, "refused", code="session_challenged")], ["challenged"]),
]


def judge():
    """For each case its name, and what is wrong with the verdict, if anything is; all are judged in one run."""
    events, rows = [], []
    for number, (_, _, told, states) in enumerate(CASES):
        events += [SimpleNamespace(**{**vars(one), "subject": f"u{number}"}) for one in told]
        rows += [{"external_id": f"u{number}", "state": state} for state in states]
    try:
        sentences, _ = trace.refused(events, rows)
    except tlc.Failure as failure:
        return [("planted histories", str(failure))]
    refused = {sentence.split(" what ")[1].split(" ")[0] for sentence in sentences}
    return [(name, None if (f"u{number}" not in refused) == isAccepted else
             f"is {'refused' if isAccepted else 'accepted'}, wrongly")
            for number, (name, isAccepted, _, _) in enumerate(CASES)]
