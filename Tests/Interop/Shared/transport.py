"""One TLS connection at a time, under the test's control, and the steps about connections."""

import http.client
import json
import socket
import ssl
import time
import urllib.parse
import warnings

import httpx
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from Shared.checks import Failure, accepted, challenged, equal, expect, step
from Shared.client import TIMEOUT, https, new_key, private_pem


class Answer:
    """The few members of `requests.Response` that the checks read."""

    def __init__(self, response, url):
        self.url = url
        self.status_code, self.headers = response.status, response.headers
        self.text = response.read().decode()

    def json(self):
        return json.loads(self.text)


class SingleConnection:
    """One HTTP/1.1 connection over mutual TLS that is never replaced by another behind the test's back."""

    def __init__(self, world, device):
        self.context = context(world, device)
        address = urllib.parse.urlsplit(world.client)
        self.connection = http.client.HTTPSConnection(
            address.hostname, address.port, timeout=TIMEOUT, context=self.context)

    def __enter__(self):
        self.connection.connect()
        self.connection.auto_open = 0
        return self

    def __exit__(self, *_):
        self.connection.close()

    def request(self, method, path, token=None, body=None):
        """One request; the next one needs the connection to be still there."""
        headers = {"Authorization": f'Layer session-token="{token}"'} if token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        self.connection.request(method, path, body=body, headers=headers)
        return Answer(self.connection.getresponse(), path)

    def is_closed(self):
        """Whether the service has closed it, which a further request shows."""
        try:
            self.request("POST", "/nonces")
        except (OSError, http.client.HTTPException):
            return True
        return False


def context(world, device=None):
    """A client's TLS context that trusts the authority and shows the device's certificate."""
    tls = ssl.create_default_context(cafile=world.authority)
    if device:
        tls.load_cert_chain(*device.files)
    return tls


@step
def certificate_required(world):
    """The client listener answers nobody without a certificate."""
    with https(world.authority) as session:
        try:
            answer = session.post(world.client + "/nonces", timeout=TIMEOUT)
        except requests.exceptions.ConnectionError:
            return
    raise Failure(f"answered {answer.status_code} without a certificate")


@step
def foreign_authority(world):
    """A self-signed certificate that claims a certified device's name opens nothing."""
    device, key = world.device(), new_key("EC")
    certificate = (
        x509.CertificateBuilder(
            issuer_name=device.certificate.issuer, subject_name=device.certificate.subject,
            public_key=key.public_key(), serial_number=device.certificate.serial_number,
            not_valid_before=device.certificate.not_valid_before_utc,
            not_valid_after=device.certificate.not_valid_after_utc)
        .sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    files = (device.write("forged.pem", certificate), device.write("forged-key.pem", private_pem(key)))
    with https(world.authority, files) as session:
        try:
            answer = session.post(world.client + "/nonces", timeout=TIMEOUT)
        except requests.exceptions.ConnectionError:
            return
    equal(answer.status_code, 403, "the answer to a forged certificate")


@step
def tls_versions(world):
    """TLS 1.2 and 1.3 are spoken with a client certificate, TLS 1.1 is not."""
    device, address = world.device(), urllib.parse.urlsplit(world.client)
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        tls = context(world, device)
        tls.minimum_version = tls.maximum_version = version
        with httpx.Client(verify=tls, trust_env=False, timeout=TIMEOUT) as client:
            equal(client.post(world.client + "/nonces").status_code, 201, version.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old = context(world, device)
        old.set_ciphers("DEFAULT:@SECLEVEL=0")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection((address.hostname, address.port), timeout=TIMEOUT) as plain:
        try:
            old.wrap_socket(plain, server_hostname=address.hostname).close()
        except OSError:
            return
    raise Failure("TLS 1.1 was accepted")


@step
def http2(world):
    """Both TLS listeners speak HTTP/2, and a session works over it."""
    device = world.device()
    session = world.log_in(device, world.user())
    with httpx.Client(http2=True, verify=context(world), trust_env=False, timeout=TIMEOUT) as client:
        equal(client.get(world.public + "/.well-known/countersign").http_version, "HTTP/2", "the public listener")
    with httpx.Client(http2=True, verify=context(world, device), trust_env=False, timeout=TIMEOUT) as client:
        for _ in range(3):
            answer = client.get(
                world.client + "/sessions/current",
                headers={"Authorization": f'Layer session-token="{session["session_token"]}"'})
            equal(answer.http_version, "HTTP/2", "the client listener")
            accepted(answer)
        challenged(world, client.get(world.client + "/sessions/current"), "session_required")


@step
def keep_alive(world):
    """One HTTP/1.1 connection serves many requests, refusals among them, and outlives five idle seconds."""
    with SingleConnection(world, world.device()) as connection:
        for _ in range(20):
            accepted(connection.request("POST", "/nonces"), 201)
            challenged(world, connection.request("GET", "/sessions"), "session_required")
        time.sleep(5)
        accepted(connection.request("POST", "/nonces"), 201)


@step
def several_sessions_on_one_connection(world):
    """Two users' sessions live on one connection: each request names its own, and attachment alone authorizes none."""
    with SingleConnection(world, world.device()) as connection:
        opened = {}
        for user in (world.user("ann"), world.user("bob")):
            nonce = accepted(connection.request("POST", "/nonces"), 201)["nonce"]
            body = {"identity_token": world.provider.identity_token(user, nonce), "app_id": world.provider.app_id}
            opened[user] = accepted(connection.request("POST", "/sessions", body=body), 201)
        shown = []
        for session in opened.values():
            current = accepted(connection.request("GET", "/sessions/current", session["session_token"]))
            equal(current["user_id"], session["user_id"], "the user")
            shown.append(current["connection_id"])
        equal(shown[0], shown[1], "the connection id")
        expect(len({session["user_id"] for session in opened.values()}) == 2, "both are one user")
        challenged(world, connection.request("GET", "/sessions/current"), "session_required")
