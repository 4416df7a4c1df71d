"""Calls that make devices ring by pushes, from the registration of an endpoint for VoIP to the end of the ringing.

    python3 ringing.py --countersign FILE --policies DIRECTORY

Calls go through two nodes. Amazon SNS, as moto plays it, takes the pushes.
"""

import argparse
import datetime
import json
import time

from Devices.people import Cluster, User, message, permit, rang
from Shared.checks import accepted, equal, expect, moment, now, refused

RINGING, END = 20, 120  # seconds that a push is useful


def stream_of(path):
    """The id of a call's stream."""
    return path.rsplit("/", 1)[1]


class Callee:
    """A user with a phone that has an endpoint for VoIP beside its usual one, a tablet, and a watch that only rings."""

    def __init__(self, cluster, name):
        self.cluster = cluster
        self.user = User(cluster, name, {
            "phone": (cluster.provider.app_id, {"push_endpoint": "APNS", "call_endpoint": "APNS_VOIP"}),
            "tablet": (cluster.provider.app_id, {"push_endpoint": "GCM"}),
            "watch": (cluster.provider.app_id, {"call_endpoint": "APNS_VOIP"}),
        })
        phone, tablet, watch = self.devices = list(self.user.devices.values())
        self.rings = [phone.endpoints["call_endpoint"], tablet.endpoints["push_endpoint"], watch.endpoints["call_endpoint"]]
        self.usual = {"phone": phone.endpoints["push_endpoint"], "tablet": tablet.endpoints["push_endpoint"]}

    def told(self, kind, path):
        """The endpoints that got a kind of push about a call, each once."""
        everything = {*self.rings, self.usual["phone"]}
        return sorted(
            one.endpoint for endpoint in everything for one in self.cluster.carrier.published(endpoint, kind)
            if one.data["stream_id"] == stream_of(path))

    def ringing(self, path):
        """Waits until every device rings; the pushes."""
        return [self.cluster.carrier.awaited(endpoint, "CALL", stream_of(path)) for endpoint in self.rings]

    def ended(self, path, reason, *labels):
        """Waits until the usual endpoints of some devices are told the end, with its reason."""
        for label in labels:
            end = self.cluster.carrier.awaited(self.usual[label], "CALL_END", stream_of(path), seconds=RINGING + 30)
            equal(end.data, {**words(end), "type": "CALL_END", "stream_id": stream_of(path), "reason": reason}, "the end")
            expect("sound" not in json.dumps(end.part), "the end of the ringing makes a sound")
            judge_attributes(end, path)


def words(push):
    """What Firebase's data hold besides, because the app shows the text itself."""
    return {name: push.data[name] for name in ("title", "body")} if push.platform == "GCM" else {}


def judge_attributes(push, path):
    """The attributes with which each platform delivers at once, and drops what is too late."""
    platform = push.platform
    lifetime = int(push.attributes["AWS.SNS.MOBILE." + ("FCM" if platform == "GCM" else platform) + ".TTL"])
    expect(1 <= lifetime <= (RINGING if push.data["type"] == "CALL" else END), f"the lifetime is {lifetime} s")
    if platform == "GCM":
        equal(set(push.attributes), {"AWS.SNS.MOBILE.FCM.TTL"}, "Firebase's attributes")
        android = push.part["fcmV1Message"]["message"]["android"]
        equal((android["priority"], android["collapse_key"]), ("high", stream_of(path)), "Firebase's own")
        expect("notification" not in push.part["fcmV1Message"]["message"], "the app is not woken")
        return
    kind = "voip" if platform == "APNS_VOIP" else "alert"
    equal({name: push.attributes[f"AWS.SNS.MOBILE.APNS.{name}"] for name in ("PUSH_TYPE", "PRIORITY", "COLLAPSE_ID")},
          {"PUSH_TYPE": kind, "PRIORITY": "10", "COLLAPSE_ID": stream_of(path)}, f"the attributes of {platform}")
    equal(len(push.attributes), 4, "the number of attributes")


def judge_ring(push, path, caller):
    """What makes a device ring: who calls, until when, on which stream."""
    judge_attributes(push, path)
    data = push.data
    equal((data["type"], data["stream_id"], data["user_id"], data["address"]),
          ("CALL", stream_of(path), caller.user_id, caller.address), "the push")
    left = moment(data["expires_at"]) - now()
    expect(datetime.timedelta(0) < left <= datetime.timedelta(seconds=RINGING), f"it rings for another {left}")
    expect(all(isinstance(value, str) for value in data.values()), "not all values are text")
    expect("offer" not in json.dumps(push.parts), "the offer is in the push")
    if push.platform != "GCM":
        equal(push.part["aps"]["sound"], "default", "the sound")


