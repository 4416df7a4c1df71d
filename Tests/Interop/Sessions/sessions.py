"""Steps: nonces, identity tokens, and the life of a session."""

import os
import time

from Shared.checks import (
    CHALLENGE, accepted, challenged, equal, expect, lives, not_stored, now, refused, refused_somehow,
    refused_with_nonce, step)
from Shared.client import algorithm, base64url, new_key


@step
def nonces(world):
    """Nonces are fresh, long, and given in both forms; one from the older form opens a session."""
    device = world.device()
    asked = now()
    answers = [device.ask_nonce() for _ in range(3)]
    bodies = [accepted(answer, 201) for answer in answers]
    not_stored(answers[0])
    expect(len({body["nonce"] for body in bodies}) == 3, "a nonce repeats")
    lives(bodies[0]["expires_at"], 600, asked)
    older = device.call("GET", "/nonce")
    equal(older.status_code, 401, "the status of the older form")
    challenge = CHALLENGE.match(older.headers["WWW-Authenticate"])
    token = world.provider.identity_token(world.user(), challenge["nonce"])
    accepted(device.create_session(token, world.provider.app_id), 201)


@step
def no_session(world):
    """Without a session a protected action is refused, and the nonce that comes with the refusal opens one."""
    device = world.device()
    nonce = challenged(world, device.sessions(None), "session_required")
    token = world.provider.identity_token(world.user(), nonce)
    accepted(device.create_session(token, world.provider.app_id), 201)


@step
def open_session(world):
    """A good identity token opens a session: body, three headers, binding to the certificate, user's address."""
    device, user = world.device(), world.user()
    asked = now()
    answer = device.create_session(world.provider.identity_token(user, device.nonce()), world.provider.app_id)
    session = accepted(answer, 201)
    not_stored(answer)
    equal(session["address"], f"{world.provider.slug}/{user}", "the address")
    equal(session["cnf"], {"x5t#S256": device.thumbprint()}, "cnf")
    equal(session["assurance"], "none", "the assurance")
    expect(len(session["session_token"]) == 64, "the session token has fewer than 256 bits")
    expect(0 < session["idle_ttl"] <= session["ttl"], "the lifetimes are out of order")
    lives(session["expires_at"], session["ttl"], asked)
    equal(answer.headers["X-Layer-User-ID"], session["user_id"], "X-Layer-User-ID")
    equal(answer.headers["X-Layer-Session-Token"], session["session_token"], "X-Layer-Session-Token")
    equal(int(answer.headers["X-Layer-Session-TTL"]), session["ttl"], "X-Layer-Session-TTL")
    again = world.log_in(world.device("second"), user)
    equal(again["user_id"], session["user_id"], "the user id on another device")


@step
def app_left_out(world):
    """A provider that has one app need not name it, and `sub` serves as `prn`."""
    device, user = world.device(), world.user()
    accepted(device.create_session(world.provider.identity_token(user, device.nonce(), prn=None, sub=user)), 201)
    both = world.provider.identity_token(user, device.nonce(), sub="someone else")
    refused_with_nonce(device.create_session(both), 422, "invalid_identity_token")


@step
def replayed_nonce(world):
    """A nonce opens one session: the same token and another token around it are refused, with a fresh nonce."""
    device, user = world.device(), world.user()
    nonce = device.nonce()
    token = world.provider.identity_token(user, nonce)
    accepted(device.create_session(token, world.provider.app_id), 201)
    for replay in (token, world.provider.identity_token(user, nonce, display_name="Again")):
        body = refused_with_nonce(device.create_session(replay), 422, "invalid_identity_token", "nonce_used")
        expect(body["nonce"] != nonce, "the fresh nonce is the used one")


