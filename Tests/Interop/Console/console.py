"""The administrators' console of a running service: who gets in over TLS, what a page and a form need, and how a
removed administrator gets out. Two nodes serve the store."""

import argparse
import http.client
import json
import os
import socket
import ssl
import subprocess
import urllib.parse

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT, Device, private_pem
from Shared.installation import Installation

TYPED = {"Sec-Fetch-Site": "none"}


class Administrator:
    """An administrator with a certificate, as a browser has it."""

    def __init__(self, made, name, role):
        file = made.directory / f"{name}.p12"
        words = ("admin", "add", name, "--role", role, "--out", file, "--json")
        self.made, self.name = made, name
        self.certificate = self.read(file, json.loads(made.admin(*words))["password"])

    def read(self, file, password):
        """The key and the certificate of a PKCS#12 file, in one PEM file."""
        key, certificate, _ = pkcs12.load_key_and_certificates(file.read_bytes(), password.encode())
        pem = self.made.write(
            file.name + ".pem", private_pem(key) + certificate.public_bytes(serialization.Encoding.PEM))
        os.chmod(pem, 0o600)
        return pem

    def renew(self):
        """Takes a new certificate; the path of the former one."""
        file = self.made.directory / f"{self.name}-2.p12"
        renewed = json.loads(self.made.admin("admin", "renew", self.name, "--out", file, "--json"))
        former, self.certificate = self.certificate, self.read(file, renewed["password"])
        return former


def context(made, certificate=None, newest=ssl.TLSVersion.TLSv1_3):
    """A client's side of TLS."""
    own = ssl.create_default_context(cafile=made.authority)
    own.maximum_version = newest
    if certificate:
        own.load_cert_chain(*((certificate,) if isinstance(certificate, os.PathLike) else certificate))
    return own


def place(node):
    """The host and the port of the console."""
    host, _, port = node.console.rpartition(":")
    return host, int(port)


def ask(node, certificate, path="/", method="GET", headers=None, body=None):
    """The status, the fields and the text of an answer."""
    host, port = place(node)
    connection = http.client.HTTPSConnection(
        host, port, timeout=TIMEOUT, context=context(node.installation, certificate))
    try:
        connection.request(method, path, body=body, headers=TYPED if headers is None else headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def shut_out(node, certificate, newest=ssl.TLSVersion.TLSv1_3):
    """Whether the handshake fails, or the connection ends before any answer. TLS 1.3 tells the client only then."""
    try:
        with socket.create_connection(place(node), timeout=TIMEOUT) as plain:
            with context(node.installation, certificate, newest).wrap_socket(
                    plain, server_hostname=place(node)[0]) as secure:
                secure.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: none\r\n\r\n")
                return secure.recv(1) == b""
    except (ssl.SSLError, ConnectionError):
        return True


def judge_strangers(made, node, lena):
    """Everybody without a certificate of the administrators' authority is out before the first page."""
    device = Device(node.public, node.client, made.authority, "EC")
    accepted(device.certify(), 201)
    expect(shut_out(node, None), "a client without a certificate got an answer")
    expect(shut_out(node, device.files), "a device got an answer")
    own = made.directory / "own.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=lena", "-days", "1", "-keyout",
         own.with_suffix(".key"), "-out", own], check=True, capture_output=True, timeout=60)
    expect(shut_out(node, (own, own.with_suffix(".key"))), "a certificate of nobody's got an answer")
    expect(shut_out(node, lena.certificate, ssl.TLSVersion.TLSv1_2), "TLS 1.2 got an answer")
    # An administrator's certificate opens no other listener.
    _, _, port = node.client.rpartition(":")
    client = type("Client", (), {"installation": made, "console": f"127.0.0.1:{port}"})()
    expect(shut_out(client, lena.certificate), "the client listener answered an administrator")
    device.close()


def judge_names(node):
    """A browser offers only certificates of the authority that the listener names."""
    shown = subprocess.run(
        ["openssl", "s_client", "-connect", node.console, "-tls1_3"], stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=60, check=False).stdout
    names = shown.partition("Acceptable client certificate CA names")[2].partition("Requested")[0]
    expect("Countersign admin CA" in names and len(names.strip().splitlines()) == 1, f"the names are {names!r}")