def registration(cluster, callee):
    """A device reads its endpoints back; one of an application that the policy does not name is refused."""
    phone = callee.user["phone"]
    for node in range(2):
        profile = accepted(phone.call(node, "GET", "/me"))
        equal({name: profile[name] for name in phone.endpoints}, phone.endpoints, "the endpoints of the device")
    for wrong in (callee.rings[0].replace("/app/", "/other/"), "x", ""):
        refused(phone.call(1, "PATCH", "/me", json={"call_endpoint": wrong}), 400, "malformed_request")
    equal(accepted(phone.call(1, "GET", "/me"))["call_endpoint"], phone.endpoints["call_endpoint"], "the endpoint")


def answered(cluster, caller, callee):
    """All devices ring; one answers, and the others are told, except where only a ring may be pushed."""
    anchor = accepted(callee.user["watch"].call(1, "GET", "/sync?anchor=latest"))["anchor"]
    path = rang(caller["phone"], callee.user, 0)
    for push in callee.ringing(path):
        judge_ring(push, path, caller)
    equal(callee.told("CALL", path), sorted(callee.rings), "who rings")
    tablet = callee.user["tablet"]
    [offer] = accepted(tablet.call(1, "GET", f"{path}/events?after=0"))["events"]
    equal((offer["sequence"], offer["sender"]), (1, caller.user_id), "the offer")
    equal(accepted(tablet.call(1, "POST", f"{path}/events", json=message("answer")), 201)["sequence"], 2, "the answer")
    late = callee.user["phone"].call(0, "POST", f"{path}/events", json=message("answer"))
    equal(refused(late, 409, "conflict")["state"], "answered", "what a later answer is told")
    callee.ended(path, "answered", "phone")
    operations = accepted(callee.user["watch"].call(0, "GET", f"/sync?anchor={anchor}"))["operations"]
    numbers = [one["stream"]["last_sequence"] for one in operations if one["operation"] == "NEW_MESSAGE"]
    equal(numbers, [2], "what the watch reads")
    return path, {"phone"}


def given_up(cluster, caller, callee):
    """The caller hangs up: no device rings on."""
    path = rang(caller["phone"], callee.user, 1)
    callee.ringing(path)
    equal(caller["phone"].call(0, "DELETE", path).status_code, 204, "the end of the call")
    callee.ended(path, "given_up", "phone", "tablet")
    refused(callee.user["tablet"].call(1, "POST", f"{path}/events", json=message("answer")), 404, "not_found")
    return path, {"phone", "tablet"}


def declined(cluster, caller, callee):
    """One device declines, and the other one is told."""
    path = rang(caller["phone"], callee.user, 0)
    callee.ringing(path)
    equal(callee.user["phone"].call(1, "DELETE", path).status_code, 204, "the end of the call")
    callee.ended(path, "declined", "tablet")
    return path, {"tablet"}


def moved(cluster, caller, callee):
    """A device that has removed its endpoint for VoIP rings by its usual one; after its log-out it does not ring."""
    phone, watch = callee.user["phone"], callee.user["watch"]
    accepted(phone.call(1, "PATCH", "/me", json={"call_endpoint": None}))
    equal(watch.call(0, "DELETE", "/sessions/current").status_code, 204, "the log-out")
    path = rang(caller["phone"], callee.user, 0)
    callee.rings = list(callee.usual.values())
    callee.ringing(path)
    equal(caller["phone"].call(0, "DELETE", path).status_code, 204, "the end of the call")
    callee.ended(path, "given_up", "phone", "tablet")
    return path, {"phone", "tablet"}


def kept_by_moto(cluster, endpoint):
    """How many pushes an endpoint has, as moto says."""
    [found] = [one for one in cluster.carrier.seen()["PlatformEndpoint"] if one["arn"] == endpoint]
    return len(found["messages"])


def main():
    """The whole walk."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("countersign", "policies"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    with Cluster(chosen.countersign, chosen.policies, 2, {"calls.yaml": f"ringing: {RINGING}s\n"}) as cluster:
        callee, slow = Callee(cluster, "alice"), Callee(cluster, "carol")
        caller = User(cluster, "bob", {"phone": (cluster.provider.app_id, {})})
        for one in (callee, slow):
            permit(caller["phone"], one.user["phone"])
        missed = rang(caller["phone"], slow.user, 1)
        slow.ringing(missed)
        registration(cluster, callee)
        rings, ends = list(callee.rings), []
        for step in (answered, given_up, declined, moved):
            began = time.monotonic()
            ends.append(step(cluster, caller, callee))
            print(f"passed  {step.__name__}: {time.monotonic() - began:.2f} s", flush=True)
        slow.ended(missed, "missed", "phone", "tablet")
        late = slow.user["phone"].call(0, "POST", f"{missed}/events", json=message("answer"))
        equal(refused(late, 409, "conflict")["state"], "missed", "what an answer is told afterwards")
        for path, labels in ends:
            equal(callee.told("CALL_END", path), sorted(callee.usual[label] for label in labels), "who is told the end")
        equal(callee.told("CALL", ends[-1][0]), sorted(callee.rings), "who rings at last")
        for endpoint in rings:
            equal(kept_by_moto(cluster, endpoint), len(cluster.carrier.published(endpoint)), "what moto has taken")
        cluster.installation.stop()
    print("rang and ended")


if __name__ == "__main__":
    main()
