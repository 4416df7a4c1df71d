"""Certificates as the makers of devices issue them."""

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID

USAGES = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
          "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")


def certificate(name, issuer, key, signing, days, authority=False, extension=None):
    """A certificate of a key, in the names of one organization."""
    def full(common_name):
        return x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example"),
                          x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    usage = "key_cert_sign" if authority else "digital_signature"
    builder = (
        x509.CertificateBuilder().subject_name(full(name)).issuer_name(full(issuer)).public_key(key)
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(authority, None), True)
        .add_extension(x509.KeyUsage(**{each: each == usage for each in USAGES}), True))
    if extension:
        builder = builder.add_extension(extension, False)
    return builder.sign(signing, hashes.SHA256())


def der(made):
    return made.public_bytes(Encoding.DER)


def point(key):
    """The uncompressed point of an elliptic curve key."""
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def key_information(key):
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
