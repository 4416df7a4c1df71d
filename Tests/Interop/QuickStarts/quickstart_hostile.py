"""Tokens and proofs that no quick start may accept: each is wrong in one thing."""

import json
import time
import uuid

import jwt

from Shared.checks import accepted, equal, expect
from Shared.client import base64url, new_key
from QuickStarts.quickstart_backend import assembled, claims_of, proof, thumbprint


def refused(answer, error, what):
    """A refusal by the backend."""
    equal((answer.status_code, answer.json().get("error")), (401, error), f"the answer to {what}")
    expect(answer.headers["WWW-Authenticate"].startswith(f'DPoP error="{error}"'), f"no challenge for {what}")


def hostile_tokens(world, ada):
    """Tokens with one defect each."""
    claims, now = claims_of(ada.token), int(time.time())
    header = {"typ": "at+jwt", "kid": world.kids["RS256"]}
    body, signature = ada.token.rsplit(".", 1)
    other_sid = base64url(json.dumps({**claims, "sid": str(uuid.uuid4())}).encode())
    published = world.public_pem("access-token")
    for what, token in {
        "another's signature": jwt.encode(claims, new_key("RSA"), "RS256", headers=header),
        "another's signature, ES256": jwt.encode(claims, new_key("EC"), "ES256", headers=header),
        "a changed body": f"{body.split('.')[0]}.{other_sid}.{signature}",
        "no signature": assembled({"alg": "none", **header}, claims),
        "the public key as a secret": assembled({"alg": "HS256", **header}, claims, published),
        "another algorithm in its header": assembled(
            {"alg": "ES256", **header}, claims, key=world.own_key("access-token")),
        "an unknown key": world.sign(claims, kid="unknown"),
        "another type": world.sign(claims, "secevent+jwt"),
        "another audience": ada.changed(aud=str(uuid.uuid4())),
        "no audience": ada.changed(aud=None),
        "another issuer": ada.changed(iss="https://other.example"),
        "no issuer": ada.changed(iss=None),
        "an end that is past": ada.changed(iat=now - 300, exp=now - 60),
        "no end": ada.changed(exp=None),
        "a key that it is not bound to": ada.changed(cnf={"jkt": thumbprint(new_key("EC"))}),
        "a certificate instead": ada.changed(cnf={"x5t#S256": ada.device.thumbprint()}),
        "nothing that it is bound to": ada.changed(cnf=None),
        "no JWS": "a.b.c", "an empty one": "..", "two parts": body, "five parts": f"{ada.token}.a.b",
    }.items():
        answer = ada.me(token)
        equal(answer.status_code, 401, f"the status of a token with {what}: {answer.text[:200]}")
    refused(ada.me(jwt.encode(claims, new_key("RSA"), "RS256", headers=header)), "invalid_token", "a forged token")
    accepted(ada.me())


def hostile_proofs(ada):
    """Proofs with one defect each, and a proof that comes twice."""
    backend, url, now, other = ada.backend, ada.backend.url + "/me", int(time.time()), new_key("EC")
    once = proof(ada.device.key, "GET", url, ada.token)
    accepted(backend.call("GET", "/me", ada.token, once))
    mine = jwt.get_unverified_header(once)["jwk"]
    claims = claims_of(once)
    for what, changes in {
        "another key": {"key": other}, "another's signature": {"key": other, "jwk": mine},
        "another method": {"htm": "POST"}, "another URL": {"htu": url + "/user"}, "no URL": {"htu": None},
        "another token": {"ath": base64url(bytes(32))}, "no token": {"ath": None}, "no id": {"jti": None},
        "an id that is no text": {"jti": {"a": 1}}, "an old time": {"iat": now - 90}, "a late time": {"iat": now + 90},
        "a time that is no number": {"iat": "soon"}, "no time": {"iat": None}, "another type": {"typ": "JWT"},
        "no type": {"typ": None}, "a critical header": {"crit": ["new"], "new": 1},
    }.items():
        refused(ada.me(**changes), "invalid_dpop_proof", f"a proof with {what}")
    header = {"typ": "dpop+jwt", "jwk": mine}
    shared = assembled({"alg": "HS256", **header}, {**claims, "jti": "s"}, json.dumps(mine))
    for what, shown in {
        "a replay": once, "no signature": assembled({"alg": "none", **header}, {**claims, "jti": "n"}),
        "the public key as a secret": shared, "no key": assembled({"alg": "ES256", "typ": "dpop+jwt"}, claims) + "AAAA",
        "no JWS": "a.b.c",
    }.items():
        refused(backend.call("GET", "/me", ada.token, shown), "invalid_dpop_proof", f"a proof with {what}")
    for what, answer in {
        "no proof": backend.call("GET", "/me", ada.token), "nothing": backend.call("GET", "/me"),
        "a bearer token": backend.call("GET", "/me", ada.token, proof(ada.device.key, "GET", url, ada.token), "Bearer"),
    }.items():
        equal(answer.status_code, 401, f"the status with {what}")
    pair = [proof(ada.device.key, "GET", url, ada.token) for _ in range(2)]
    equal(backend.status_with("/me", ada.token, pair), 401, "the status of two proofs")
    accepted(ada.me())
