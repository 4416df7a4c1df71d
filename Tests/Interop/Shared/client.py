"""A device, made from the wire contract alone: keys, certificate requests, mutual TLS, nonces and sessions.

Every call gives the `requests.Response`, whatever its status, so that a test can judge refusals as well as successes.
"""

import base64
import hashlib
import os
import tempfile
import uuid

import jwt
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID
from urllib3.util import Retry

TIMEOUT = 60  # seconds against hanging that any one answer may take


def base64url(data):
    """base64url without padding (RFC 4648, section 5)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def new_key(kind):
    """A private key: `RSA` (2048 bits), `weak RSA` (1024 bits) or `EC` (P-256)."""
    if kind == "EC":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=1024 if kind == "weak RSA" else 2048)


def private_pem(key):
    """The key as unencrypted PKCS#8 PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def public_der(key):
    """The public half as DER SubjectPublicKeyInfo."""
    return key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def algorithm(key):
    """The JWS algorithm that fits the key."""
    return "ES256" if isinstance(key, ec.EllipticCurvePrivateKey) else "RS256"


def https(authority, certificate=None):
    """A connection pool that trusts only `authority`, whatever the environment says about proxies and authorities."""
    session = requests.Session()
    session.trust_env = False
    session.verify = authority
    session.cert = certificate
    return session


def repeated(session):
    """Has a session repeat what is answered 503, which changed nothing: a busy machine stands still for a second."""
    again = Retry(total=3, connect=0, read=False, status_forcelist=[503], allowed_methods=None, raise_on_status=False)
    session.mount("https://", requests.adapters.HTTPAdapter(max_retries=again))
    return session


class Device:
    """An app on one device: it is certified once, then speaks over mutual TLS."""

    def __init__(self, public, client, authority, kind="RSA"):
        """`public` and `client` are the listeners' URLs, `authority` is a PEM file, `kind` one of `new_key`'s."""
        self.public, self.client, self.authority = public, client, authority
        self.key = new_key(kind)
        self.wished_id = str(uuid.uuid4())
        self.device_id = None
        self.certificate = None
        self.directory = tempfile.TemporaryDirectory(prefix="countersign-device-")
        self.connection = None

    # Certify

    def pkcs10(self):
        """A PEM PKCS#10 request (RFC 2986)."""
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self.wished_id)])
        request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(self.key, hashes.SHA256())
        return request.public_bytes(serialization.Encoding.PEM).decode()

    def layer_csr(self, signer=None, **changes):
        """A Layer CSR: a compact JWS over its own public key; `signer` is another key than that one, for refusals."""
        claims = {
            "uat": "interop/1.0 (python)",
            "prn": self.wished_id,
            "pka": "EC" if algorithm(self.key) == "ES256" else "RSA",
            "pky": base64.b64encode(public_der(self.key)).decode(),
            **changes,
        }
        signer = signer or self.key
        return jwt.encode(
            claims, signer, algorithm(signer), headers={"typ": "JWS", "cty": "layer-csr;v=1"})

    def certify(self, csr=None, **members):
        """`POST /certificates`; a success is kept, and the connections from now on show the certificate."""
        with https(self.authority) as session:
            answer = session.post(
                self.public + "/certificates", json={"csr": csr or self.layer_csr(), **members}, timeout=TIMEOUT)
        if answer.status_code == 201:
            self.adopt(answer.json())
        return answer

    def adopt(self, issued):
        """Takes a certificate into use, beside its key in files that only this account may read."""
        self.device_id = issued["device_id"]
        self.certificate = x509.load_pem_x509_certificate(issued["certificate"].encode())
        chain = issued["certificate"] + "".join(issued["chain"])
        self.files = (self.write("certificate.pem", chain.encode()), self.write("key.pem", private_pem(self.key)))
        self.reconnect()

    def write(self, name, data):
        """Writes a file of mode 0600 and gives its path."""
        path = os.path.join(self.directory.name, name)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        return path

    def thumbprint(self):
        """`x5t#S256` of the certificate (RFC 8705, section 3.1)."""
        return base64url(hashlib.sha256(self.certificate.public_bytes(serialization.Encoding.DER)).digest())

    # Connection

    def at(self, public, client):
        """The same device, with the same certificate, on connections of its own to these listeners."""
        other = Device(public, client, self.authority, "EC")
        other.key, other.certificate, other.device_id = self.key, self.certificate, self.device_id
        with open(self.files[0], "rb") as certificate, open(self.files[1], "rb") as key:
            other.files = (other.write("certificate.pem", certificate.read()), other.write("key.pem", key.read()))
        other.reconnect()
        return other

    def reconnect(self):
        """Leaves the present TLS connection, if any; the next request makes a new one."""
        self.disconnect()
        self.connection = https(self.authority, self.files)

    def disconnect(self):
        """Closes the TLS connection; no session is told."""
        if self.connection:
            self.connection.close()

    def close(self):
        """Closes the connection and removes key and certificate."""
        self.disconnect()
        self.directory.cleanup()

    def call(self, method, path, token=None, **arguments):
        """Any request over mutual TLS; `token` names a session."""
        headers = dict(arguments.pop("headers", {}))
        if token:
            headers["Authorization"] = f'Layer session-token="{token}"'
        return self.connection.request(method, self.client + path, headers=headers, timeout=TIMEOUT, **arguments)

    def with_identity(self, method, path, identity_token, app_id, realm, quote='"'):
        """The header form: a request that brings an identity token and so opens a session in passing."""
        pairs = {"app-id": app_id, "identity-token": identity_token, "realm": realm}
        value = ", ".join(f"{name}={quote}{text}{quote}" for name, text in pairs.items())
        return self.call(method, path, headers={"Authorization": "Layer " + value})

    def renew_certificate(self, csr=None):
        """`POST /certificates/renewal`."""
        answer = self.call("POST", "/certificates/renewal", json={"csr": csr} if csr else {})
        if answer.status_code == 201:
            self.adopt(answer.json())
        return answer

    def revoke_itself(self):
        """`DELETE /certificates/current`."""
        return self.call("DELETE", "/certificates/current")

    # Nonces and sessions

    def ask_nonce(self):
        """`POST /nonces`."""
        return self.call("POST", "/nonces")

    def nonce(self):
        """A nonce, or an error if the service gave none."""
        answer = self.ask_nonce()
        answer.raise_for_status()
        return answer.json()["nonce"]

    def create_session(self, identity_token, app_id=None, **members):
        """`POST /sessions`; `members` are sent along as they are."""
        body = {"identity_token": identity_token, **members}
        if app_id:
            body["app_id"] = app_id
        return self.call("POST", "/sessions", json=body)

    def resume_session(self, user_id, token):
        """`POST /sessions/resume`."""
        return self.call("POST", "/sessions/resume", json={"user_id": user_id, "session_token": token})

    def renew_session(self, token, identity_token):
        """`POST /sessions/renew`."""
        return self.call("POST", "/sessions/renew", token, json={"identity_token": identity_token})

    def sessions(self, token):
        """`GET /sessions`."""
        return self.call("GET", "/sessions", token)

    def current(self, token=None):
        """`GET /sessions/current`."""
        return self.call("GET", "/sessions/current", token)

    def end_session(self, token, session_id="current"):
        """`DELETE /sessions/current`, or of another session of the user."""
        return self.call("DELETE", f"/sessions/{session_id}", token)
