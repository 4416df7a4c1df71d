"""Credentials made without a library for them, in the various forms that the standards permit."""

import base64
import hashlib
import json

import cbor2
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import ObjectIdentifier
from Wallet.credentials import ADDRESS, LICENCE, NAME_SPACE, PERSON, text, web_key

DIGESTS = {"SHA-256": hashlib.sha256, "SHA-384": hashlib.sha384, "SHA-512": hashlib.sha512}


def der(certificate):
    return certificate.public_bytes(serialization.Encoding.DER)


def raw_signature(key, content, algorithm, length):
    r, s = decode_dss_signature(key.sign(content, ec.ECDSA(algorithm)))
    return r.to_bytes(length, "big") + s.to_bytes(length, "big")


class OwnIssuer:
    """Signs as the issuer does, with a second signer of documents on P-384. `choice` is the source of randomness."""

    def __init__(self, issuer, choice):
        self.issuer, self.choice = issuer, choice
        wide = ec.generate_private_key(ec.SECP384R1())
        purpose = ObjectIdentifier("1.0.18013.5.1.2")
        self.signers = [
            (issuer.document_key, issuer.document_signer, -7, hashes.SHA256(), 32),
            (wide, issuer.signer("DS384", wide, purpose), -35, hashes.SHA384(), 48)]

    def document(self, device):
        """The issuer's part of a mobile document: any digest, order of members and form of the chain, more digests."""
        choice = self.choice
        name, digest = choice.choice(list(DIGESTS.items()))
        items, elements = {}, {"age_over_18": True, "age_over_21": False}
        for number, (element, value) in zip(choice.sample(range(100), len(elements)), elements.items()):
            members = [("digestID", number), ("random", choice.randbytes(choice.randint(16, 32))),
                       ("elementIdentifier", element), ("elementValue", value)]
            choice.shuffle(members)
            items[number] = cbor2.CBORTag(24, cbor2.dumps(dict(members)))
        digests = {number: digest(cbor2.dumps(item)).digest() for number, item in items.items()}
        for number in choice.sample(range(100, 200), choice.randint(0, 20)):
            digests[number] = digest(choice.randbytes(8)).digest()
        numbers = device.public_key().public_numbers()
        key = {1: 2, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        days = self.issuer.now.strftime("%Y-%m-%dT%H:%M:%SZ"), f"{self.issuer.now.year + 1}-01-31T00:00:00Z"
        signed, until = (cbor2.CBORTag(0, day) for day in days)
        content = cbor2.dumps({
            "version": "1.0", "digestAlgorithm": name, "valueDigests": {NAME_SPACE: digests},
            "deviceKeyInfo": {"deviceKey": key}, "docType": LICENCE,
            "validityInfo": {"signed": signed, "validFrom": signed, "validUntil": until}})
        signer, certificate, algorithm, hashing, length = choice.choice(self.signers)
        payload, header = cbor2.dumps(cbor2.CBORTag(24, content)), cbor2.dumps({1: algorithm})
        signature = raw_signature(signer, cbor2.dumps(["Signature1", header, b"", payload]), hashing, length)
        chain = choice.choice([der(certificate), [der(certificate)]])
        presented = list(items.values())
        choice.shuffle(presented)
        return {"nameSpaces": {NAME_SPACE: presented}, "issuerAuth": [header, {33: chain}, payload, signature]}

    def person(self, holder):
        """The issuance of an SD-JWT, with digests of nothing among those of its claims."""
        choice, seconds = self.choice, int(self.issuer.now.timestamp())
        claims = {"family_name": "SAMPLE", "birthdate": "1990-01-01", "nationalities": ["US"],
                  "address": {"locality": "RICHMOND", "country": "US"}}
        disclosures = [text(json.dumps([text(choice.randbytes(16)), *claim]).encode()) for claim in claims.items()]
        digests = [text(hashlib.sha256(disclosure.encode()).digest()) for disclosure in disclosures]
        digests += [text(choice.randbytes(32)) for _ in range(choice.randint(0, 5))]
        choice.shuffle(digests)
        chain = [base64.b64encode(der(self.issuer.person_signer)).decode()]
        payload = {"iss": ADDRESS, "iat": seconds, "exp": seconds + 3600, "vct": PERSON, "_sd": digests,
                   "cnf": {"jwk": web_key(holder)}}
        if choice.random() < 0.5:
            payload["_sd_alg"] = "sha-256"
        token = signed({"alg": "ES256", "typ": "dc+sd-jwt", "x5c": chain}, payload, self.issuer.person_key)
        return "~".join([token, *disclosures, ""])


def signed(header, payload, key):
    """A compact JWS by ES256."""
    content = ".".join(text(json.dumps(part).encode()) for part in (header, payload))
    return f"{content}.{text(raw_signature(key, content.encode(), hashes.SHA256(), 32))}"


def own_presentation(issuance, holder, nonce, audience, seconds):
    """An SD-JWT with its first claim and a key binding."""
    bound = "~".join(issuance.split("~")[:2] + [""])
    digest = text(hashlib.sha256(bound.encode()).digest())
    payload = {"iat": seconds, "nonce": nonce, "aud": audience, "sd_hash": digest}
    return bound + signed({"alg": "ES256", "typ": "kb+jwt"}, payload, holder)
