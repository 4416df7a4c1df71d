"""A list of issuers (VICAL) made and served by other programs: `countersign issuer` fetches, verifies and shows it."""

import argparse
import datetime
import http.server
import json
import os
import pathlib
import subprocess
import threading

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID, ObjectIdentifier
from Shared.checks import equal, expect
from Wallet.credentials import LICENCE, PERSON, Issuer
from Wallet.own_credentials import der, raw_signature

NOW = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
CRITICAL = True


class Publisher:
    """The organization that signs lists: a root on P-384, an authority, and a signer."""

    def __init__(self):
        curves = (ec.SECP384R1(), ec.SECP256R1(), ec.SECP256R1())
        self.root_key, self.authority_key, self.signer_key = (ec.generate_private_key(curve) for curve in curves)
        signing = Issuer.usage("key_cert_sign", "crl_sign")
        self.root = self.certificate("List root", self.root_key, "List root", self.root_key, (
            (x509.BasicConstraints(True, 1), CRITICAL), (signing, CRITICAL)))
        self.authority = self.certificate("List authority", self.authority_key, "List root", self.root_key, (
            (x509.BasicConstraints(True, 0), CRITICAL), (signing, CRITICAL)))
        purpose = x509.ExtendedKeyUsage([ObjectIdentifier("1.0.18013.5.1.8")])
        self.signer = self.certificate("List signer", self.signer_key, "List authority", self.authority_key, (
            (Issuer.usage("digital_signature"), CRITICAL), (purpose, CRITICAL)))

    @staticmethod
    def certificate(name, key, issuer_name, issuer_key, extensions):
        def full(text):
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
        builder = (
            x509.CertificateBuilder().subject_name(full(name)).issuer_name(full(issuer_name))
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(NOW - datetime.timedelta(days=1)).not_valid_after(NOW + datetime.timedelta(days=90)))
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(issuer_key, hashes.SHA384() if issuer_key.curve.key_size == 384 else hashes.SHA256())

    def list(self, issuers, date):
        """A list, untagged, with the root in the chain and serial numbers as bignums, as the published ones are."""
        def entry(issuer, types):
            identifier = issuer.root.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
            return {"certificate": der(issuer.root), "serialNumber": issuer.root.serial_number,
                    "ski": cbor2.dumps(identifier.digest), "docType": types, "issuingCountry": "US"}
        content = cbor2.dumps({
            "version": "1.0", "vicalProvider": "Association of Examples", "date": time(date), "vicalIssueID": 1,
            "nextUpdate": time(date + datetime.timedelta(days=1)),
            "certificateInfos": [entry(*issuer) for issuer in issuers]})
        header = cbor2.dumps({1: -7})
        signed = cbor2.dumps(["Signature1", header, b"", content])
        signature = raw_signature(self.signer_key, signed, hashes.SHA256(), 32)
        chain = [der(certificate) for certificate in (self.signer, self.authority, self.root)]
        return cbor2.dumps([header, {33: chain}, content, signature])


def time(date):
    return cbor2.CBORTag(0, date.strftime("%Y-%m-%dT%H:%M:%SZ"))


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers every request with the present list."""

    body = b""

    def do_GET(self):  # pylint: disable=invalid-name
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--countersign", required=True)
    parser.add_argument("--directory", type=pathlib.Path, required=True)
    chosen = parser.parse_args()
    keys, policies = chosen.directory / "Keys", chosen.directory / "Policies"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def admin(*arguments, status=0):
        done = subprocess.run(
            [chosen.countersign, *arguments, "--json", "--keys", keys, "--policies", policies,
             "--store", f"sqlite:{chosen.directory}/store.db"], env=os.environ | {"COUNTERSIGN_LOOPBACK_URLS": "on"},
            capture_output=True, text=True, timeout=60, check=False)
        equal(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout) if status == 0 else done.stderr

    publisher, first, second = Publisher(), Issuer(), Issuer()
    (policies / "wallet.yaml").write_text(f"vical_url: http://127.0.0.1:{server.server_port}/vical\n")
    expect("vical.pem" in admin("issuer", "fetch", status=1), "the missing root is not named")
    (keys / "vical.pem").write_bytes(publisher.root.public_bytes(serialization.Encoding.PEM))
    equal(admin("issuer", "list"), [], "issuers before the list was fetched")

    Handler.body = publisher.list([(first, [LICENCE])], NOW - datetime.timedelta(hours=2))
    report = admin("issuer", "fetch")
    equal((report["provider"], report["issuers"], report["unusable"], report["stored"]),
          ("Association of Examples", 1, 0, True), "the first list")
    equal(admin("issuer", "fetch")["stored"], False, "whether the same list is stored again")
    Handler.body = publisher.list([(first, [LICENCE]), (second, [PERSON, LICENCE])], NOW - datetime.timedelta(hours=1))
    equal(admin("issuer", "fetch")["stored"], True, "whether a later list is stored")
    Handler.body = publisher.list([(first, [LICENCE])], NOW - datetime.timedelta(hours=2))
    equal(admin("issuer", "fetch")["stored"], False, "whether an earlier list is stored")
    found = admin("issuer", "list")
    equal([(one["source"], one["name"], one["types"]) for one in found],
          [("list", "IACA", LICENCE), ("list", "IACA", f"{LICENCE}, {PERSON}")], "the issuers of the list")

    (chosen.directory / "first.pem").write_text(first.pem())
    equal(admin("issuer", "add", chosen.directory / "first.pem", "--type", PERSON), {"added": "first"}, "an issuer")
    equal([(one["source"], one["types"]) for one in admin("issuer", "list")][0], ("first.pem", PERSON), "the file")
    equal(admin("issuer", "remove", "first")["removed"], "first", "the issuer that was removed")

    Handler.body = Publisher().list([(first, [LICENCE])], NOW)
    expect("trusted root" in admin("issuer", "fetch", status=1), "a list of another publisher is stored")
    valid = publisher.list([(first, [LICENCE])], NOW)
    Handler.body = valid[:-1] + bytes([valid[-1] ^ 1])
    expect("signature" in admin("issuer", "fetch", status=1), "a list with another signature is stored")
    equal(len(admin("issuer", "list")), 2, "the issuers after lists that are not valid")
    print("lists are fetched, kept and refused")


if __name__ == "__main__":
    main()
