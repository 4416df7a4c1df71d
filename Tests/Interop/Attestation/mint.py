"""Prints attestations of both kinds as JSON: `mint.py NUMBER APPLE_APP PACKAGE SIGNER`, with SIGNER in hexadecimal.

pyasn1 reads each description that was written, so that its bytes do not depend on one understanding of DER.
"""

import base64
import hashlib
import json
import sys

from cryptography.hazmat.primitives.asymmetric import ec
from pyasn1.codec.der import decoder

from Attestation.android_key import AndroidKeys, description
from Attestation.app_attest import AppAttest
from Attestation.certificates import der, key_information

number, app, package, signer = int(sys.argv[1]), sys.argv[2], sys.argv[3], bytes.fromhex(sys.argv[4])


def text(data):
    return base64.b64encode(data).decode()


def digest(challenge, subject):
    return hashlib.sha256(f"countersign-attest-v1\n{challenge}\n{subject}".encode()).digest()


apple, android = AppAttest(), AndroidKeys()
minted = {"apple_root": text(der(apple.root)), "google_root": text(der(android.root)), "objects": [], "chains": []}
for index in range(number):
    key, challenge = ec.generate_private_key(ec.SECP256R1()), f"challenge {index}"
    wanted = digest(challenge, "subject")
    minted["objects"].append({
        "challenge": challenge, "key_id": text(apple.key_id(key)), "object": text(apple.object(key, app, wanted)),
        "assertion": text(apple.assertion(key, app, wanted, index + 1)), "counter": index + 1})
    described = description(wanted, package, signer, level=1 + index % 2)
    read, rest = decoder.decode(described)
    assert not rest and len(read) == 8 and bytes(read[4]) == wanted and int(read[1]) == 1 + index % 2, "DER"
    minted["chains"].append({
        "challenge": challenge, "key": text(key_information(key)), "strongbox": index % 2 == 1,
        "chain": [text(each) for each in android.chain(key, described)]})
json.dump(minted, sys.stdout)
