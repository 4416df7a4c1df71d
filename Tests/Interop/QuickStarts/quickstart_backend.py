"""A quick start that runs, and the proofs of a device that calls it."""

import hmac
import http.client
import json
import subprocess
import sys
import time
import uuid
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding

from Shared.client import TIMEOUT, base64url, https

FOLDER = Path(__file__).parents[3] / "Sources" / "QuickStarts"
sys.path.insert(0, str(FOLDER))

import starting  # noqa: E402 (what `make hello` starts them with)


def digest(text):
    """The base64url of the SHA-256."""
    made = hashes.Hash(hashes.SHA256())
    made.update(text.encode())
    return base64url(made.finalize())


def jwk(key):
    """The public half as a JWK."""
    kind = jwt.algorithms.ECAlgorithm if isinstance(key, ec.EllipticCurvePrivateKey) else jwt.algorithms.RSAAlgorithm
    found = kind.to_jwk(key.public_key(), as_dict=True)
    return {name: value for name, value in found.items() if name in ("kty", "crv", "x", "y", "n", "e")}


def thumbprint(key):
    """RFC 7638."""
    return digest(json.dumps(jwk(key), sort_keys=True, separators=(",", ":")))


def proof(key, method, url, token=None, **changes):
    """A DPoP proof (RFC 9449); `changes` replace members of claims and header, `None` removes one."""
    name = "RS256"
    if isinstance(key, ec.EllipticCurvePrivateKey):
        name = {256: "ES256", 384: "ES384"}[key.key_size]
    header = {"typ": "dpop+jwt", "jwk": jwk(key)}
    claims = {"jti": str(uuid.uuid4()), "htm": method, "htu": url, "iat": int(time.time())}
    if token:
        claims["ath"] = digest(token)
    for member, value in changes.items():
        (header if member in ("typ", "jwk", "crit", "new") else claims)[member] = value
    claims = {member: value for member, value in claims.items() if value is not None}
    return jwt.api_jws.PyJWS().encode(json.dumps(claims).encode(), key, name, headers=header)


def claims_of(token):
    """The claims of any JWS."""
    return jwt.decode(token, options={"verify_signature": False})


def assembled(header, claims, secret=None, key=None):
    """A JWS without a signature, with the one of a shared secret, or with RS256, whatever its header says."""
    signed = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
    signature = hmac.digest(secret.encode(), signed.encode(), "sha256") if secret else b""
    if key:
        signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signed}.{base64url(signature)}"


class Backend:
    """A quick start on a free port of this machine, which ends with this object."""

    def __init__(self, chosen, language, folder, tls=False, service=None, key=None):
        """`key` has the settings of another key of the provider."""
        port = starting.free_port()
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
        settings = {
            "SERVICE": service or chosen.public, "CA": chosen.ca, "PROVIDER": chosen.provider, "KEY": chosen.provider_key,
            "EVENTS": f"http://127.0.0.1:{port}/events", **(key or {})}
        if tls:
            # A certificate of its own; nobody but this test trusts it.
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj",
                 "/CN=backend", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{folder}/backend.key", "-out",
                 f"{folder}/backend.pem"], check=True, capture_output=True)
            settings |= {"TLS_CERTIFICATE": f"{folder}/backend.pem", "TLS_KEY": f"{folder}/backend.key"}
        if tls or service:
            del settings["EVENTS"]
        self.authority = f"{folder}/backend.pem"
        starting.compile_backend(language, folder)
        self.process = starting.backend(language, folder, port, settings, f"{folder}/log", tls)
        self.connection = https(False)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.connection.close()
        self.process.end()
        if error:
            print(self.process.log.read_text()[-3000:])

    def call(self, method, path, token=None, shown=None, scheme="DPoP", **more):
        """A request with a token and a proof, if there are any."""
        headers = {"Authorization": f"{scheme} {token}"} if token else {}
        if shown:
            headers["DPoP"] = shown
        return self.connection.request(method, self.url + path, headers=headers, timeout=TIMEOUT, **more)

    def post(self, path, value, certificate=None):
        """A request with a JSON body."""
        if certificate:
            return self.tls("POST", path, certificate, json=value)
        return self.call("POST", path, json=value)

    def event(self, body):
        """A security event (RFC 8935)."""
        return self.connection.post(
            self.url + "/events", data=body, headers={"Content-Type": "application/secevent+jwt"}, timeout=TIMEOUT)

    def tls(self, method, path, certificate, **more):
        """A request over the backend's own mutual TLS."""
        with https(self.authority, certificate) as session:
            return session.request(method, self.url + path, timeout=TIMEOUT, **more)

    def status_with(self, path, token, proofs):
        """The status of a request with several proofs, which `requests` cannot send."""
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=TIMEOUT)
        connection.putrequest("GET", path)
        connection.putheader("Authorization", f"DPoP {token}")
        for shown in proofs:
            connection.putheader("DPoP", shown)
        connection.endheaders()
        status = connection.getresponse().status
        connection.close()
        return status
