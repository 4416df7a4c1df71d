"""What a backend accepts from Countersign: sessions, verified without a call, and events that end them."""

import json
import os
import threading
import time
from collections import Counter

import jwt

from keys import service_key
from service import PROVIDER, REALM, URL, Refusal, digest

ORIGIN = os.environ.get("ORIGIN", "http://127.0.0.1:8460")  # this backend, as devices see it
KEY_MEMBERS = {"EC": ("crv", "kty", "x", "y"), "RSA": ("e", "kty", "n")}  # what RFC 7638 hashes
ENDING = {"session-revoked", "account-disabled", "account-purged"}

lock = threading.Lock()
proofs, ended_sessions, ended_users = {}, {}, {}  # names and times, the oldest first
proofs_of = Counter()  # the number of proofs of each device's key


def forget(memory, life):
    """Deletes entries older than `life` seconds, and returns their names."""
    dropped = []
    while memory and next(iter(memory.values())) < time.time() - life:
        dropped.append(next(iter(memory)))
        del memory[dropped[-1]]
    return dropped


def signed_by_service(token, kind, issuer):
    """The claims of a token for this provider."""
    header = jwt.get_unverified_header(token)
    key = service_key(header.get("kid"))
    if header.get("typ") != kind or key is None:
        raise jwt.InvalidTokenError(f"no {kind}, or by an unknown key")
    return jwt.decode(
        token, key, ["RS256", "ES256"], {"verify_iat": False, "require": ["iss", "aud"]},
        audience=PROVIDER["provider_id"], issuer=issuer)


def session(token):
    """The claims of a session's token. They prove nothing until `cnf` was compared with the device."""
    try:
        claims = signed_by_service(token, "at+jwt", URL)
    except (jwt.PyJWTError, ValueError) as error:
        raise Refusal(401, "invalid_token", str(error)) from error
    user_ended = ended_users.get(claims["external_id"], 0)
    if claims.get("exp", 0) <= time.time() or claims["sid"] in ended_sessions or claims["auth_time"] <= user_ended:
        raise Refusal(401, "invalid_token", "the session has ended")
    return claims


def check_proof(proof, method, path, token, thumbprint):
    """A DPoP proof (RFC 9449) for this request and token, by the key of this thumbprint, used for the first time."""
    try:
        header = jwt.get_unverified_header(proof)
        public = {name: header["jwk"][name] for name in KEY_MEMBERS[header["jwk"]["kty"]]}
        if digest(json.dumps(public, sort_keys=True, separators=(",", ":")).encode()) != thumbprint:
            raise ValueError("by another key than the token's")
        claims = jwt.decode(
            proof, jwt.PyJWK(public), ["ES256", "ES384", "RS256"], {"verify_iat": False, "require": ["jti"]})
        good = (header["typ"] == "dpop+jwt" and claims["htm"] == method
                and claims["htu"] == ORIGIN + path and claims["ath"] == digest(token.encode())
                and abs(time.time() - claims["iat"]) <= 60)
    except (jwt.PyJWTError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise Refusal(401, "invalid_dpop_proof", str(error)) from error
    if not good:
        raise Refusal(401, "invalid_dpop_proof", "for another request or token, or over a minute old")
    name = (thumbprint, digest(str(claims["jti"]).encode()))
    with lock:
        for key, _ in forget(proofs, 120):
            proofs_of[key] -= 1
            if proofs_of[key] == 0:
                del proofs_of[key]
        if name in proofs or proofs_of[thumbprint] >= 1_000 or len(proofs) >= 100_000:
            raise Refusal(401, "invalid_dpop_proof", "used before, or too many in two minutes")
        proofs[name] = time.time()
        proofs_of[thumbprint] += 1


def verify(method, path, headers):
    """The session of a request with `Authorization: DPoP …` and a proof, or a refusal.

    `path` is as the device sent it. `headers` is a mapping, in which a comma joins headers of one name, as in WSGI.
    """
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    shown = headers.get("DPoP", "")
    if scheme.lower() != "dpop" or not shown or "," in shown:
        raise Refusal(401, "invalid_token", "a DPoP token and one proof are required")
    claims = session(token)
    check_proof(shown, method, path.partition("?")[0], token, claims.get("cnf", {}).get("jkt"))
    return claims


def event(body):
    """A security event (RFC 8417). Sessions that it ends are refused from now on, longer than any token lives."""
    try:
        claims = signed_by_service(body, "secevent+jwt", REALM)
    except (jwt.PyJWTError, ValueError) as error:
        raise Refusal(400, "invalid_request", str(error)) from error
    if not ENDING & {name.rpartition("/")[2] for name in claims["events"]}:
        return claims
    match claims["sub_id"]:
        case {"session": {"id": str(whose)}}:
            ended = ended_sessions
        case {"sub": str(whose)}:
            ended = ended_users
        case _:
            raise Refusal(400, "invalid_request", "the event has an unknown form of subject")
    with lock:
        forget(ended, 600)
        ended[whose] = max(claims["toe"], ended.get(whose, 0))
    return claims
