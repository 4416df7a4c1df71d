"""Judges the sample provider on its own: a small stand-in for the service answers its calls, PyJWT judges its tokens.

    python3 sample.py --binary .build/debug/sample-provider

Prints one line a step and closes with `N passed, N failed`.
"""

import argparse
import datetime
import http.server
import ipaddress
import json
import os
import pathlib
import signal
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import urllib.parse

import jwt
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from Shared.checks import equal, expect
from Shared.client import TIMEOUT, algorithm, new_key, private_pem
from Sessions.flow import run

REALM, PROVIDER_ID, KEY_ID, APP_ID = "realm.example", "provider-1", "key-1", "app-1"
STEPS = []


def step(function):
    """Adds a function of the sample to the list."""
    STEPS.append(function)
    return function


class StandIn(http.server.BaseHTTPRequestHandler):
    """Answers as the service would, and remembers what it was asked."""

    asked, tokens, key = [], [], None

    def answer(self, status, body=None):
        data = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def respond(self):
        form = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        StandIn.asked.append((self.command, self.path, form))
        if self.path == "/.well-known/countersign":
            return self.answer(200, {"realm": REALM})
        token = self.headers["Authorization"].removeprefix("Bearer ")
        jwt.decode(token, StandIn.key.public_key(), [algorithm(StandIn.key)], audience=REALM, issuer=PROVIDER_ID)
        equal(jwt.get_unverified_header(token)["cty"], "layer-provider;v=1", "cty")
        StandIn.tokens.append(token)
        if self.path == "/provider":
            return self.answer(200, {"slug": "sample", "provider_id": PROVIDER_ID})
        if self.command == "DELETE":
            return self.answer(204)
        if self.path == "/introspect":
            owner = "alice" if urllib.parse.parse_qs(form) == {"token": ["al+ice&"]} else "bob"
            return self.answer(200, {"active": True, "sub": owner})
        if urllib.parse.unquote(self.path) == "/provider/users/alice":
            return self.answer(200, {"assurance": "phone"})
        return self.answer(404, {"code": "not_found"})

    do_GET = do_POST = do_DELETE = respond

    def log_message(self, *_):
        pass


