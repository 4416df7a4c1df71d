"""The service's keys."""

import threading
import time

import jwt

from service import Refusal, get

fetching = threading.Lock()  # tokens with a known key do not wait for it
keys, asked_at = {}, float("-inf")


def service_key(name):
    """A key of the service. Keys are fetched once, and again only for an unknown one, at most once a minute."""
    global keys, asked_at
    if name not in keys:
        with fetching:
            if name not in keys and time.monotonic() - asked_at >= (60 if keys else 5):
                asked_at = time.monotonic()
                keys = {key.key_id: key for key in jwt.PyJWKSet.from_json(get("/.well-known/jwks.json")).keys}
    if not keys:
        raise Refusal(503, "temporarily_unavailable", "the service's keys are not known yet")
    return keys.get(name)
