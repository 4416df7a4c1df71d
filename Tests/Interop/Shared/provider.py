"""A provider's backend, made from the wire contract alone with PyJWT."""

import hashlib
import json
import time
import urllib.parse
import uuid

import jwt
from cryptography.hazmat.primitives import serialization

from Shared.client import TIMEOUT, algorithm, base64url, https


class Provider:
    """Signs identity tokens for its users and asks the service about them."""

    def __init__(self, public, authority, registration, key, realm):
        """`registration` is what `countersign provider add --json` printed, `key` the private key of its `key_id`."""
        self.public, self.realm, self.key = public, realm, key
        self.provider_id, self.key_id = registration["provider_id"], registration["key_id"]
        self.app_id, self.slug = registration["app_id"], registration["slug"]
        self.connection = https(authority)

    def holding(self, key, key_id):
        """The same provider, signing with another of its keys."""
        other = object.__new__(Provider)
        other.__dict__.update(self.__dict__, key=key, key_id=key_id)
        return other

    # Tokens

    def sign(self, content_type, claims, header=None, key=None):
        """A compact JWS; a claim or header member of value `None` is left out, so that tests can leave things out."""
        key = key or self.key
        headers = {"typ": "JWS", "cty": content_type, "kid": self.key_id, **(header or {})}
        claims = {name: value for name, value in claims.items() if value is not None}
        headers = {name: value for name, value in headers.items() if value is not None}
        return jwt.encode(claims, key, headers.pop("alg", algorithm(key)), headers=headers)

    def identity_token(self, user, nonce, header=None, key=None, **changes):
        """An identity token; `changes` replace claims, `None` removes one."""
        now = int(time.time())
        claims = {"iss": self.provider_id, "prn": user, "nce": nonce, "aud": self.realm, "iat": now, "exp": now + 300}
        return self.sign("layer-eit;v=1", {**claims, **changes}, header, key)

    def provider_token(self, header=None, key=None, lifetime=3600, **changes):
        """The reusable token for reading."""
        now = int(time.time())
        claims = {"iss": self.provider_id, "aud": self.realm, "iat": now, "exp": now + lifetime}
        return self.sign("layer-provider;v=1", {**claims, **changes}, header, key)

    def fresh_token(self, method, path, body=b"", **changes):
        """The token for one call that changes something: a minute, one use, this very method, path and body."""
        return self.provider_token(**{
            "lifetime": 60, "jti": str(uuid.uuid4()), "htm": method, "htu": self.public + path,
            "body_sha256": base64url(hashlib.sha256(body).digest()), **changes})

    def enrolment_token(self, **changes):
        """What a device shows to be certified where the policy's gate is `provider`."""
        now = int(time.time())
        claims = {"iss": self.provider_id, "aud": self.realm, "iat": now, "exp": now + 600, "jti": str(uuid.uuid4())}
        return self.sign("layer-enrolment;v=1", {**claims, **changes})

    def key_proof(self, key):
        """The proof that a new key is held: a JWS by it over the provider id, without a `kid`, which it has not yet."""
        now = int(time.time())
        claims = {"iss": self.provider_id, "aud": self.realm, "iat": now, "exp": now + 300}
        return jwt.encode(claims, key, algorithm(key), headers={"typ": "JWS"})

    # Calls

    def call(self, method, path, token=None, **arguments):
        """Any request with a provider token, a new one for reading unless `token` is given."""
        headers = {"Authorization": "Bearer " + (token or self.provider_token()), **arguments.pop("headers", {})}
        return self.connection.request(method, self.public + path, headers=headers, timeout=TIMEOUT, **arguments)

    def record(self, token=None):
        """`GET /provider`."""
        return self.call("GET", "/provider", token)

    def add_key(self, key, proof=None, token=None):
        """`POST /provider/keys`, the public half as PEM."""
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
        body = json.dumps(
            {"public_key": public, "alg": algorithm(key), "proof": proof or self.key_proof(key)}).encode()
        return self.call(
            "POST", "/provider/keys", token or self.fresh_token("POST", "/provider/keys", body), data=body,
            headers={"Content-Type": "application/json"})

    def delete_key(self, key_id, sessions="keep", token=None):
        """`DELETE /provider/keys/{key_id}`."""
        path = f"/provider/keys/{key_id}"
        return self.call("DELETE", f"{path}?sessions={sessions}", token or self.fresh_token("DELETE", path))

    def introspect(self, session_token):
        """`POST /introspect` (RFC 7662)."""
        return self.call("POST", "/introspect", data={"token": session_token})

    def revoke(self, session_token):
        """`POST /revoke` (RFC 7009)."""
        return self.call("POST", "/revoke", data={"token": session_token})

    def user(self, external_id):
        """`GET /provider/users/{external_id}`."""
        return self.call("GET", "/provider/users/" + urllib.parse.quote(external_id, safe=""))

    def history(self, external_id):
        """`GET /provider/users/{external_id}/history`."""
        return self.call("GET", f"/provider/users/{urllib.parse.quote(external_id, safe='')}/history")

    def end_sessions(self, external_id):
        """`DELETE /provider/users/{external_id}/sessions`."""
        return self.call("DELETE", f"/provider/users/{urllib.parse.quote(external_id, safe='')}/sessions")

    def check_token(self, identity_token):
        """`POST /provider/token-check`."""
        return self.call("POST", "/provider/token-check", json={"identity_token": identity_token})