def serve(directory):
    """Starts the stand-in on a free port with a certificate for loopback, which is also the file to trust."""
    key, today = new_key("EC"), datetime.datetime.now(datetime.timezone.utc)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "stand-in")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, today, today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(True, None), True).sign(key, hashes.SHA256()))
    (directory / "ca.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (directory / "ca.key").write_bytes(private_pem(key))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "ca.pem", directory / "ca.key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Sample:
    """A running sample provider."""

    def __init__(self, binary, directory, service, key):
        self.directory, self.key, self.binary = directory, key, binary
        (directory / "provider.key").write_bytes(private_pem(key))
        (directory / "provider.json").write_text(json.dumps(
            {"provider_id": PROVIDER_ID, "slug": "sample", "key_id": KEY_ID, "app_id": APP_ID}))
        self.command = [
            binary, "--port", "0", "--service", service, "--ca", str(directory / "ca.pem"),
            "--key", str(directory / "provider.key"), "--registration", str(directory / "provider.json"),
            "--users", str(directory / "users.json")]
        self.start()

    def start(self):
        with open(self.directory / "log.txt", "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=log)
        ready = json.loads(self.process.stdout.readline())
        equal(ready["ready"], True, "ready")
        self.url = ready["url"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=TIMEOUT)

    def post(self, path, form=False, **fields):
        return requests.post(
            self.url + path, timeout=TIMEOUT, **({"data": fields} if form else {"json": fields}))


ALICE = {"Username": "alice", "Password": "correct horse"}


@step
def register(sample):
    """A name is registered once, from JSON or a form, and a missing field is named."""
    equal(sample.post("/register", **ALICE, DeviceID="phone").status_code, 200, "the status")
    equal(sample.post("/register", **ALICE, DeviceID="phone").status_code, 403, "the status of a taken name")
    form = sample.post("/register", form=True, Username="bob", Password="battery staple", DeviceID="tablet")
    equal(form.status_code, 200, "the status of a form")
    for missing in ("Username", "Password", "DeviceID"):
        fields = {**ALICE, "DeviceID": "phone", missing: ""}
        answer = sample.post("/register", **fields)
        equal(answer.status_code, 400, f"the status without {missing}")
        expect(missing in answer.text, f"{missing} is not named in {answer.text}")


@step
def log_in(sample):
    """The right password logs in; a wrong one and an unknown user are refused alike."""
    equal(sample.post("/login", **ALICE, DeviceID="phone").status_code, 200, "the status")
    wrong = sample.post("/login", Username="alice", Password="wrong", DeviceID="phone")
    unknown = sample.post("/login", Username="nobody", Password="wrong", DeviceID="phone")
    equal((wrong.status_code, wrong.text), (403, unknown.text), "the refusal")
    equal(unknown.status_code, 403, "the status of an unknown user")


@step
def malformed(sample):
    """A name with a NUL, a path for a name, long bodies and broken JSON are refused."""
    for name in ("alice\0x", "..", "x" * 257):
        answer = sample.post("/register", Username=name, Password="correct horse", DeviceID="phone")
        equal(answer.status_code, 400, f"the status of {name[:9]!r}")
    long = sample.post("/login", Username="alice", Password="x" * 20_000, DeviceID="phone")
    equal(long.status_code, 413, "the status of 20 kB")
    equal(requests.post(sample.url + "/login", data="{", timeout=TIMEOUT).status_code, 400, "the status of broken JSON")


@step
def identity_token(sample):
    """The identity token is as the contract has it, by PyJWT's judgement."""
    answer = sample.post("/identity-token", username="alice", password="correct horse", nonce="n-1")
    equal(answer.status_code, 200, "the status")
    equal(answer.headers["Cache-Control"], "no-store", "Cache-Control")
    token = answer.json()["identity_token"]
    header = jwt.get_unverified_header(token)
    equal(header, {"typ": "JWT", "cty": "layer-eit;v=1", "kid": KEY_ID, "alg": algorithm(sample.key)}, "the header")
    claims = jwt.decode(token, sample.key.public_key(), [header["alg"]], audience=REALM, issuer=PROVIDER_ID)
    equal(claims["exp"] - claims["iat"], 300, "the lifetime")
    equal((claims["prn"], claims["nce"]), ("alice", "n-1"), "user and nonce")
    equal(sample.post("/identity-token", **{**ALICE, "Password": "wrong"}, nonce="n").status_code, 403, "a wrong one")
    equal(sample.post("/identity-token", **ALICE).status_code, 400, "the status without a nonce")


@step
def at_countersign(sample):
    """Verification, introspection and logout reach the service, for the user's own account only."""
    alice = ("alice", "correct horse")
    shown = requests.get(sample.url + "/users/alice/verification", auth=alice, timeout=TIMEOUT)
    equal(shown.json(), {"assurance": "phone"}, "the verification")
    other = requests.get(sample.url + "/users/bob/verification", auth=alice, timeout=TIMEOUT)
    equal(other.status_code, 403, "the status of another user")
    bob = requests.get(sample.url + "/users/bob/verification", auth=("bob", "battery staple"), timeout=TIMEOUT)
    equal(bob.status_code, 404, "the status of a user that the service has not met")
    own = sample.post("/introspect", form=True, **ALICE, token="al+ice&")
    equal(own.json(), {"active": True, "sub": "alice"}, "the own token")
    equal(sample.post("/introspect", **ALICE, token="other").json(), {"active": False}, "another user's token")
    equal(sample.post("/logout", **ALICE).status_code, 204, "the status of the logout")
    expect(("DELETE", "/provider/users/alice/sessions", "") in StandIn.asked, "the sessions were not ended")
    equal(len(set(StandIn.tokens)), 1, "the number of provider tokens")


@step
def attempts(sample):
    """Ten wrong passwords in a row are the most that a user name may try."""
    mallory = {"Username": "mallory", "Password": "wrong", "DeviceID": "phone"}
    statuses = [sample.post("/login", **mallory).status_code for _ in range(11)]
    equal(statuses, [403] * 10 + [429], "the statuses")


@step
def options(sample):
    """--help lists every option with its default, and an unknown option ends with status 2 and names --help."""
    shown = subprocess.run([sample.binary, "--help"], capture_output=True, text=True, timeout=TIMEOUT)
    equal((shown.returncode, shown.stderr), (0, ""), "the status and errors of --help")
    for name in ("--port", "--service", "--ca", "--key", "--registration", "--users", "(default 8450)"):
        expect(name in shown.stdout, f"{name} is not in {shown.stdout}")
    wrong = subprocess.run([sample.binary, "--colour", "red"], capture_output=True, text=True, timeout=TIMEOUT)
    equal(wrong.returncode, 2, "the status of an unknown option")
    expect("--help" in wrong.stderr, f"--help is not named in {wrong.stderr}")


@step
def restart(sample):
    """SIGTERM ends it with status 0, and accounts outlive it in a file of mode 0600 without passwords."""
    equal(sample.stop(), 0, "the exit status")
    users = sample.directory / "users.json"
    equal(stat.S_IMODE(os.stat(users).st_mode), 0o600, "the mode")
    expect("correct horse" not in users.read_text(), "the password is in the file")
    sample.start()
    equal(sample.post("/login", **ALICE, DeviceID="phone").status_code, 200, "the status after a restart")


def judge(binary, kind):
    """Runs every step against a sample provider whose key is of this kind."""
    print(f"with a key of kind {kind}")
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        StandIn.asked, StandIn.tokens, StandIn.key = [], [], new_key(kind)
        server = serve(directory)
        sample = Sample(binary, directory, f"https://127.0.0.1:{server.server_address[1]}", StandIn.key)
        try:
            return [run(step, sample) for step in STEPS]
        finally:
            sample.stop()
            server.shutdown()
            print((directory / "log.txt").read_text())


def main():
    """Judges the binary with both kinds of key."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, metavar="FILE")
    binary = parser.parse_args().binary
    results = [passed for kind in ("RSA", "EC") for passed in judge(binary, kind)]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
