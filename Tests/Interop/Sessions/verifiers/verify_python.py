"""Verifies sessions' tokens by PyJWT or joserfc: verify_python.py LIBRARY WORLD prints one verdict for each case."""

import base64
import hashlib
import json
import ssl
import sys
import urllib.request
from pathlib import Path

import jwt
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from joserfc import jwt as joserfc_jwt
from joserfc.jwk import KeySet, import_key

ALGORITHMS = ["RS256", "ES256"]


class ByPyJWT:
    """Keys by PyJWT's own client of key sets."""

    def __init__(self, world, context):
        self.issuer = world["issuer"]
        self.keys = jwt.PyJWKClient(world["jwks_uri"], ssl_context=context)

    def claims(self, one):
        """Header and claims of a token that it accepts."""
        key = self.keys.get_signing_key_from_jwt(one["token"])
        claims = jwt.decode(
            one["token"], key, ALGORITHMS, audience=one["audience"], issuer=self.issuer,
            options={"require": ["exp", "iat", "sub", "sid", "cnf"]})
        return jwt.get_unverified_header(one["token"]), claims


class ByJoserfc:
    """Keys by a request of its own."""

    def __init__(self, world, context):
        self.issuer = world["issuer"]
        with urllib.request.urlopen(world["jwks_uri"], context=context, timeout=60) as answer:
            self.keys = KeySet.import_key_set(json.load(answer))

    def claims(self, one):
        """Header and claims of a token that it accepts."""
        token = joserfc_jwt.decode(one["token"], self.keys, algorithms=ALGORITHMS)
        joserfc_jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": self.issuer}, aud={"essential": True, "value": one["audience"]},
            exp={"essential": True}, cnf={"essential": True}).validate(token.claims)
        return token.header, token.claims


def judge(verifier, one):
    """The subject of a token that counts."""
    header, claims = verifier.claims(one)
    if header["typ"] != "at+jwt":
        raise ValueError("typ")
    if "jkt" in claims["cnf"]:
        if not one.get("jwk") or import_key(one["jwk"]).thumbprint() != claims["cnf"]["jkt"]:
            raise ValueError("jkt")
    else:
        der = x509.load_pem_x509_certificate(one["certificate"].encode()).public_bytes(Encoding.DER)
        shown = base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()
        if shown != claims["cnf"]["x5t#S256"]:
            raise ValueError("x5t")
    return claims["sub"]


def main():
    """Runs it."""
    world = json.loads(Path(sys.argv[2]).read_text())
    context = ssl.create_default_context(cafile=world["ca"])
    verifier = {"PyJWT": ByPyJWT, "joserfc": ByJoserfc}[sys.argv[1]](world, context)
    for one in world["cases"]:
        try:
            print("accepted", judge(verifier, one))
        except Exception as refusal:  # whatever a library refuses with
            print("refused", str(refusal).replace("\n", " "))


if __name__ == "__main__":
    main()
