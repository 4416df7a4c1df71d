"""Many credentials of one format by one channel: other verifiers accept each for its own request alone.

Half of them are made by isomdoc or sd-jwt, the others by cbor2 and json. jwcrypto and pyhpke encrypt them. The answers
are written for the service, a line each, with the reason to refuse or null.
"""

import argparse
import dataclasses
import json
import pathlib
import random

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from jwcrypto import jwe, jwk
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, KEMKey
from Wallet import judges
from Wallet.credentials import (
    LICENCE, NAME_SPACE, PERSON, Issuer, device_response, new_key, presentation, text, thumbprint, transcript, web_key)
from Wallet.own_credentials import OwnIssuer, own_presentation

QUERY = {
    "mdl": [{"id": "mdl", "format": "mso_mdoc", "type": LICENCE,
             "claims": [[NAME_SPACE, "age_over_18"], [NAME_SPACE, "age_over_21"]]}],
    "pid": [{"id": "pid", "format": "dc+sd-jwt", "type": PERSON, "claims": [["family_name"]]}]}
# What the signatures of each format and channel are bound to.
BOUND = {
    ("mdl", "dc_api"): ("channel", "origin", "nonce", "key"),
    ("mdl", "same_device"): ("channel", "client", "response_uri", "nonce", "key"),
    ("mdl", "annex_c"): ("channel", "origin", "nonce", "key"),
    ("pid", "dc_api"): ("channel", "origin", "nonce"),
    ("pid", "same_device"): ("channel", "client", "nonce")}


