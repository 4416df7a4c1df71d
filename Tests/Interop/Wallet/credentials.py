"""Credentials of other programs: mobile documents by isomdoc, SD-JWTs by sd-jwt, with certificates of ours."""

import base64
import datetime
import hashlib
import json

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID, ObjectIdentifier
from isomdoc.create.create_mdoc import create_mdoc
from jwcrypto import jwk
from sd_jwt.common import SDObj
from sd_jwt.holder import SDJWTHolder
from sd_jwt.issuer import SDJWTIssuer

LICENCE, NAME_SPACE, PERSON = "org.iso.18013.5.1.mDL", "org.iso.18013.5.1", "urn:eudi:pid:1"
ADDRESS = "https://dmv.example"
USAGES = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
          "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")


def text(data):
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value):
    return text(value.to_bytes(32, "big"))


def new_key():
    return ec.generate_private_key(ec.SECP256R1())


class Issuer:
    """An authority with a signer of documents and a signer of SD-JWTs."""

    def __init__(self):
        self.now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        self.root_key, self.document_key, self.person_key = new_key(), new_key(), new_key()
        identifier = x509.SubjectKeyIdentifier.from_public_key(self.root_key.public_key())
        self.root = self.certificate(
            "IACA", self.root_key, 3650,
            (x509.BasicConstraints(True, 0), True), (self.usage("key_cert_sign", "crl_sign"), True),
            (identifier, False))
        self.document_signer = self.signer("DS", self.document_key, ObjectIdentifier("1.0.18013.5.1.2"))
        self.person_signer = self.signer("PID", self.person_key)

    def pem(self):
        return self.root.public_bytes(serialization.Encoding.PEM).decode()

    @staticmethod
    def usage(*names):
        return x509.KeyUsage(**{name: name in names for name in USAGES})

    def signer(self, name, key, *purposes):
        """A certificate that the authority issues to a signer."""
        root = self.root.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        authority = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(root)
        address = x509.SubjectAlternativeName([x509.UniformResourceIdentifier(ADDRESS)])
        extensions = [(self.usage("digital_signature"), True), (authority, False), (address, False)]
        if purposes:
            extensions.append((x509.ExtendedKeyUsage(purposes), True))
        return self.certificate(name, key, 400, *extensions)

    def certificate(self, name, key, days, *extensions):
        def full(common_name):
            return x509.Name([
                x509.NameAttribute(NameOID.COUNTRY_NAME, "US"),
                x509.NameAttribute(NameOID.STATE_OR_PROVINCE_NAME, "US-VA"),
                x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
        builder = (
            x509.CertificateBuilder().subject_name(full(name)).issuer_name(full("IACA")).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(self.now - datetime.timedelta(days=1))
            .not_valid_after(self.now + datetime.timedelta(days=days)))
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self.root_key, hashes.SHA256())

    def document(self, device):
        """The issuer's part of a mobile document with two statements about the age."""
        document = create_mdoc(LICENCE, [self.document_signer], self.document_key)
        document.add_data_item(NAME_SPACE, "age_over_18", True)
        document.add_data_item(NAME_SPACE, "age_over_21", False)
        until = self.now + datetime.timedelta(days=30)
        return cbor2.loads(document.generate_credential(device.public_key(), self.now, self.now, until))

    def person(self, holder):
        """The issuance of an SD-JWT with a family name and a birthday."""
        seconds = int(self.now.timestamp())
        claims = {
            "iss": ADDRESS, "iat": seconds, "exp": seconds + 3600, "vct": PERSON,
            SDObj("family_name"): "SAMPLE", SDObj("birthdate"): "1990-01-01"}
        private = self.person_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        chain = [base64.b64encode(self.person_signer.public_bytes(serialization.Encoding.DER)).decode()]
        return SDJWTIssuer(
            claims, jwk.JWK.from_pem(private), holder, sign_alg="ES256",
            extra_header_parameters={"typ": "dc+sd-jwt", "x5c": chain}).sd_jwt_issuance


def transcript(kind, info):
    """A session transcript (OpenID4VP 1.0 §B.2.6, ISO/IEC 18013-7 Annex C)."""
    return [None, None, [kind, hashlib.sha256(cbor2.dumps(info)).digest()]]


def device_response(issued, device, session):
    """The answer of a device that signs the session."""
    name_spaces = cbor2.CBORTag(24, cbor2.dumps({}))
    authentication = cbor2.dumps(
        cbor2.CBORTag(24, cbor2.dumps(["DeviceAuthentication", session, LICENCE, name_spaces])))
    header = cbor2.dumps({1: -7})
    signed = cbor2.dumps(["Signature1", header, b"", authentication])
    r, s = decode_dss_signature(device.sign(signed, ec.ECDSA(hashes.SHA256())))
    signature = [header, {}, None, r.to_bytes(32, "big") + s.to_bytes(32, "big")]
    return cbor2.dumps({
        "version": "1.0", "status": 0,
        "documents": [{
            "docType": LICENCE, "issuerSigned": issued,
            "deviceSigned": {"nameSpaces": name_spaces, "deviceAuth": {"deviceSignature": signature}}}]})


def presentation(issuance, holder, nonce, audience, claims):
    """An SD-JWT with some of its claims and a key binding."""
    made = SDJWTHolder(issuance)
    made.create_presentation(claims, nonce=nonce, aud=audience, holder_key=holder, sign_alg="ES256")
    return made.sd_jwt_presentation


def web_key(key, private=False):
    """A key as a JWK."""
    numbers = key.public_key().public_numbers()
    members = {"crv": "P-256", "kty": "EC", "x": number(numbers.x), "y": number(numbers.y)}
    return members | ({"d": number(key.private_numbers().private_value), "kid": "1"} if private else {})


def thumbprint(key):
    return hashlib.sha256(json.dumps(web_key(key), separators=(",", ":"), sort_keys=True).encode()).digest()
