"""App Attest objects, minted with `cryptography` and `cbor2`."""

import hashlib
import struct

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ObjectIdentifier

from Attestation.certificates import certificate, der, point

NONCE = ObjectIdentifier("1.2.840.113635.100.8.2")


class AppAttest:
    """Apple's two authorities."""

    def __init__(self):
        self.root_key = ec.generate_private_key(ec.SECP384R1())
        self.issuing_key = ec.generate_private_key(ec.SECP384R1())
        self.root = certificate("Root", "Root", self.root_key.public_key(), self.root_key, days=3650, authority=True)
        self.issuing = certificate("CA 1", "Root", self.issuing_key.public_key(), self.root_key, days=3000, authority=True)

    def object(self, key, app, digest, environment=b"appattest"):
        """What attestKey returns for a P-256 key."""
        numbers, identifier = key.public_key().public_numbers(), self.key_id(key)
        cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")})
        data = self.head(app, 0) + environment.ljust(16, b"\0") + struct.pack(">H", 32) + identifier + cose
        nonce = hashlib.sha256(data + digest).digest()
        extension = x509.UnrecognizedExtension(NONCE, bytes.fromhex("3024a1220420") + nonce)
        leaf = certificate("leaf", "CA 1", key.public_key(), self.issuing_key, days=3, extension=extension)
        statement = {"x5c": [der(leaf), der(self.issuing)], "receipt": bytes(16)}
        return cbor2.dumps({"fmt": "apple-appattest", "attStmt": statement, "authData": data})

    def assertion(self, key, app, digest, counter):
        """What generateAssertion returns."""
        data = self.head(app, counter)
        signature = key.sign(hashlib.sha256(data + digest).digest(), ec.ECDSA(hashes.SHA256()))
        return cbor2.dumps({"signature": signature, "authenticatorData": data})

    @staticmethod
    def key_id(key):
        return hashlib.sha256(point(key)).digest()

    @staticmethod
    def head(app, counter):
        return hashlib.sha256(app.encode()).digest() + b"\x40" + struct.pack(">I", counter)
