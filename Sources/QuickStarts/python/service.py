"""A backend's calls to Countersign: identity tokens, and queries about users and tokens."""

import hashlib
import json
import os
import ssl
import time
import urllib.request
import uuid
from base64 import urlsafe_b64encode
from urllib.error import HTTPError
from urllib.parse import quote

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

URL = os.environ.get("SERVICE", "https://127.0.0.1:8440")  # the service's public URL, the issuer of session tokens
REALM = os.environ.get("REALM", "localhost")  # the service's name, the issuer of security events
TRUST = ssl.create_default_context(cafile=os.environ.get("CA", "Keys/ca.pem"))
with open(os.environ.get("PROVIDER", "provider.json")) as file:
    PROVIDER = json.load(file)  # the output of `provider add --json`
with open(os.environ.get("KEY", "provider.key"), "rb") as file:
    KEY = load_pem_private_key(file.read(), None)
ALGORITHM = "RS256" if isinstance(KEY, RSAPrivateKey) else "ES256"


class Refusal(Exception):
    """An error response: status, error code and reason."""


def digest(data):
    """SHA-256 in base64url, as in JOSE."""
    return urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def sign(content_type, life, **claims):
    """A token of this provider, for `life` seconds."""
    now = int(time.time())
    claims |= {"iss": PROVIDER["provider_id"], "aud": REALM, "iat": now, "exp": now + life}
    return jwt.encode(claims, KEY, ALGORITHM, {"typ": "JWT", "cty": content_type, "kid": PROVIDER["key_id"]})


def get(path):
    """A public document of the service."""
    with urllib.request.urlopen(URL + path, timeout=5, context=TRUST) as answer:
        return answer.read()


def call(method, path, value=None):
    """A call with a token for this one request."""
    body = b"" if value is None else json.dumps(value).encode()
    token = sign("layer-provider;v=1", 60, jti=str(uuid.uuid4()), htm=method, htu=URL + path, body_sha256=digest(body))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, body or None, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=5, context=TRUST) as answer:
            return json.loads(answer.read() or "null")
    except HTTPError as error:
        raise Refusal(502, "service_refused", error.read().decode()) from error


def identity_token(user, nonce):
    """States that this user has just logged in on the device with this nonce. Check that before you call it."""
    return sign("layer-eit;v=1", 300, sub=user, nce=nonce)


def user(external_id):
    """The user's level, age flags and ban, by the service."""
    return call("GET", f"/provider/users/{quote(external_id, safe='')}")


def end_sessions(external_id):
    """Signs a user out on every device."""
    call("DELETE", f"/provider/users/{quote(external_id, safe='')}/sessions")


def doctor(token):
    """Every defect that the service finds in an identity token. It does not spend the nonce."""
    return call("POST", "/provider/token-check", {"identity_token": token})


def receive_events(url):
    """Sets the URL to which the service sends security events."""
    call("PUT", "/provider/webhook", {"url": url})
