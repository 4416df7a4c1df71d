"""What a device keeps of its streams, by `GET /sync` and the messages that it has not read: written from the page alone."""

import time

import requests

from Shared.checks import PATIENCE, accepted, expect



def insist(device, method, path, first=0, **arguments):
    """A request that is repeated on one node after another until a node answers; and whether an earlier one was lost.

    Every call of messages may be repeated: the page says so.
    """
    deadline, lost = time.monotonic() + PATIENCE, False
    for number in range(first, 100_000):
        try:
            answer = device.call(number % len(device.at), method, path, **arguments)
            if answer.status_code != 503:
                return answer, lost
        except requests.RequestException:
            lost = True
        expect(time.monotonic() < deadline, f"{method} {path} is not answered in {PATIENCE} s")
        time.sleep(0.02)
    return None, lost


class Replica:
    """The streams of a device's user, as the device knows them."""

    def __init__(self, device, first=0):
        self.device, self.first, self.anchor = device, first, "0"
        self.rows, self.messages = {}, {}

    def get(self, path):
        """What a node says."""
        return accepted(insist(self.device, "GET", path, self.first)[0])

    def synchronize(self):
        """Reads what has changed; how many operations there were."""
        count, more = 0, True
        while more:
            page = self.get(f"/sync?anchor={self.anchor}")
            for operation in page["operations"]:
                self.apply(operation)
            self.anchor, more = page["anchor"], page["more"]
            count += len(page["operations"])
        return count

    def apply(self, operation):
        """One line of the page's table."""
        name, event, stream = operation["operation"], operation["event_id"], operation["stream_id"]
        if name == "DELETED" and event is None:
            self.rows.pop(stream, None)
            self.messages.pop(stream, None)
            return
        if operation["stream"]:
            # Metadata are in the row of their own operation alone.
            known = operation["stream"] if name == "UPDATE_TAGS" else self.rows.get(stream, {})
            metadata = {kind: known.get(kind, {}) for kind in ("metadata", "private_metadata")}
            self.rows[stream] = {**operation["stream"], **metadata}
        held = self.messages.setdefault(stream, {})
        if name == "NEW_MESSAGE":
            self.read(stream, held)
        elif name == "ERASED":
            held.clear()
            self.read(stream, held)
        elif name == "UPDATE_TAGS" and event:
            known = held.get(operation["event"]["sequence"])
            # A message that is not here yet is read with its metadata.
            if known and not known["deleted"]:
                for kind in ("metadata", "private_metadata"):
                    known[kind] = operation["event"][kind]
        elif name == "DELETED":
            for known in held.values():
                if known["id"] == event:
                    known.update(deleted=True, parts=None, metadata={}, private_metadata={})

    def read(self, stream, held):
        """The messages after the last one that is here."""
        more = True
        while more:
            answer, _ = insist(self.device, "GET", f"/streams/{stream}/events?after={max(held, default=0)}", self.first)
            if answer.status_code == 404:
                return  # deleted meanwhile: an operation says so
            page = accepted(answer)
            for event in page["events"]:
                held[event["sequence"]] = {"metadata": {}, "private_metadata": {}, **event}
            more = page["more"]

    def state(self, private=True):
        """All that it knows, in a form that can be compared; without what only the user sees, if that is not asked for."""
        streams = {}
        for stream, row in self.rows.items():
            members = {one["user_id"]: (one["delivered_through"], one["read_through"]) for one in row["members"]}
            own = (row["private_metadata"], row["unread"]) if private else None
            streams[stream] = {
                "row": (row["kind"], row["state"], row["title"], row["last_sequence"], row["metadata"], members, own),
                "messages": [self.shown(one, private) for _, one in sorted(self.messages.get(stream, {}).items())],
            }
        return streams

    @staticmethod
    def shown(event, private):
        """A message."""
        names = ["sequence", "id", "sender", "sent_at", "in_reply_to", "thread", "deleted", "parts", "metadata"]
        return {name: event[name] for name in names + (["private_metadata"] if private else [])}
