"""A receiver and a transmitter of the OpenID Shared Signals Framework 1.0, written from the specifications: SSF, CAEP and
RISC 1.0, the CAEP interoperability profile, RFC 8417, 8935, 8936 and 9493. Nothing here knows how the service is made.

The service was started with the switch that allows receivers on this machine, and without limits.
"""

import http.server
import json
import threading
import time
import uuid

from Shared import options
from Bans.admin import Admin
from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT, Device
from Shared.phones import begin, check, new_number, wait_for_texts
from SharedSignals.shared_signals_receiver import (
    CAEP, POLL, PUSH, RISC, SECRET, SSF, Backend, Receiver, Transmitter, kinds)
from SharedSignals.shared_signals_transmitter import transmit


def life(receiver):
    """Create, read, list, update, replace and delete (SSF 1.0 §8.1.1)."""
    equal(accepted(receiver.stream("GET")), [], "the list without a stream")
    made = accepted(receiver.stream("POST", {"description": "one", "unknown_member": 1}), 201)
    for member in ("stream_id", "iss", "aud", "events_delivered", "delivery"):
        expect(made[member], member)
    equal(made["delivery"]["method"], POLL, "the method without a wish")
    equal(made["iss"], receiver.transmitter.issuer, "the issuer")
    expect(set(made["events_delivered"]) <= set(made["events_supported"]), "the delivered events")
    name = made["stream_id"]
    equal(accepted(receiver.stream("GET", stream_id=name)), made, "the stream")
    equal(accepted(receiver.stream("GET")), [made], "the list")
    wanted = [CAEP + "session-revoked", "https://schemas.example/unknown"]
    updated = accepted(receiver.stream("PATCH", {"stream_id": name, "events_requested": wanted}))
    equal(updated["events_delivered"], wanted[:1], "the delivered events")
    equal((updated["events_requested"], updated["description"]), (wanted, "one"), "what was left out")
    equal(accepted(receiver.stream("PATCH", updated)), updated, "a repeated configuration")
    for change in ({"iss": "https://other.example"}, {"aud": "other"}, {"events_delivered": []},
                   {"delivery": {"method": POLL, "endpoint_url": "https://other.example"}}):
        equal(receiver.stream("PATCH", {"stream_id": name, **change}).status_code, 400, f"the status of {change}")
    replaced = accepted(receiver.stream("PUT", {"stream_id": name, "description": "two"}))
    expect("events_requested" not in replaced, "what was left out is still there")
    equal(replaced["events_delivered"], made["events_delivered"], "the delivered events")
    equal(receiver.stream("POST", {"delivery": {"method": "urn:x"}}).status_code, 400, "an unknown method")
    for body in ("{", "[]"):
        answer = receiver.transmitter.http.post(
            receiver.transmitter.metadata["configuration_endpoint"], data=body, timeout=TIMEOUT,
            headers={"Authorization": "Bearer " + receiver.token, "Content-Type": "application/json"})
        equal(answer.status_code, 400, "the status of what is no configuration")
    equal(receiver.stream("DELETE", stream_id=name).status_code, 204, "the deletion")
    for answer in (receiver.stream("GET", stream_id=name), receiver.stream("DELETE", stream_id=name),
                   receiver.stream("PATCH", {"stream_id": name}), receiver.status("GET", stream_id=name),
                   receiver.verify(made), receiver.call("POST", made["delivery"]["endpoint_url"], {})):
        equal(answer.status_code, 404, "the status of a deleted stream")


