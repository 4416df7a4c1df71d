"""A receiver of webhooks that believes nothing but what PyPI's `standardwebhooks` verified; the path says how it
answers. A second one has a certificate that nobody vouches for.
"""

import base64
import datetime
import json
import os
import ssl
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from Shared.stand_in import Handler, run, start

SECRETS = ["whsec_" + base64.b64encode(os.urandom(size)).decode() for size in (24, 64)]


def matches(**changes):
    """What an issuer's service says of a card that it knows."""
    names = ("document_number", "full_name", "date_of_birth", "expires_on")
    return json.dumps({"matches": dict.fromkeys(names, True) | changes}).encode()


class Receiver(Handler):
    def do_POST(self):
        body = self.body()
        verified = []
        for secret in SECRETS:
            try:
                verified.append(Webhook(secret).verify(body, dict(self.headers)))
            except WebhookVerificationError:
                pass
        if not verified:
            return self.answer(401)
        self.server.seen.append(
            {
                "path": self.path, "id": self.headers["webhook-id"], "event": verified[0], "keys": len(verified),
                "type": self.headers["Content-Type"],
            }
        )
        match self.path:
            case "/hang":
                self.hang()
            case "/drip":
                self.drip(200)
            case "/large":
                self.answer(200, b"x" * 1_000_000)
            case "/issuer/confirmed":
                self.answer(200, matches())
            case "/issuer/contradicted":
                self.answer(200, matches(date_of_birth=False, eye_colour=False))
            case "/issuer/partial":
                self.answer(200, json.dumps({"matches": {"document_number": True}}).encode())
            case "/issuer/nonsense":
                self.answer(200, matches(document_number="yes"))
            case "/redirect":
                self.answer(307, headers=[("Location", "/200")])
            case path:
                self.answer(int(path[1:4]))


def untrusted():
    """A context with a certificate of its own making."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pair.pem")
        with open(path, "wb") as file:
            file.write(certificate.public_bytes(serialization.Encoding.PEM))
            file.write(
                key.private_bytes(
                    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
                )
            )
        context.load_cert_chain(path)
    return context


if __name__ == "__main__":
    secure = start(Receiver)
    secure.socket = untrusted().wrap_socket(secure.socket, server_side=True)
    run(start(Receiver), secure, secrets=SECRETS)