@dataclasses.dataclass(frozen=True)
class Request:
    """What an answer is bound to."""

    channel: str
    key: ec.EllipticCurvePrivateKey
    nonce: str
    origin: str = "https://app.example"
    client: str = "x509_hash:abc"
    response_uri: str = "https://id.example/wallet/responses/1"

    def info(self):
        """Annex C's encryptionInfo."""
        numbers = self.key.public_key().public_numbers()
        public = {1: 2, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        return text(cbor2.dumps(["dcapi", {"nonce": self.nonce.encode(), "recipientPublicKey": public}]))

    def session(self):
        if self.channel == "annex_c":
            return transcript("dcapi", [self.info(), self.origin])
        if self.channel == "dc_api":
            return transcript("OpenID4VPDCAPIHandover", [self.origin, self.nonce, thumbprint(self.key)])
        return transcript(
            "OpenID4VPHandover", [self.client, self.nonce, thumbprint(self.key), self.response_uri])

    def audience(self):
        return self.client if self.channel == "same_device" else f"origin:{self.origin}"

    def changed(self, name, choice):
        """A request that differs in one value."""
        if name == "channel":
            return dataclasses.replace(self, channel="same_device" if self.channel == "dc_api" else "dc_api")
        value = new_key() if name == "key" else f"{getattr(self, name)}{choice.randrange(10)}"
        return dataclasses.replace(self, **{name: value})

    def members(self):
        """What the service is told about the request."""
        common = {"nonce": self.nonce, "key": web_key(self.key, private=True)}
        if self.channel == "same_device":
            return common | {"client_id": self.client, "response_uri": self.response_uri}
        common |= {"origin": self.origin}
        return common | {"encryption_info": self.info()} if self.channel == "annex_c" else common


class Population:
    """Credentials of one format, each presented once to its own request and once to another."""

    def __init__(self, kind, channel, seed):
        self.kind, self.channel, self.choice = kind, channel, random.Random(seed)
        self.issuer = Issuer()
        self.own = OwnIssuer(self.issuer, self.choice)
        self.failures = []

    def expect(self, name, accepted, expected):
        if accepted != expected:
            self.failures.append(f"{name} {'accepts' if accepted else 'refuses'} {self.kind} {self.channel}")

    def expect_answer(self, answer, request, expected):
        """openvc opens no answer to a redirect."""
        if self.channel != "same_device":
            accepted = judges.answer(self.kind, self.issuer.root, answer, request, request.key)
            self.expect("openvc, encrypted,", accepted, expected)

    def answers(self, index):
        """Two answers with their request and the reason to refuse: one to that request, and one to another."""
        request = Request(self.channel, new_key(), text(self.choice.randbytes(32)))
        names = BOUND[self.kind, self.channel]
        swapped = request.changed(names[index // 2 % len(names)], self.choice)
        yield from (self.documents if self.kind == "mdl" else self.persons)(index, request, swapped)

    def documents(self, index, request, swapped):
        device = new_key()
        issuer = self.issuer if index % 2 else self.own
        issued = issuer.document(device)
        for presented in (request, swapped):
            is_own = presented is request
            response = device_response(issued, device, presented.session())
            self.expect("openvc", judges.document(self.issuer.root, response, request), is_own)
            if (accepted := judges.issued(self.issuer.root, issued, response)) is not None:
                self.expect("pymdoccbor", accepted, True)
            if self.channel == "annex_c":
                # The device signed for another request, or the encryption is for another, too.
                sealed = request if is_own or index % 4 < 2 else swapped
                reason = None if is_own else "device_signature" if sealed is request else "undecryptable"
                answer = seal(request.key, sealed.session(), response)
            else:
                reason = None if is_own else "device_signature"
                answer = encrypt(request.key, {"mdl": [text(response)]}, self.choice)
            self.expect_answer(answer, request, is_own)
            yield request, answer, reason

    def persons(self, index, request, swapped):
        holder = new_key()
        if index % 2:
            issuance = self.issuer.person(jwk.JWK.from_pyca(holder))
        else:
            issuance = self.own.person(holder)
        for presented in (request, swapped):
            if index % 2:
                shown = presentation(
                    issuance, jwk.JWK.from_pyca(holder), presented.nonce, presented.audience(), {"family_name": True})
            else:
                seconds = int(self.issuer.now.timestamp())
                shown = own_presentation(issuance, holder, presented.nonce, presented.audience(), seconds)
            for name, accepted in judges.credential(self.issuer.root, shown, request).items():
                self.expect(name, accepted, presented is request)
            answer = encrypt(request.key, {"pid": [shown]}, self.choice)
            self.expect_answer(answer, request, presented is request)
            yield request, answer, None if presented is request else "replayed"


def written(kind, request, answer, reason):
    """The line of an answer."""
    return json.dumps(request.members() | {"query": QUERY[kind], "response": answer, "expected": reason}) + "\n"


def encrypt(key, token, choice):
    """A JWE by jwcrypto, with and without names of the parties."""
    header = {"alg": "ECDH-ES", "enc": choice.choice(["A128GCM", "A256GCM"]), "kid": "1"}
    header |= choice.choice([{}, {"apu": "YQ", "apv": "Yg"}, {"apv": "Yg"}])
    made = jwe.JWE(json.dumps({"vp_token": token}).encode(), json.dumps(header))
    made.add_recipient(jwk.JWK(**web_key(key)))
    return made.serialize(compact=True)


def seal(key, session, response):
    """Annex C's encryption by pyhpke."""
    suite = CipherSuite.new(KEMId.DHKEM_P256_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES128_GCM)
    recipient = KEMKey.from_pyca_cryptography_key(key.public_key())
    encapsulated, context = suite.create_sender_context(recipient, info=cbor2.dumps(session))
    return text(cbor2.dumps(["dcapi", {"enc": encapsulated, "cipherText": context.seal(response)}]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=pathlib.Path, required=True, help="for the answers and the issuer's root")
    parser.add_argument("--kind", choices=QUERY, required=True)
    parser.add_argument("--channel", choices=["dc_api", "same_device", "annex_c"], required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    arguments = parser.parse_args()
    population = Population(arguments.kind, arguments.channel, arguments.seed)
    (arguments.directory / "iaca.pem").write_text(population.issuer.pem(), encoding="utf-8")
    with open(arguments.directory / "answers.jsonl", "w", encoding="utf-8") as file:
        for index in range(arguments.count):
            for answer in population.answers(index):
                file.write(written(arguments.kind, *answer))
    if population.failures:
        raise SystemExit("\n".join(population.failures[:10]))
    print(f"{arguments.count} accepted, {arguments.count} refused")


if __name__ == "__main__":
    main()
