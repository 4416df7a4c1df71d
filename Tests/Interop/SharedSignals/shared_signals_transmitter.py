"""A transmitter of Shared Signals whose events the service takes: a part of `shared_signals.py`."""

import time
import uuid

from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT, new_key
from SharedSignals.shared_signals_receiver import CAEP, RISC, SSF


def transmit(chosen, provider, device, log_in):
    """As a transmitter: a token for each event that the service takes, duplicates, and what it must refuse."""

    def tell(kind, subject, details=None, **changes):
        claims = {"iss": provider.provider_id, "aud": provider.realm, "iat": int(time.time()), "jti": str(uuid.uuid4()),
                  "sub_id": subject, "events": {kind: details or {}}, **changes}
        key = changes.pop("key", None)
        claims.pop("key", None)
        token = provider.sign(None, claims, {"typ": "secevent+jwt"}, key)
        return provider.connection.post(
            chosen.public + "/provider/events", data=token, timeout=TIMEOUT,
            headers={"Content-Type": "application/secevent+jwt", "Accept": "application/json"})

    def taken(answer):
        equal((answer.status_code, answer.content), (202, b""), "the answer")

    user = {"format": "iss_sub", "iss": provider.provider_id, "sub": "gil"}
    session = log_in("gil")
    for wrong, word in (
            (tell(CAEP + "session-revoked", user, iss=str(uuid.uuid4())), "invalid_issuer"),
            (tell(CAEP + "session-revoked", user, aud="other"), "invalid_audience"),
            (tell(CAEP + "session-revoked", user, key=new_key("RSA")), "authentication_failed"),
            (tell(CAEP + "session-revoked", user, exp=int(time.time()) + 60), "invalid_request"),
            (tell(CAEP + "credential-change", user, {"credential_type": "pin"}), "invalid_request")):
        equal(wrong.status_code, 400, "the status")
        equal(wrong.headers["Content-Type"].split(";")[0], "application/json", "the media type")
        expect(wrong.headers["Content-Language"] and wrong.json()["description"], "the description")
        equal(wrong.json()["err"], word, "err")
    # What a receiver does not know it ignores.
    taken(tell("https://schemas.example/unknown", user))
    accepted(device.current(session["session_token"]))
    change = {"credential_type": "password", "change_type": "create"}
    taken(tell(CAEP + "credential-change", user, change))
    accepted(device.current(session["session_token"]))
    taken(tell(CAEP + "credential-change", user, {**change, "change_type": "update"}))
    equal(device.current(session["session_token"]).json()["code"], "session_challenged", "the session")
    session, name = log_in("gil"), str(uuid.uuid4())
    ours = {"format": "iss_sub", "iss": chosen.public, "sub": session["user_id"]}
    taken(tell(RISC + "account-disabled", ours, aud=chosen.public, jti=name))
    equal(device.current(session["session_token"]).json()["code"], "session_destroyed", "the session")
    session = log_in("gil")
    taken(tell(RISC + "account-disabled", user, jti=name))
    accepted(device.current(session["session_token"]))
    taken(tell(CAEP + "session-revoked", {"format": "complex", "user": user, "session": {
        "format": "opaque", "id": session["session_id"]}}))
    equal(device.current(session["session_token"]).json()["code"], "session_destroyed", "the session")
    session = log_in("gil")
    opaque = {"format": "opaque", "id": "stream-1"}
    taken(tell(SSF + "verification", opaque))
    taken(tell(SSF + "stream-updated", opaque, {"status": "paused"}))
    equal(tell(SSF + "verification", opaque, {"state": "x"}).json()["err"], "invalid_state", "err")
    accepted(device.current(session["session_token"]))
    taken(tell(CAEP + "session-revoked", {"format": "email", "email": "gil"}))
    equal(device.current(session["session_token"]).json()["code"], "session_destroyed", "the session")