def tokens(receiver, reader, other):
    """RFC 6750: no token, a bad one, one in the URL, one that only reads; and another provider's."""
    stream = accepted(receiver.stream("POST", {}), 201)
    name, http = stream["stream_id"], receiver.transmitter.http
    place = receiver.transmitter.metadata["configuration_endpoint"]
    bare = http.get(place, timeout=TIMEOUT)
    expect(bare.status_code == 401 and "error=" not in bare.headers["WWW-Authenticate"], "no token")
    expect(bare.headers["WWW-Authenticate"].startswith("Bearer"), "the challenge")
    bad = http.get(place, headers={"Authorization": "Bearer x.y.z"}, timeout=TIMEOUT)
    expect(bad.status_code == 401 and 'error="invalid_token"' in bad.headers["WWW-Authenticate"], "a bad token")
    expect(400 <= http.get(place, params={"access_token": receiver.token}, timeout=TIMEOUT).status_code < 402, "a URL")
    expect(400 <= receiver.stream("GET", access_token=receiver.token).status_code < 402, "header and URL")
    equal(accepted(reader.stream("GET", stream_id=name)), stream, "the stream as one reads it who may only read")
    accepted(reader.status("GET", stream_id=name))
    body = {"stream_id": name, "status": "paused"}
    for answer in (reader.stream("POST", {}), reader.stream("PATCH", body), reader.stream("PUT", body),
                   reader.stream("DELETE", stream_id=name), reader.status("POST", body), reader.verify(stream),
                   reader.call("POST", stream["delivery"]["endpoint_url"], {})):
        equal(answer.status_code, 403, "the status for one who may only read")
        expect('error="insufficient_scope"' in answer.headers["WWW-Authenticate"], "the challenge")
    for answer in (other.stream("GET", stream_id=name), other.stream("PATCH", body), other.stream("PUT", body),
                   other.stream("DELETE", stream_id=name), other.status("GET", stream_id=name),
                   other.status("POST", body), other.verify(stream),
                   other.call("POST", stream["delivery"]["endpoint_url"], {})):
        equal(answer.status_code, 404, "the status of another's stream")
    equal(accepted(other.stream("GET")), [], "the list of the other")
    equal(receiver.stream("DELETE", stream_id=name).status_code, 204, "the deletion")


