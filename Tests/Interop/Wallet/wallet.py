"""Answers of wallets, made by other programs: `countersign wallet verify` accepts each for its own request alone."""

import argparse
import json
import pathlib
import subprocess
import tempfile

import cbor2
from jwcrypto import jwe, jwk
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, KEMKey
from Wallet.credentials import (
    LICENCE, NAME_SPACE, PERSON, Issuer, device_response, new_key, presentation, text, thumbprint, transcript, web_key)

NONCE, ORIGIN, CLIENT = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA", "https://app.example", "x509_hash:abc"
RESPONSE_URI = "https://id.example/wallet/responses/1"
QUERY = [
    {"id": "mdl", "format": "mso_mdoc", "type": LICENCE,
     "claims": [[NAME_SPACE, "age_over_18"], [NAME_SPACE, "age_over_21"]]},
    {"id": "pid", "format": "dc+sd-jwt", "type": PERSON, "claims": [["family_name"]]}]


class Wallet:
    """A wallet with one credential of each format, and the key of a request."""

    def __init__(self):
        self.issuer, self.device, self.key = Issuer(), new_key(), new_key()
        self.holder = jwk.JWK.generate(kty="EC", crv="P-256")
        self.document, self.person = self.issuer.document(self.device), self.issuer.person(self.holder)
        numbers = self.key.public_key().public_numbers()
        public = {1: 2, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        self.info = text(cbor2.dumps(["dcapi", {"nonce": bytes(32), "recipientPublicKey": public}]))
        print_of_key = thumbprint(self.key)
        self.sessions = {
            "dc_api": transcript("OpenID4VPDCAPIHandover", [ORIGIN, NONCE, print_of_key]),
            "same_device": transcript("OpenID4VPHandover", [CLIENT, NONCE, print_of_key, RESPONSE_URI]),
            "annex_c": transcript("dcapi", [self.info, ORIGIN])}

    def request(self, channel):
        """What `wallet verify` is told about the request."""
        common = {"nonce": NONCE, "query": QUERY, "key": web_key(self.key, private=True)}
        if channel == "same_device":
            return common | {"client_id": CLIENT, "response_uri": RESPONSE_URI}
        return common | {"origin": ORIGIN} | ({"encryption_info": self.info} if channel == "annex_c" else {})

    def encrypted(self, token, enc="A256GCM", **parties):
        """A JWE by jwcrypto."""
        header = {"alg": "ECDH-ES", "enc": enc, "kid": "1", **parties}
        made = jwe.JWE(json.dumps({"vp_token": token}).encode(), json.dumps(header))
        made.add_recipient(jwk.JWK(**web_key(self.key)))
        return {"response": made.serialize(compact=True)}

    def sealed(self, session):
        """Annex C's encryption by pyhpke."""
        suite = CipherSuite.new(KEMId.DHKEM_P256_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES128_GCM)
        recipient = KEMKey.from_pyca_cryptography_key(self.key.public_key())
        encapsulated, context = suite.create_sender_context(recipient, info=cbor2.dumps(session))
        content = context.seal(device_response(self.document, self.device, session))
        return {"response": text(cbor2.dumps(["dcapi", {"enc": encapsulated, "cipherText": content}]))}

    def licence(self, channel):
        return {"mdl": [text(device_response(self.document, self.device, self.sessions[channel]))]}

    def name(self, audience, nonce=NONCE, claims=("family_name",)):
        return {"pid": [presentation(self.person, self.holder, nonce, audience, {claim: True for claim in claims})]}


def cases(wallet):
    """Each answer with its request, and the reason to refuse it or none."""
    for enc in ("A128GCM", "A256GCM"):
        yield "dc_api", wallet.encrypted(wallet.licence("dc_api"), enc), None
    yield "dc_api", wallet.encrypted(wallet.licence("dc_api"), apu="YQ", apv="Yg"), None
    yield "same_device", wallet.encrypted(wallet.licence("same_device")), None
    yield "same_device", wallet.encrypted(wallet.licence("dc_api")), "device_signature"
    yield "dc_api", wallet.encrypted(wallet.licence("same_device")), "device_signature"
    yield "annex_c", wallet.sealed(wallet.sessions["annex_c"]), None
    yield "annex_c", wallet.sealed(wallet.sessions["dc_api"]), "undecryptable"
    yield "dc_api", wallet.encrypted(wallet.name(f"origin:{ORIGIN}")), None
    yield "same_device", wallet.encrypted(wallet.name(CLIENT)), None
    yield "same_device", wallet.encrypted(wallet.name(f"origin:{ORIGIN}")), "replayed"
    yield "dc_api", wallet.encrypted(wallet.name(CLIENT)), "replayed"
    yield "dc_api", wallet.encrypted(wallet.name(f"origin:{ORIGIN}", nonce="other")), "replayed"
    yield "dc_api", wallet.encrypted(wallet.name(f"origin:{ORIGIN}", claims=())), "incomplete"
    yield "dc_api", wallet.encrypted(wallet.name(f"origin:{ORIGIN}", claims=("family_name", "birthdate"))), "surplus"
    text_of_person = wallet.name(f"origin:{ORIGIN}")["pid"][0]
    yield "dc_api", wallet.encrypted({"pid": [text_of_person.rsplit("~", 1)[0] + "~"]}), "unbound"
    parts = text_of_person.split("~")
    yield "dc_api", wallet.encrypted({"pid": ["~".join(parts[:1] + parts[2:])]}), "device_signature"
    yield "dc_api", wallet.encrypted(wallet.licence("dc_api") | wallet.name(f"origin:{ORIGIN}")), "mixed"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--countersign", required=True)
    arguments = parser.parse_args()
    wallet, failures, count = Wallet(), [], 0
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "iaca.pem").write_text(wallet.issuer.pem(), encoding="utf-8")
        for channel, answer, reason in cases(wallet):
            count += 1
            file = directory / "answer.json"
            file.write_text(json.dumps(wallet.request(channel) | answer), encoding="utf-8")
            run = subprocess.run(
                [arguments.countersign, "wallet", "verify", str(file), "--issuers", name, "--json"],
                capture_output=True, text=True, timeout=60, check=False)
            found = json.loads(run.stdout) if run.stdout else {"reason": run.stderr}
            if found["reason"] != reason or run.returncode != (1 if reason else 0):
                failures.append(f"{count}: {channel} {reason}: {run.stdout}{run.stderr}")
    if failures:
        raise SystemExit("\n".join(failures))
    print(f"{count} answers")


if __name__ == "__main__":
    main()
