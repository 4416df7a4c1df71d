"""Judges compact JWS texts with PyJWT, an implementation that shares no code with ours.

Reads JSON lines on standard input. A line with `pem` registers a key: {"key": name, "algorithm": "ES256", "pem": …};
a line with `token` asks for a verdict: {"key": name, "token": …}. For each of the latter one line is printed:
`accepted`, `signature` (refused for its signature or algorithm) or `other` (refused for anything else). Claims are not
judged: only the form and the signature are.
"""

import json
import sys

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_public_key

UNJUDGED = {"verify_" + claim: False for claim in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")}


def verdict(token, key, algorithm):
    try:
        jwt.decode(token, key, algorithms=[algorithm], options={"verify_signature": True, **UNJUDGED})
        return "accepted"
    except (jwt.InvalidSignatureError, jwt.InvalidAlgorithmError):
        return "signature"
    except jwt.PyJWTError:
        return "other"


def main():
    keys = {}
    verdicts = []
    for line in sys.stdin:
        entry = json.loads(line)
        if "pem" in entry:
            keys[entry["key"]] = (load_pem_public_key(entry["pem"].encode()), entry["algorithm"])
        else:
            verdicts.append(verdict(entry["token"], *keys[entry["key"]]))
    print("\n".join(verdicts))


if __name__ == "__main__":
    main()