def judge_pages(node, lena):
    """A page, the style sheet, and what is refused with a page."""
    status, fields, text = ask(node, lena.certificate)
    equal(status, 200, "the start page")
    expect("<bdi>lena</bdi>, support." in text, "the page does not name its reader")
    expect("default-src 'none'" in fields["Content-Security-Policy"], "no policy of content")
    equal((fields["Cache-Control"], fields["Referrer-Policy"]), ("no-store", "same-origin"), "the fields")
    expect(fields["X-Request-ID"] in text, "the page does not name its request")
    status, fields, _ = ask(node, lena.certificate, "/console.css", headers={})
    equal((status, fields["Content-Type"]), (200, "text/css; charset=utf-8"), "the style sheet")
    for path, method, headers, wanted in (
            ("/nothing", "GET", TYPED, 404), ("/%zz", "GET", TYPED, 400), ("/", "DELETE", TYPED, 405), ("/", "POST", {}, 405), ("/", "GET", {}, 403),
            ("/", "GET", {"Sec-Fetch-Site": "cross-site"}, 403), ("/", "GET", {**TYPED, "Host": "evil.example"}, 403)):
        status, _, text = ask(node, lena.certificate, path, method, headers)
        equal(status, wanted, f"{method} {path} with {headers}")
        expect(text.startswith("<!doctype html>"), f"{method} {path} has no page")
    body = urllib.parse.urlencode({"note": "x" * 17000})
    status, _, text = ask(node, lena.certificate, "/", "POST", {}, body)
    equal(status, 413, "a form that is too large")
    expect(text.startswith("<!doctype html>"), "a form that is too large has no page")


def judge_end(made, nodes, lena):
    """The connections of an administrator end with the certificate or the administrator, on every node."""
    def held(node, certificate):
        plain = socket.create_connection(place(node), timeout=TIMEOUT)
        secure = context(made, certificate).wrap_socket(plain, server_hostname=place(node)[0])
        secure.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: none\r\n\r\n")
        expect(secure.recv(12) == b"HTTP/1.1 200", "the connection is not answered")
        return secure

    def is_refused(node, certificate):
        """Whether the page says so, and names nobody. Where the machine is busy the connection may close before it."""
        try:
            status, _, text = ask(node, certificate)
        except (ssl.SSLError, ConnectionError, http.client.HTTPException):
            return False
        expect(status != 200 and "lena" not in text, f"{status}: {text}")
        return status == 403

    def is_closed(connection):
        connection.settimeout(TIMEOUT)
        try:
            while connection.recv(65536):
                pass
        except (ssl.SSLError, ConnectionError):
            pass
        return True

    before = [held(node, lena.certificate) for node in nodes]
    former = lena.renew()
    for connection in before:
        expect(is_closed(connection), "a connection outlived its certificate")
    now = [held(node, lena.certificate) for node in nodes]
    for node in nodes:
        soon(lambda node=node: is_refused(node, former), "a former certificate gets a page")
    made.admin("admin", "remove", "lena", "--reason", "left_company")
    for connection in now:
        expect(is_closed(connection), "a connection outlived its administrator")
    for node in nodes:
        soon(lambda node=node: is_refused(node, lena.certificate), "a removed administrator gets a page")


def main():
    """The whole walk."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("countersign", "policies", "directory"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    made = Installation(chosen.countersign, chosen.policies, chosen.directory, f"sqlite:{chosen.directory}/store.db")
    console = ("--console", "127.0.0.1:0")
    refused = subprocess.run(
        [chosen.countersign, "serve", *made.places(made.store), *console], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, check=False)
    expect(refused.returncode == 1 and "countersign admin add" in refused.stderr, refused.stderr)
    lena = Administrator(made, "lena", "support")
    nodes = [made.node(name, arguments=console) for name in ("a", "b")]
    judge_strangers(made, nodes[0], lena)
    judge_names(nodes[0])
    judge_pages(nodes[0], lena)
    judge_end(made, nodes, lena)
    made.stop()
    print("console: only administrators get in, and they get out")


if __name__ == "__main__":
    main()
