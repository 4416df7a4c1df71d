"""What the tests of the samples share: a sample that runs, and a user who is signed in on a device."""

import json
import signal
import subprocess
import time
import uuid
from pathlib import Path

import jwt
import requests
from cryptography.hazmat.primitives import serialization

from Shared import options
from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT, Device, algorithm, https, new_key

EXCHANGE = {
    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
    "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
}
ROUNDS = 1024  # of scrypt: every password here is invented


def parser(description):
    """The options of a sample's test."""
    made = options.parser(description)
    for name in ("countersign", "sample", "directory"):
        made.add_argument(f"--{name}", required=True)
    return made


def walk(steps, world):
    """Takes each step, and prints what it shows."""
    for step in steps:
        begun = time.monotonic()
        step(world)
        print(f"{time.monotonic() - begun:5.2f} s  {step.__doc__.splitlines()[0]}")


def register(chosen, slug):
    """A provider of its own with an EC key; its key and registration are in files of the directory."""
    place = Path(chosen.directory)
    key, public = place / f"{slug}.key", place / f"{slug}.pem"
    run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True, cwd=place).stdout
    run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(key))
    run("openssl", "pkey", "-in", str(key), "-pubout", "-out", str(public))
    printed = run(
        chosen.countersign, "provider", "add", "--name", slug, "--slug", slug, "--key", str(public), "--json", "--keys",
        str(place / "Keys"), "--policies", str(place / "Policies"), "--store", f"sqlite:{place}/store.db")
    registration = place / f"{slug}.json"
    registration.write_text(printed)
    return key, registration, json.loads(printed)


class Running:
    """A sample that runs on free ports, and ends with this object."""

    def __init__(self, chosen, name, **more):
        self.chosen, self.place = chosen, Path(chosen.directory)
        certificate, key = self.place / "sample-tls.pem", self.place / "sample-tls.key"
        if not certificate.exists():
            # A certificate of its own; nobody but this test trusts it.
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj",
                 "/CN=sample", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
                check=True, capture_output=True)
        self.authority, self.log = str(certificate), self.place / f"{name}.log"
        settings = {
            "service": chosen.public, "ca": chosen.ca, "tls-certificate": certificate, "tls-key": key,
            "store": self.place / f"{name}.db", **more}
        self.words = [chosen.sample]
        for option, value in settings.items():
            self.words += [f"--{option.replace('_', '-')}", str(value)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=log)
        line = self.process.stdout.readline()
        expect(line, f"it did not start: {self.log.read_text()[-2000:]}")
        ready = json.loads(line)
        self.plain, self.device = ready["plain"], ready["device"]
        self.connection = https(False)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=TIMEOUT)
        if error or status:
            print(self.log.read_text()[-3000:])
        if not error:
            equal(status, 0, "the exit code of the sample")

    def post(self, path, **fields):
        """A request without a session."""
        return self.connection.post(self.plain + path, json=fields, timeout=TIMEOUT)

    def get(self, path):
        """A page, or what it reads."""
        return self.connection.get(self.plain + path, timeout=TIMEOUT)


class SignedIn:
    """A user with a session, on a device."""

    def __init__(self, sample, device, session, audience):
        self.sample, self.device, self.session, self.audience = sample, device, session, audience
        self.connection = https(sample.authority, device.files)
        self.token = self.exchanged()

    def exchanged(self):
        """A new token for the sample."""
        form = {**EXCHANGE, "subject_token": self.session["session_token"], "audience": self.audience}
        return accepted(self.device.call("POST", "/token", data=form))["access_token"]

    def call(self, method, path, token=None, **arguments):
        """A request with the token on the device's connection."""
        headers = {"Authorization": f"Bearer {token or self.token}"}
        return self.connection.request(
            method, self.sample.device + path, headers=headers, timeout=TIMEOUT, **arguments)

    def post(self, path, **fields):
        return self.call("POST", path, json=fields)

    def get(self, path):
        return self.call("GET", path)

    def notifications(self, anchor="0", wait=0):
        """What the user's provider sent: a new anchor, and the notifications."""
        found = accepted(self.device.call(
            "GET", f"/sync?anchor={anchor}&wait={wait}", self.session["session_token"]))
        return found["anchor"], [one["notification"] for one in found["operations"] if one["notification"]]


def certified(chosen):
    """A device with a certificate."""
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    return device


def hostile_tokens(chosen, good):
    """Tokens that are wrong in one thing each, most of them signed by the service's own key."""
    claims = jwt.decode(good, options={"verify_signature": False})
    header = jwt.get_unverified_header(good)
    own = serialization.load_pem_private_key(Path(chosen.directory, "Keys", "access-token.key").read_bytes(), None)
    now = int(time.time())

    def signed(key=own, typ="at+jwt", **changes):
        return jwt.encode({**claims, **changes}, key, algorithm(key), headers={"kid": header["kid"], "typ": typ})

    equal(algorithm(own), header["alg"], "the key's algorithm")
    first, middle, last = good.split(".")
    return {
        "nothing": "", "no JWS": "x.y.z", "another key": signed(new_key("RSA")), "of another type": signed(typ="JWT"),
        "for another audience": signed(aud=str(uuid.uuid4())), "by another issuer": signed(iss="https://other.example"),
        "expired": signed(exp=now - 1), "bound to nothing": signed(cnf={}),
        "bound to another device": signed(cnf={"x5t#S256": "x" * 43}), "without a signature": f"{first}.{middle}.",
        "alg none": jwt.encode(claims, None, "none", headers={"kid": header["kid"], "typ": "at+jwt"}),
        "a changed claim": f"{first}.{middle[:-2]}AA.{last}",
    }, signed


def refuses_strangers(sample, chosen, person, other, path, method="GET"):
    """Nobody gets in with a hostile token, on another device's connection, or without a certificate."""
    hostile, _ = hostile_tokens(chosen, person.token)
    for name, token in hostile.items():
        answer = person.call(method, path, token or "-")
        equal(answer.status_code, 401, f"the status of a token {name}")
        expect("invalid_token" in answer.headers["WWW-Authenticate"], name)
    equal(other.call(method, path, person.token).status_code, 401, "the status on another device's connection")
    bare = person.connection.request(method, sample.device + path, timeout=TIMEOUT)
    equal(bare.status_code, 401, "the status without a token")
    try:
        with https(sample.authority) as nobody:
            nobody.get(sample.device + path, timeout=TIMEOUT)
        raise AssertionError("a connection without a certificate got an answer")
    except (requests.exceptions.SSLError, requests.exceptions.ConnectionError):
        pass