def push(receiver, log_in, device):
    """Push (RFC 8935): an approved address, its header, 503 and a second attempt under one id, paused and enabled."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    delivery = {"method": PUSH, "endpoint_url": f"http://127.0.0.1:{server.server_address[1]}/events",
                "authorization_header": SECRET}
    waiting = accepted(receiver.stream("POST", {"delivery": delivery}), 201)
    shown = accepted(receiver.status("GET", stream_id=waiting["stream_id"]))
    expect(shown["status"] == "paused" and shown["reason"], "an address that nobody approved is used")
    equal(receiver.stream("DELETE", stream_id=waiting["stream_id"]).status_code, 204, "the deletion")
    stream = accepted(receiver.proven("POST", {"delivery": delivery, "subject_format": "complex"}), 201)
    name = stream["stream_id"]
    expect(SECRET not in json.dumps(stream), "the header is told")
    equal(accepted(receiver.status("GET", stream_id=name))["status"], "enabled", "the status")

    def wait(kind, count=1):
        """The claims of what was accepted of a kind."""
        def found():
            claims = [receiver.transmitter.verified(token, stream) for headers, token in list(Receiver.seen)]
            chosen_ones = [one for one in claims if kind in one["events"]]
            return chosen_ones if len(chosen_ones) >= count else None

        return soon(found, f"no {kind} came")

    state = str(uuid.uuid4())
    equal(receiver.verify(stream, state=state).status_code, 204, "the request for a verification")
    [claims] = wait(SSF + "verification")
    equal(claims["events"][SSF + "verification"], {"state": state}, "the verification")
    equal(claims["sub_id"], {"format": "opaque", "id": name}, "the subject of the verification")
    headers, _ = Receiver.seen[0]
    equal(headers["Authorization"], SECRET, "the header of the receiver")
    equal((headers["Content-Type"], headers["Accept"]), ("application/secevent+jwt", "application/json"), "the types")
    equal(Receiver.tried[claims["jti"]], 2, "the attempts under one id")

    session = log_in("ada")
    device.end_session(session["session_token"])
    [claims] = wait(CAEP + "session-revoked")
    user = {"format": "iss_sub", "iss": receiver.transmitter.issuer, "sub": session["user_id"]}
    equal(claims["sub_id"], {"format": "complex", "user": user,
                             "session": {"format": "opaque", "id": session["session_id"]}}, "the subject")
    paused = {"stream_id": name, "status": "paused", "reason": "night"}
    equal(accepted(receiver.status("POST", paused)), paused, "the status")
    equal(accepted(receiver.status("GET", stream_id=name)), paused, "the status")
    device.end_session(log_in("ada")["session_token"])
    held = len(Receiver.seen)
    time.sleep(1)
    equal(len(Receiver.seen), held, "what came while the stream was paused")
    equal(accepted(receiver.status("POST", {"stream_id": name, "status": "enabled"}))["status"], "enabled", "the status")
    equal(len({claims["jti"] for claims in wait(CAEP + "session-revoked", 2)}), 2, "the ids")
    equal(accepted(receiver.status("POST", {"stream_id": name, "status": "disabled"}))["status"], "disabled", "status")
    equal(receiver.status("POST", {"stream_id": name, "status": "open"}).status_code, 400, "an unknown status")
    equal(receiver.stream("DELETE", stream_id=name).status_code, 204, "the deletion")


def poll(receiver, log_in, device):
    """Poll (RFC 8936): at once and waiting, acknowledged and refused, more than fits; ES256."""
    stream = accepted(receiver.stream("POST", {"signing_alg": "ES256"}), 201)
    equal(receiver.poll(stream, returnImmediately=True), ({}, False), "an empty stream")
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(receiver.poll(stream)))
    waiting.start()
    time.sleep(1)
    expect(waiting.is_alive() and not answers, "a poll without an event did not wait")
    first = log_in("ben")
    device.end_session(first["session_token"])
    waiting.join(TIMEOUT)
    expect(answers and not waiting.is_alive(), "an event did not wake the poll")
    [claims] = answers[0][0].values()
    equal(claims["sub_id"], {"format": "iss_sub", "iss": stream["iss"], "sub": first["user_id"]}, "the subject")
    expect(CAEP + "session-revoked" in claims["events"], "the event")
    for user in ("cyd", "dan"):
        device.end_session(log_in(user)["session_token"])
    some, more = receiver.poll(stream, maxEvents=2, returnImmediately=True)
    equal((len(some), more, claims["jti"] in some), (2, True, True), "some of three events")
    equal(receiver.poll(stream, maxEvents=0, ack=[claims["jti"], "unknown"]), ({}, True), "an ack")
    rest, more = receiver.poll(stream, returnImmediately=True)
    equal((len(rest), more, claims["jti"] in rest), (2, False, False), "what was not acknowledged")
    again, _ = receiver.poll(stream, returnImmediately=True, ack=[claims["jti"]])
    equal(set(again), set(rest), "what was not acknowledged, again")
    [refused, other] = rest
    errors = {refused: {"err": "invalid_key", "description": "The key is unknown."}}
    left, _ = receiver.poll(stream, returnImmediately=True, setErrs=errors)
    equal(set(left), {other}, "what is left after an error")
    for wrong in ({"maxEvents": -1}, {"maxEvents": "1"}, {"ack": "x"}, {"setErrs": []}, {"returnImmediately": 1}):
        equal(receiver.call("POST", stream["delivery"]["endpoint_url"], wrong).status_code, 400, f"the status of {wrong}")
    paused = accepted(receiver.status("POST", {"stream_id": stream["stream_id"], "status": "paused"}))
    equal(paused["status"], "paused", "the status")
    equal(receiver.poll(stream, returnImmediately=True)[0], {}, "a paused stream")
    accepted(receiver.status("POST", {"stream_id": stream["stream_id"], "status": "enabled"}))
    equal(set(receiver.poll(stream, returnImmediately=True)[0]), {other}, "an enabled stream")
    equal(receiver.stream("DELETE", stream_id=stream["stream_id"]).status_code, 204, "the deletion")


def subjects(receiver, log_in, device):
    """Adding and removing of subjects (SSF 1.0 §8.1.3), of a stream that has all of them at first."""
    equal(receiver.transmitter.metadata["default_subjects"], "ALL", "the subjects of a new stream")
    stream = accepted(receiver.stream("POST", {}), 201)
    session = log_in("hal")
    named = {"format": "iss_sub", "iss": stream["iss"], "sub": session["user_id"]}
    added = receiver.subject("add", stream, named, verified=True)
    equal((added.status_code, added.content), (200, b""), "the answer to an addition")
    for _ in range(2):
        equal(receiver.subject("remove", stream, named).status_code, 204, "the answer to a removal")
    device.end_session(session["session_token"])
    device.end_session(log_in("ida")["session_token"])
    equal([one["external_id"] for one in receiver.drain(stream).values()], ["ida"], "who is in the stream")
    equal(receiver.subject("add", stream, {"format": "complex", "user": named}).status_code, 200, "the status")
    device.end_session(log_in("hal")["session_token"])
    equal([one["external_id"] for one in receiver.drain(stream).values()], ["hal"], "who is in the stream")
    for wrong, status in (({"format": "email"}, 400), ({**named, "id": "x"}, 400), ("hal", 400),
                          ({**named, "sub": str(uuid.uuid4())}, 404), ({"format": "opaque", "id": "x"}, 404)):
        equal(receiver.subject("remove", stream, wrong).status_code, status, f"the status of {wrong}")
    equal(receiver.subject("add", {"stream_id": str(uuid.uuid4())}, named).status_code, 404, "an unknown stream")
    equal(receiver.stream("DELETE", stream_id=stream["stream_id"]).status_code, 204, "the deletion")


def events(chosen, receiver, log_in, device):
    """Every event that is supported, each told once to a stream that wants it."""
    stream = accepted(receiver.stream("POST", {}), 201)
    admin = Admin(chosen)
    user = log_in("eve")
    number = new_number()
    started = accepted(begin(device, user["session_token"], number), 202)["id"]
    [code] = wait_for_texts(chosen.texts, number)
    accepted(check(device, user["session_token"], started, code))
    ban = admin.run("ban", "add", "--user", user["address"], "--reason", "spam", "--for", "1h")
    admin.run("ban", "lift", ban["ban_id"], "--note", "by mistake")
    banned = receiver.drain(stream)
    equal(kinds(banned), sorted([
        CAEP + "assurance-level-change", CAEP + "session-revoked", RISC + "account-disabled",
        RISC + "account-enabled"]), "the events of a ban")
    equal({one["sub_id"]["sub"] for one in banned.values()}, {user["user_id"]}, "the subject")
    equal({one["external_id"] for one in banned.values()}, {"eve"}, "the provider's own name")
    [level] = [one["events"][CAEP + "assurance-level-change"] for one in banned.values()
               if CAEP + "assurance-level-change" in one["events"]]
    equal((level["namespace"], level["previous_level"], level["current_level"], level["change_direction"]),
          ("custom", "none", "phone", "increase"), "the levels")
    ended = [one for one in banned.values() if set(one["events"]) & {CAEP + "session-revoked", RISC + "account-disabled"}]
    equal(len({one["txn"] for one in ended}), 1, "the transactions of one cause")
    accepted(device.call("DELETE", "/me", log_in("eve")["session_token"]), 202)
    log_in("fay")
    equal(device.call("DELETE", "/certificates/current").status_code, 204, "the revocation")
    last = receiver.drain(stream)
    expect({RISC + "account-purged", CAEP + "credential-change"} <= set(kinds(last)), f"the events: {kinds(last)}")
    [changed] = [one["events"][CAEP + "credential-change"] for one in last.values()
                 if CAEP + "credential-change" in one["events"]]
    equal((changed["credential_type"], changed["change_type"]), ("x509", "revoke"), "the credential")
    equal(receiver.stream("DELETE", stream_id=stream["stream_id"]).status_code, 204, "the deletion")


def main():
    parser = options.parser(__doc__)
    for name in ("texts", "countersign", "directory", "other", "other-key"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    provider = options.provider(chosen)
    transmitter = Transmitter(chosen)
    receiver = Backend(chosen, transmitter, provider, "ssf.manage")
    reader = Backend(chosen, transmitter, provider, "ssf.read")
    chosen.provider, chosen.provider_key = chosen.other, chosen.other_key
    other = Backend(chosen, transmitter, options.provider(chosen), "ssf.manage")
    devices = [Device(chosen.public, chosen.client, chosen.ca, "EC") for _ in range(2)]
    for device in devices:
        accepted(device.certify(), 201)

    def log_in(device):
        return lambda user: accepted(device.create_session(provider.identity_token(user, device.nonce())), 201)

    life(receiver)
    tokens(receiver, reader, other)
    push(receiver, log_in(devices[0]), devices[0])
    poll(receiver, log_in(devices[0]), devices[0])
    transmit(chosen, provider, devices[0], log_in(devices[0]))
    subjects(receiver, log_in(devices[0]), devices[0])
    events(chosen, receiver, log_in(devices[1]), devices[1])
    print("both sides did all of it")


if __name__ == "__main__":
    main()
