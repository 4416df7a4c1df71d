"""A provider that is nothing but an OpenID provider's URL: people sign in at a real one, by the authorization code flow
with a nonce of the service, and their ID tokens open sessions. Tokens for others, and of keys that are gone, do not.
"""

import argparse
import json
import os
from pathlib import Path

import jwt

from Shared.checks import accepted, equal, expect, refused
from Shared.client import TIMEOUT, Device, https
from Cluster.fault_machines import forget_time
from Providers.glewlwyd import Glewlwyd, private_jwk
from Shared.installation import Installation

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


def listed(made):
    """The issuer as the operator sees it."""
    [provider] = [one for one in json.loads(made.admin("provider", "list", "--json")) if one["slug"] == "glewlwyd"]
    return provider["issuer"]


def register(op, made):
    """The operator's one command, and what it refuses."""
    def add(issuer, slug, wanted=0):
        return made.admin(
            "provider", "add", "--issuer", issuer, "--audience", "app", "--slug", slug, "--json", wanted=wanted)

    added = json.loads(add(op.issuer, "glewlwyd"))
    equal((added["slug"], added["keys"], added["issuer"]), ("glewlwyd", "1", op.issuer), "the registration")
    for issuer in (op.issuer, op.issuer + "/", op.url, op.url + "/x", "http://idp.example"):
        add(issuer, "again", wanted=1)
    equal((listed(made)["url"], listed(made)["audience"]), (op.issuer, "app"), "the list")
    return added


def sign_in(op, device, added):
    """A session by each way, and what no session is opened by."""
    token = op.sign_in("alice", device.nonce())
    subject = jwt.decode(token, options={"verify_signature": False})["sub"]
    opened = accepted(device.create_session(token), 201)
    equal(opened["address"], f"glewlwyd/{subject}", "the address")
    current = accepted(device.call("GET", "/sessions/current", opened["session_token"]))
    equal(current["app_id"], added["app_id"], "the app")
    refused(device.create_session(token), 422, "invalid_identity_token", "nonce_used")

    form = {"grant_type": EXCHANGE, "subject_token_type": ID_TOKEN,
            "subject_token": op.sign_in("alice", device.nonce())}
    exchanged = accepted(device.call("POST", "/token", data=form))
    equal((exchanged["issued_token_type"], exchanged["user_id"]), (ACCESS_TOKEN, opened["user_id"]), "the exchange")
    # From here on it is a session as any other.
    proof = accepted(device.call("POST", "/token", data={
        "grant_type": EXCHANGE, "subject_token": exchanged["access_token"], "subject_token_type": ACCESS_TOKEN,
        "audience": added["provider_id"]}))
    claims = jwt.decode(proof["access_token"], options={"verify_signature": False})
    equal((claims["external_id"], claims["aud"]), (subject, added["provider_id"]), "the session's token")
    return opened["session_token"]


def refusals(made, node, op, device):
    """Wrong nonces, another client's token, and an ID token in the place of other tokens."""
    other = Device(node.public, node.client, made.authority, "EC")
    accepted(other.certify(), 201)
    for nonce, reason in ((other.nonce(), "nonce_other_device"), ("A" * 86, "nonce_unknown")):
        refused(device.create_session(op.sign_in("alice", nonce)), 422, "invalid_identity_token", reason)
    nonce = device.nonce()
    foreign = op.sign_in("alice", nonce, client="other")
    refused(device.create_session(foreign), 422, "invalid_identity_token", "wrong_audience")
    # The refusal has spent nothing.
    good = op.sign_in("alice", nonce)
    header, payload, signature = good.split(".")
    for bent in (f"{header}.{payload}.{signature[:-4]}AAAA", f"{header}.{foreign.split('.')[1]}.{signature}"):
        refused(device.create_session(bent), 422, "invalid_identity_token", "bad_signature")
    grant = device.call("POST", "/token", data={"grant_type": BEARER, "assertion": good})
    refused(grant, 400, "invalid_identity_token")
    with https(made.authority) as public:
        answer = public.get(node.public + "/provider", headers={"Authorization": "Bearer " + good}, timeout=TIMEOUT)
        refused(answer, 401, "provider_token_invalid")
    accepted(device.create_session(good), 201)
    other.close()


def rotation(op, device, session, advance):
    """A new key signs in after a minute at most, one that is gone signs nobody in, and sessions go on."""
    first = op.keys[0]
    second = private_jwk("k-2", "ES256")
    op.rotate([second, first])
    refused(device.create_session(op.sign_in("alice", device.nonce())), 422, "invalid_identity_token", "unknown_key")
    advance(61)
    accepted(device.create_session(op.sign_in("alice", device.nonce())), 201)
    op.rotate([first, second])
    old = op.sign_in("alice", device.nonce())
    equal(jwt.get_unverified_header(old)["kid"], "k-1", "the key")
    op.rotate([second])
    advance(301)
    refused(device.create_session(old), 422, "invalid_identity_token", "key_retired")
    accepted(device.create_session(op.sign_in("alice", device.nonce())), 201)
    accepted(device.call("GET", "/sessions/current", session))


def absence(op, device, made, advance):
    """Known keys serve while the OpenID provider is away."""
    token = op.sign_in("alice", device.nonce())
    op.stop()
    advance(301)
    accepted(device.create_session(token), 201)
    expect(listed(made)["failure"], "the list does not say that the issuer is away")
    op.start()
    accepted(device.create_session(op.sign_in("alice", device.nonce())), 201)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("countersign", "policies", "directory"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    expect(library, "the package faketime is not installed")
    offset, ahead = Path(chosen.directory, "offset"), 0
    clock = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(offset), "FAKETIME_NO_CACHE": "1",
             "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    os.environ["COUNTERSIGN_LOOPBACK_URLS"] = "on"

    def advance(seconds):
        """Puts the clocks of the service and of the OpenID provider ahead."""
        nonlocal ahead
        ahead += seconds
        offset.write_text(f"+{ahead}s\n")

    advance(0)
    made = Installation(chosen.countersign, chosen.policies, chosen.directory, f"sqlite:{chosen.directory}/store.db")
    node = made.node("a", environment=clock)
    with Glewlwyd([private_jwk("k-1", "RS256")], clients=("app", "other"), environment=clock) as op:
        added = register(op, made)
        device = Device(node.public, node.client, made.authority, "EC")
        accepted(device.certify(), 201)
        session = sign_in(op, device, added)
        refusals(made, node, op, device)
        rotation(op, device, session, advance)
        absence(op, device, made, advance)
        device.close()
    made.stop()
    for one in (node, op):
        forget_time(one)
    log = node.log.read_text()
    expect("internal_error" not in log, "an answer was an internal error")
    # The one JWS in a log is the audit log's checkpoint.
    tokens = [line for line in log.splitlines() if "eyJ" in line and "audit checkpoint" not in line]
    expect(not tokens, "a token is in the log")
    print("signed in by glewlwyd")


if __name__ == "__main__":
    main()
