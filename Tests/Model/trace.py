"""Judges recorded histories by the model in History.tla.

    python3 trace.py FILE

The file is JSON: `events`, each with `kind`, `subject`, `node`, `begin`, `end`, `outcome`, `status` and `body`, and
`sessions`, the rows of the store with `external_id` and `state`. It ends with 1 where the model refuses a user's part.
"""

import argparse
import json
import re
import sys
from types import SimpleNamespace

import tlc

# What one node was told holds on the others after so many seconds.
BOUND = 1.0
# How many parts of a history are judged, and of how many requests; most of them are alike and judged once.
MOST_PARTS, MOST_REQUESTS = 1500, 60
SECONDS = 120

STATES = {"authenticated": 1, "challenged": 2, "unauthenticated": 3}
SHOWN = {"session_challenged": "show challenged", "session_destroyed": "show over"}
OPENING = {"nonce_used": "refused as used", "user_banned": "refused as banned"}


def does(event):
    """What a request does in the model; nothing where the answer says nothing about the session."""
    body = event.body or {}
    if event.kind in ("open", "end", "challenge", "ban") and event.outcome in ("done", "unknown"):
        return "open, perhaps" if event.kind == "open" and event.outcome == "unknown" else event.kind
    if event.kind == "look" and event.outcome == "done":
        return "show live"
    if event.outcome == "refused" and event.kind == "open":
        return OPENING.get(body.get("reason"), OPENING.get(body.get("code")))
    if event.outcome == "refused" and event.kind in ("look", "end"):
        return SHOWN.get(body.get("code"))
    return None


def part(events, states):
    """One user's part: requests, and points in the order of time.

    At the same moment begins come first: the model is not stricter than clocks are.
    """
    requests, points = [], []
    for event in events:
        what = does(event)
        if not what:
            continue
        requests.append((what, event.node))
        number = len(requests)
        points.append((event.begin, 0, "begin", number))
        if event.outcome != "unknown":
            points.append((event.end, 1, "answer", number))
            if what in ("end", "challenge", "ban"):
                points.append((event.end + BOUND, 2, "known", number))
    ordered = tuple((at, number) for _, _, at, number in sorted(points))
    # More than one session of a nonce is none that the model has.
    session = {0: 0, 1: STATES[states[0]] if states else 0}.get(len(states), 9)
    return tuple(requests), ordered + (("store", session),)


def parts(events, rows):
    """The parts of all users, and for each the users that it stands for.

    Users with more than one nonce are left out: the model has one.
    """
    by_user, states, nonces = {}, {}, {}
    for event in sorted(events, key=lambda event: event.begin):
        by_user.setdefault(event.subject, []).append(event)
        if event.kind == "nonce" and event.outcome == "done":
            nonces[event.subject] = nonces.get(event.subject, 0) + 1
    for row in rows:
        states.setdefault(row["external_id"], []).append(row["state"])
    found = {}
    for user, own in by_user.items():
        if nonces.get(user, 0) <= 1 and any(event.kind == "open" for event in own):
            made = part(own, states.get(user, []))
            if len(made[0]) <= MOST_REQUESTS:
                found.setdefault(made, []).append(user)
    # Where more happened there is more to find.
    return dict(sorted(found.items(), key=lambda item: -len(item[0][0]))[:MOST_PARTS])


def module(found):
    """The module that gives the parts to the model."""
    texts = []
    for requests, points in found:
        asked = ", ".join(f'[does |-> "{what}", node |-> "{node}"]' for what, node in requests)
        passed = ", ".join(f'[at |-> "{at}", {"session" if at == "store" else "request"} |-> {number}]'
                           for at, number in points)
        texts.append(f"[requests |-> <<{asked}>>, points |-> <<{passed}>>]")
    body = ",\n".join(texts)
    return f"---- MODULE Recorded ----\nEXTENDS History\nRecordedTraces == <<\n{body}\n>>\n====\n"


def refused(events, rows):
    """What the model does not accept, a sentence each; and how many parts stood for how many users."""
    found = parts(events, rows)
    if not found:
        return [], (0, 0)
    config = tlc.configuration("History") + "CONSTANT Traces <- RecordedTraces\n"
    verdict = tlc.run("Recorded", config, SECONDS, module(found))
    accepted = {int(number) for number in re.findall(r'<<"accepted", (\d+)>>', verdict.output)}
    sentences = []
    for number, ((requests, points), users) in enumerate(found.items(), 1):
        if number not in accepted:
            steps = ", ".join(
                f"{at} {number}" if at == "store" else f"{at} of {' on '.join(requests[number - 1])} ({number})"
                for at, number in points)
            sentences.append(f"the model refuses what {users[0]} and {len(users) - 1} others were told: {steps}")
    return sentences, (len(found), sum(map(len, found.values())))


def main():
    """Judges a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    with open(parser.parse_args().file, encoding="utf8") as file:
        recorded = json.load(file)
    events = [SimpleNamespace(**event) for event in recorded["events"]]
    sentences, (count, users) = refused(events, recorded["sessions"])
    for sentence in sentences:
        print(sentence)
    print(f"{count - len(sentences)} of {count} parts, of {users} users, are accepted")
    sys.exit(1 if sentences else 0)


if __name__ == "__main__":
    main()
