"""Verifies an exported audit log, from the description in Administration.md alone: every digest, and every checkpoint's
signature by a key that is not taken from the export. Prints what it found as JSON; exit code 1 where something is wrong."""

import argparse
import base64
import hashlib
import json
import sys
import urllib.request
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import serialization

TYPE = "countersign-audit-checkpoint+jwt"
ANCHOR = "countersign-audit-anchor+jwt"


class Defect(Exception):
    """What is wrong, with the entry's number."""


def field(value):
    """A field as it is hashed: absent, or its length and its text."""
    if value is None:
        return b"\0"
    text = str(value).encode()
    return b"\1" + len(text).to_bytes(4, "big") + text


def digest(line, previous):
    """The digest of an entry behind another one's."""
    names = ("sequence", "id", "at_ms", "event", "subject", "actor", "detail", "reason")
    content = b"".join(field(line[name]) for name in names)
    return hashlib.sha256(b"countersign audit entry" + previous + content).digest()


def text(data):
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def key_of(source):
    """A public key: of a PEM file (private or public), or the JSON Web Key Set at a URL or in a file."""
    if "BEGIN" not in source:
        return [jwt.PyJWK(key).key for key in json.loads(source)["keys"]]
    data = source.encode()
    if "PRIVATE" in source:
        return [serialization.load_pem_private_key(data, password=None).public_key()]
    return [serialization.load_pem_public_key(data)]


def checkpoint(token, keys, purpose=TYPE):
    """The claims of a checkpoint, or an anchor, that one of the keys signed."""
    if jwt.get_unverified_header(token).get("typ") != purpose:
        raise Defect("a token of another type stands where a checkpoint should")
    for key in keys:
        try:
            return jwt.decode(token, key, algorithms=["ES256"], options={"verify_iat": False})
        except jwt.InvalidSignatureError:
            continue
    raise Defect("a checkpoint is not signed by the service")


def verify(lines, keys):
    """Walks an export; what holds of it."""
    header = json.loads(next(lines))
    if (header["format"], header["version"]) != ("countersign-audit", 1):
        raise Defect("this is no export of version 1")
    first, number, last, signed, checkpoints = 0, 0, hashlib.sha256(b"countersign audit chain").digest(), 0, 0
    for line in lines:
        value = json.loads(line)
        if "anchor" in value:
            if number:
                raise Defect(f"an anchor stands behind entry {number}, not at the beginning")
            claims = checkpoint(value["anchor"], keys, ANCHOR)
            first = number = signed = claims["seq"]
            last = base64.urlsafe_b64decode(claims["digest"] + "=")
            continue
        if "checkpoint" in value:
            claims = checkpoint(value["checkpoint"], keys)
            if (claims["seq"], claims["digest"], claims["prev"]) != (number, text(last), signed):
                raise Defect(f"the checkpoint behind entry {number} is not over the entries before it")
            signed, checkpoints = number, checkpoints + 1
            continue
        number += 1
        last = digest(value, last)
        if (value["sequence"], value["digest"]) != (number, text(last)):
            raise Defect(f"entry {number} is missing or not what was chained")
    return {"from": first + 1, "entries": number - first, "checkpoints": checkpoints, "signed_through": signed, "digest": text(last)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export")
    parser.add_argument("--key", required=True, help="a PEM file, or a JSON Web Key Set in a file or at a URL")
    chosen = parser.parse_args()
    if chosen.key.startswith("https:"):
        with urllib.request.urlopen(chosen.key) as answer:
            source = answer.read().decode()
    else:
        source = Path(chosen.key).read_text()
    try:
        with open(chosen.export, encoding="utf-8") as lines:
            print(json.dumps(verify(lines, key_of(source))))
    except (Defect, jwt.PyJWTError, KeyError, ValueError) as defect:
        print(json.dumps({"defect": str(defect)}))
        sys.exit(1)


if __name__ == "__main__":
    main()
