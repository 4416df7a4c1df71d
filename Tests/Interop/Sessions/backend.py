"""Steps: what a provider's backend asks of the service."""

import time

from Shared.checks import accepted, challenged, equal, expect, refused, refused_somehow, step
from Shared.client import TIMEOUT, base64url, new_key


@step
def provider_record(world):
    """A provider sees its own record, apps and keys, with a token that it signs once and reuses."""
    token = world.provider.provider_token()
    for _ in range(3):
        record = accepted(world.provider.record(token))
    equal(record["slug"], world.provider.slug, "the slug")
    expect(world.provider.key_id in str(record), "the key is not listed")
    expect(world.provider.app_id in str(record), "the app is not listed")


@step
def provider_tokens_refused(world):
    """No token, and tokens that are expired, long-lived, for another realm, of another type or key, open nothing."""
    provider, past = world.provider, int(time.time()) - 600
    answer = provider.connection.get(world.public + "/provider", timeout=TIMEOUT)
    refused(answer, 401, "provider_token_required")
    kind = "EC" if "EllipticCurve" in type(provider.key).__name__ else "RSA"
    for token in (
        provider.provider_token(iat=past - 300, exp=past),
        provider.provider_token(lifetime=2 * 3600),
        provider.provider_token(aud="elsewhere"),
        provider.provider_token(aud=None),
        provider.provider_token(header={"cty": "layer-eit;v=1"}),
        provider.provider_token(key=new_key(kind)),
        provider.enrolment_token(),
        "not.a.token",
    ):
        refused(provider.record(token), 401, "provider_token_invalid")


@step
def introspection(world):
    """A provider learns whose session a token names and what it is bound to, and nothing of any other token."""
    device, user = world.device(), world.user()
    session = world.log_in(device, user)
    found = accepted(world.provider.introspect(session["session_token"]))
    for member, wanted in {
        "active": True, "sub": user, "user_id": session["user_id"], "sid": session["session_id"],
        "client_id": world.provider.app_id, "assurance": "none", "device_attestation": "none",
        "cnf": {"x5t#S256": device.thumbprint()},
    }.items():
        equal(found.get(member), wanted, member)
    expect(found["iat"] <= time.time() + 60 and found["exp"] > time.time(), "the times are off")
    equal(accepted(world.provider.introspect(base64url(bytes(32)))), {"active": False}, "an unknown token")


@step
def revocation(world):
    """A provider ends a session by its token; an unknown token is answered alike."""
    device = world.device()
    token = world.log_in(device, world.user())["session_token"]
    for shown in (token, token, "unknown"):
        equal(world.provider.revoke(shown).status_code, 200, "the status")
    challenged(world, device.current(token), "session_destroyed")
    equal(accepted(world.provider.introspect(token)), {"active": False}, "the introspection")


@step
def users(world):
    """A provider sees how far its user is verified, by its own percent-encoded id, and no personal data."""
    user = world.user("Zoë/with spaces")
    session = world.log_in(world.device(), user)
    answer = accepted(world.provider.user(user))
    equal(answer["user_id"], session["user_id"], "the user id")
    equal(answer["assurance"], "none", "the assurance")
    equal(answer["banned"], False, "banned")
    for private in ("full_name", "phone_number", "postal_address", "document_number"):
        expect(private not in answer, f"{private} is told")
    refused(world.provider.user(world.user("nobody")), 404, "not_found")


@step
def log_out_everywhere(world):
    """A provider ends every session of a user, on all devices, and of no one else."""
    first, second, user = world.device(), world.device("second"), world.user()
    tokens = [(device, world.log_in(device, user)["session_token"]) for device in (first, second)]
    bystander = world.log_in(first, world.user())["session_token"]
    equal(world.provider.end_sessions(user).status_code, 204, "the status")
    for device, token in tokens:
        challenged(world, device.current(token), "session_destroyed")
    accepted(first.current(bystander))


@step
def token_check(world):
    """The token check names every defect of a token at once and spends nothing."""
    device, user = world.device(), world.user()
    past = int(time.time()) - 600
    bad = world.provider.identity_token(user, device.nonce(), iat=past - 300, exp=past, aud="elsewhere")
    found = str(accepted(world.provider.check_token(bad)))
    for defect in ("expired", "wrong_audience"):
        expect(defect in found, f"{defect} is not named in {found}")
    foreign = world.provider.identity_token(
        user, device.nonce(), iss="00000000-0000-4000-8000-000000000000", iat=past - 300, exp=past)
    found = str(accepted(world.provider.check_token(foreign)))
    expect("unknown_issuer" in found and "expired" not in found, f"a foreign token is judged: {found}")
    good = world.provider.identity_token(user, device.nonce())
    accepted(world.provider.check_token(good))
    accepted(device.create_session(good), 201)


@step
def key_rotation(world):
    """A new key signs beside the old one; deleting it ends the sessions that it minted and no others."""
    provider, device = world.provider, world.device()
    new = new_key("EC")
    refused_somehow(provider.add_key(new, proof=provider.key_proof(new_key("EC"))))
    added = accepted(provider.add_key(new), 201)
    rotated = provider.holding(new, added["key_id"])
    kept = world.log_in(device, world.user())["session_token"]
    minted = world.log_in(device, world.user(), rotated)["session_token"]
    accepted(rotated.record())
    refused_somehow(rotated.delete_key(provider.key_id))
    accepted(provider.record())
    answer = provider.delete_key(added["key_id"], sessions="end")
    expect(answer.status_code in (200, 204), f"{answer.status_code}: {answer.text[:200]}")
    equal(device.current(minted).status_code, 401, "the status of a session minted by the deleted key")
    accepted(device.current(kept))
    refused(rotated.record(), 401, "provider_token_invalid")
    late = device.create_session(rotated.identity_token(world.user(), device.nonce()))
    expect(refused(late, 422, "invalid_identity_token")["reason"] in ("key_retired", "unknown_key"), late.text)


@step
def fresh_tokens(world):
    """A change needs a fresh token, for this method, path and body, once."""
    provider, key = world.provider, new_key("EC")
    refused(provider.add_key(key, token=provider.provider_token()), 401, "provider_token_invalid")
    keys = "/provider/keys"
    for token in (
        provider.fresh_token("POST", keys, b"another body"), provider.fresh_token("DELETE", keys),
        provider.fresh_token("POST", keys, htm=None), provider.fresh_token("POST", keys, htu=None),
    ):
        refused(provider.add_key(key, token=token), 401, "provider_token_invalid")
    # A proof for one key's end is none for another's, nor for the webhook's.
    for token in (
        provider.fresh_token("DELETE", f"{keys}/other"), provider.fresh_token("DELETE", "/provider/webhook"),
        provider.fresh_token("POST", f"{keys}/no-such-key"),
    ):
        refused(provider.delete_key("no-such-key", token=token), 401, "provider_token_invalid")
    token = provider.fresh_token("DELETE", f"{keys}/no-such-key")
    refused_somehow(provider.delete_key("no-such-key", token=token))
    refused(provider.delete_key("no-such-key", token=token), 401, "provider_token_invalid")