def refused_tokens(world):
    """Every reason that a test can bring about, with how a token earns it from a nonce."""
    provider, moment_now = world.provider, int(time.time())
    same, other = ("EC", "RSA") if algorithm(provider.key) == "ES256" else ("RSA", "EC")

    def token(nonce, **changes):
        return provider.identity_token("refused", nonce, **changes)

    return {
        "expired": lambda nonce: token(nonce, iat=moment_now - 900, exp=moment_now - 600),
        "not_yet_valid": lambda nonce: token(nonce, nbf=moment_now + 200),
        "lifetime_too_long": lambda nonce: token(nonce, exp=moment_now + 25 * 3600),
        "wrong_audience": lambda nonce: token(nonce, aud="elsewhere"),
        "missing_claim": lambda nonce: token(nonce, prn=None),
        "wrong_type": lambda nonce: token(nonce, header={"cty": "layer-provider;v=1"}),
        "unsupported_header": lambda nonce: token(nonce, header={"zip": "DEF"}),
        "unknown_issuer": lambda nonce: token(nonce, iss="00000000-0000-4000-8000-000000000000"),
        "unknown_key": lambda nonce: token(nonce, header={"kid": "no-such-key"}),
        "algorithm_mismatch": lambda nonce: token(nonce, key=new_key(other)),
        "bad_signature": lambda nonce: token(nonce, key=new_key(same)),
        "malformed": lambda nonce: token(nonce) + ".e30",
        "nonce_unknown": lambda nonce: token(base64url(os.urandom(len(nonce) * 3 // 4))),
        "nonce_other_device": lambda nonce: token(world.device("second").nonce()),
    }


@step
def refused_identity_tokens(world):
    """Each defect of an identity token is refused by its own reason, with a nonce to try again with."""
    device = world.device("third")
    nonce = device.nonce()
    for reason, make in refused_tokens(world).items():
        try:
            body = refused_with_nonce(device.create_session(make(nonce)), 422, "invalid_identity_token", reason)
        except AssertionError as error:
            raise AssertionError(f"{reason}: {error}") from None
        expect(nonce not in body["detail"], "the detail repeats the nonce")


@step
def forged_token_spends_nothing(world):
    """A token whose signature does not hold leaves the nonce unspent."""
    device, user = world.device("third"), world.user()
    nonce = device.nonce()
    kind = "EC" if algorithm(world.provider.key) == "ES256" else "RSA"
    forged = world.provider.identity_token(user, nonce, key=new_key(kind))
    refused(device.create_session(forged), 422, "invalid_identity_token", "bad_signature")
    accepted(device.create_session(world.provider.identity_token(user, nonce)), 201)


@step
def malformed_requests(world):
    """Unknown and duplicate members, wrong types, broken JSON, wrong media types and long bodies are refused."""
    device = world.device("third")
    refused(device.create_session("a.b.c", colour="red"), 400, "malformed_request")
    json_type = {"Content-Type": "application/json"}
    for body in ('{"identity_token":"a.b.c","identity_token":"a.b.c"}', '{"identity_token":1}', "{", "[]", "{}"):
        refused(device.call("POST", "/sessions", data=body, headers=json_type), 400, "malformed_request")
    equal(device.call("POST", "/sessions", data="x=y", headers={"Content-Type": "text/plain"}).status_code, 415,
          "the status for text/plain")
    equal(device.call("POST", "/sessions", data='{"identity_token":"' + "a" * 70_000 + '"}', headers=json_type)
          .status_code, 413, "the status for 70 kB")


@step
def header_form(world):
    """An `Authorization: Layer` header with an identity token opens a session in passing, in either quotes."""
    device, provider = world.device("fourth"), world.provider
    for quote in ('"', "'"):
        token = provider.identity_token(world.user(), device.nonce())
        answer = device.with_identity("GET", "/sessions/current", token, provider.app_id, world.realm, quote)
        body = accepted(answer)
        equal(answer.headers["X-Layer-User-ID"], body["user_id"], "X-Layer-User-ID")
        expect(int(answer.headers["X-Layer-Session-TTL"]) > 0, "X-Layer-Session-TTL is not positive")
        accepted(device.current(answer.headers["X-Layer-Session-Token"]))
    past = int(time.time()) - 600
    token = provider.identity_token(world.user(), device.nonce(), iat=past - 300, exp=past)
    answer = device.with_identity("GET", "/sessions/current", token, provider.app_id, world.realm)
    challenged(world, answer, "invalid_identity_token", "expired")


@step
def list_and_end_sessions(world):
    """A user sees the sessions of all devices, ends one of them, and not another user's."""
    first, second, user = world.device("fourth"), world.device("second"), world.user()
    here, there = world.log_in(first, user), world.log_in(second, user)
    stranger = world.log_in(second, world.user())
    listed = accepted(first.sessions(here["session_token"]))
    entries = listed if isinstance(listed, list) else listed["sessions"]
    equal({entry["id"] for entry in entries}, {here["session_id"], there["session_id"]}, "the listed sessions")
    refused(first.end_session(here["session_token"], stranger["session_id"]), 404, "not_found")
    equal(first.end_session(here["session_token"], there["session_id"]).status_code, 204, "the status of the end")
    challenged(world, second.current(there["session_token"]), "session_destroyed")
    accepted(second.current(stranger["session_token"]))


@step
def end_current_session(world):
    """Logging out needs the session's token and ends the session for good."""
    device = world.device("fourth")
    token = world.log_in(device, world.user())["session_token"]
    challenged(world, device.end_session(None), "session_required")
    equal(device.end_session(token).status_code, 204, "the status of the end")
    challenged(world, device.current(token), "session_destroyed")


@step
def resume_session(world):
    """A session outlives its connection: it is resumed on a new one, by its own user and token only."""
    device = world.device("fourth")
    session = world.log_in(device, world.user())
    before = accepted(device.current(session["session_token"]))["connection_id"]
    device.reconnect()
    resumed = accepted(device.resume_session(session["user_id"], session["session_token"]))
    equal(resumed["session_id"], session["session_id"], "the session id")
    expect("session_token" not in resumed, "the answer repeats the token")
    current = accepted(device.current(session["session_token"]))
    expect(current["connection_id"] != before, "the connection id is the old one")
    equal(current["user_id"], session["user_id"], "the user")
    other = world.log_in(device, world.user())
    refused_somehow(device.resume_session(other["user_id"], session["session_token"]))


@step
def stolen_token(world):
    """A token shown by another device is refused and challenges the session, which its own user then renews."""
    device, thief, user = world.device("fourth"), world.device("second"), world.user()
    session = world.log_in(device, user)
    refused(thief.current(session["session_token"]), 403, "binding_mismatch")
    nonce = challenged(world, device.current(session["session_token"]), "session_challenged")
    stranger = world.provider.identity_token(world.user(), device.nonce())
    refused_somehow(device.renew_session(session["session_token"], stranger))
    answer = device.renew_session(session["session_token"], world.provider.identity_token(user, nonce))
    renewed = accepted(answer)
    not_stored(answer)
    for member in ("session_id", "user_id"):
        equal(renewed[member], session[member], member)
    expect(renewed["session_token"] != session["session_token"], "the token is the old one")
    accepted(device.current(renewed["session_token"]))
    equal(device.current(session["session_token"]).status_code, 401, "the status of the old token")
    refused(thief.end_session(renewed["session_token"]), 403, "binding_mismatch")
