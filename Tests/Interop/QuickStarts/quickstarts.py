"""Walks the quick starts: each is a backend in another language, and must let the same requests in and refuse the same.

Hostile tokens are signed with the service's own keys where that is what makes them hostile: nothing but the one defect.
"""

import contextlib
import json
import re
import tempfile
import time
import uuid
from pathlib import Path

import jwt
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from Shared import options
from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT, Device, algorithm, https, new_key
from QuickStarts.quickstart_backend import Backend, assembled, claims_of, proof, starting, thumbprint
from QuickStarts.quickstart_mounted import PATHS, mounted
from QuickStarts.quickstart_siege import Besieged, flood
from QuickStarts.quickstart_hostile import hostile_proofs, hostile_tokens, refused

EXCHANGE = {
    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
    "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
}
PASSWORDS = {"ada": "correct horse", "ben": "battery staple"}
EVENT = "https://schemas.openid.net/secevent/"


class World:
    """The service, its keys, and devices that were certified once for all languages."""

    def __init__(self, chosen):
        self.chosen, self.provider = chosen, options.provider(chosen)
        self.devices = [Device(chosen.public, chosen.client, chosen.ca, "EC") for _ in range(2)]
        for device in self.devices:
            accepted(device.certify(), 201)
        with https(chosen.ca) as public:
            found = public.get(chosen.public + "/.well-known/jwks.json", timeout=TIMEOUT).json()["keys"]
        self.kids = {key["alg"]: key["kid"] for key in found}

    def add_key(self, folder):
        """Another key of the provider, of P-256: a quick start reads its kind from the file."""
        key = new_key("EC")
        registration = json.loads(Path(self.chosen.provider).read_text())
        registration["key_id"] = accepted(self.provider.add_key(key), 201)["key_id"]
        Path(folder, "provider.json").write_text(json.dumps(registration))
        Path(folder, "provider.key").write_bytes(key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        self.other_key = {"PROVIDER": f"{folder}/provider.json", "KEY": f"{folder}/provider.key"}

    def own_key(self, name):
        """A private key of the service."""
        return serialization.load_pem_private_key(Path(self.chosen.keys, name + ".key").read_bytes(), None)

    def public_pem(self, name):
        """The public half of a key of the service."""
        return self.own_key(name).public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()

    def sign(self, claims, kind="at+jwt", key="access-token", **header):
        """A token as the service signs it, with its own key."""
        signer = self.own_key(key)
        name = algorithm(signer)
        return jwt.encode(claims, signer, name, headers={"typ": kind, "kid": self.kids[name], **header})

    def fetched(self):
        """How often anybody has taken the service's key set."""
        text = requests.get(self.chosen.ops + "/metrics", timeout=TIMEOUT).text
        return int(re.search(r'_total\{listener="public",method="GET",route="/\.well-known/jwks\.json",.*\} (\d+)', text)[1])


class SignedIn:
    """A user on a device: the session, and its token for the backend."""

    def __init__(self, world, backend, user="ada", device=0):
        self.world, self.backend, self.device = world, backend, world.devices[device]
        asked = {"user": user, "password": PASSWORDS[user], "nonce": self.device.nonce()}
        identity = accepted(backend.post("/login", asked))["identity_token"]
        self.session = accepted(self.device.create_session(identity), 201)
        self.token = self.exchanged()

    def exchanged(self):
        """The session's token, bound to the device's key as RFC 9449 has it."""
        form = {**EXCHANGE, "subject_token": self.session["session_token"], "audience": self.world.provider.provider_id}
        shown = {"DPoP": proof(self.device.key, "POST", self.device.client + "/token")}
        made = accepted(self.device.call("POST", "/token", data=form, headers=shown))
        equal(made["token_type"], "DPoP", "the token's type")
        return made["access_token"]

    def changed(self, **claims):
        """The same token with other claims, signed by the service; `None` removes one."""
        whole = {**claims_of(self.token), **claims}
        return self.world.sign({name: value for name, value in whole.items() if value is not None})

    def me(self, token=None, method="GET", path="/me", **changes):
        """A call as the session's device; `changes` are another proof's."""
        token = token or self.token
        key = changes.pop("key", self.device.key)
        shown = proof(key, method, self.backend.url + path, token, **changes)
        return self.backend.call(method, path, token, shown)

    def soon_refused(self):
        """The token is refused once the event has arrived."""
        soon(lambda: self.me().status_code != 200, "the token is taken after the end of the session")
        refused(self.me(), "invalid_token", "after the end of the session")


def good(world, backend):
    """A sign-in, and requests with good proofs by keys of all kinds."""
    wrong = {"user": "ada", "password": "wrong", "nonce": "A" * 43}
    equal(backend.post("/login", wrong).status_code, 403, "the status of a wrong password")
    equal(backend.post("/login", {**wrong, "user": "eve"}).status_code, 403, "the status of an unknown user")
    equal(backend.post("/login", ["ada"]).status_code, 400, "the status of a body that is no object")
    equal(backend.call("GET", "/elsewhere").status_code, 404, "the status of an unknown path")
    ada = SignedIn(world, backend)
    for _ in range(2):
        claims = accepted(ada.me())
        equal((claims["external_id"], claims["sid"]), ("ada", ada.session["session_id"]), "user and session")
    equal(accepted(ada.me(path="/me?a=b", htu=backend.url + "/me"))["sub"], ada.session["user_id"], "the user")
    for key in (new_key("RSA"), ec.generate_private_key(ec.SECP384R1())):
        bound = ada.changed(cnf={"jkt": thumbprint(key)})
        equal(accepted(ada.me(bound, key=key))["external_id"], "ada", f"the user with {algorithm(key)}")
    other = world.sign(claims_of(ada.token), key="service")
    equal(accepted(ada.me(other))["sub"], ada.session["user_id"], "the user of a token that is signed with ES256")
    return ada


def questions(world, ada):
    """The calls to the service."""
    found = accepted(ada.me(path="/me/user"))
    equal((found["user_id"], found["banned"]), (ada.session["user_id"], False), "the user")
    past = int(time.time()) - 600
    bad = world.provider.identity_token("ada", ada.device.nonce(), iat=past - 300, exp=past, aud="elsewhere")
    found = accepted(ada.backend.post("/doctor", {"identity_token": bad}))
    expect(not found["valid"] and all(word in str(found["defects"]) for word in ("expired", "wrong_audience")), found)
    asked = {"user": "ada", "password": PASSWORDS["ada"], "nonce": ada.device.nonce()}
    made = accepted(ada.backend.post("/login", asked))
    found = accepted(ada.backend.post("/doctor", made))
    equal((found["valid"], found["defects"]), (True, []), "the judgement of a good token")


def events(world, backend, ada):
    """What a security event ends is refused from then on, and nothing else is."""
    ben = SignedIn(world, backend, "ben", 1)
    again = SignedIn(world, backend)
    accepted(again.me())
    equal(ada.device.end_session(ada.session["session_token"]).status_code, 204, "the status of a logout")
    ada.soon_refused()
    accepted(again.me())
    user = {"format": "iss_sub", "iss": world.provider.provider_id, "sub": "ben"}
    claims = {
        "iss": world.provider.realm, "aud": world.provider.provider_id, "iat": int(time.time()),
        "toe": int(time.time()), "jti": str(uuid.uuid4()), "sub_id": user,
        "events": {EVENT + "risc/event-type/account-disabled": {}}}
    header = {"typ": "secevent+jwt", "kid": world.kids["ES256"]}
    for what, body in {
        "another's signature": jwt.encode(claims, new_key("EC"), "ES256", headers=header),
        "no signature": assembled({"alg": "none", **header}, claims),
        "another audience": world.sign({**claims, "aud": "another"}, "secevent+jwt", "service"),
        "another issuer": world.sign({**claims, "iss": "another"}, "secevent+jwt", "service"),
        "another type": world.sign(claims, "JWT", "service"), "a session's token": ben.token, "nothing": "",
    }.items():
        equal(backend.event(body).status_code, 400, f"the status of an event with {what}")
    level = {**claims, "events": {EVENT + "caep/event-type/assurance-level-change": {}}}
    equal(backend.event(world.sign(level, "secevent+jwt", "service")).status_code, 202, "the status of another event")
    for what, subject in {
        "of another form": {"format": "email", "email": "ben@example.com"}, "without an id": {"session": {}}, "": {},
        "whose id is no text": {**user, "sub": 7},
    }.items():
        body = world.sign({**claims, "sub_id": subject}, "secevent+jwt", "service")
        equal(backend.event(body).status_code, 400, f"the status of an end with a subject {what}")
    accepted(ben.me())
    equal(backend.event(world.sign(claims, "secevent+jwt", "service")).status_code, 202, "the status of an event")
    refused(ben.me(), "invalid_token", "a user who was disabled")
    late = world.sign({**claims, "toe": claims["toe"] - 300}, "secevent+jwt", "service")
    equal(backend.event(late).status_code, 202, "the status of an event that comes late")
    refused(ben.me(), "invalid_token", "a user who was disabled, after an earlier event")
    accepted(again.me())
    while time.time() < claims["toe"] + 1:
        time.sleep(0.05)
    accepted(SignedIn(world, backend, "ben", 1).me())
    equal(again.me(method="DELETE", path="/me/sessions").status_code, 204, "the status of the end")
    equal(accepted(world.provider.introspect(again.session["session_token"])), {"active": False}, "the introspection")
    again.soon_refused()


def by_certificate(world, backend):
    """The backend sees the device by its own mutual TLS (RFC 8705)."""
    device, other = world.devices
    asked = {"user": "ada", "password": PASSWORDS["ada"], "nonce": device.nonce()}
    made = accepted(backend.post("/login", asked, device.files))
    session = accepted(device.create_session(made["identity_token"]), 201)
    form = {**EXCHANGE, "subject_token": session["session_token"], "audience": world.provider.provider_id}
    token = accepted(device.call("POST", "/token", data=form))["access_token"]
    header = {"Authorization": f"Bearer {token}"}
    equal(accepted(backend.tls("GET", "/me", device.files, headers=header))["external_id"], "ada", "the user")
    equal(backend.tls("GET", "/me", other.files, headers=header).status_code, 401, "the status of another device")
    bound = {**claims_of(token), "cnf": {"jkt": thumbprint(device.key)}}
    header = {"Authorization": f"Bearer {world.sign(bound)}"}
    equal(backend.tls("GET", "/me", device.files, headers=header).status_code, 401, "the status of another binding")
    try:
        backend.tls("GET", "/me", None, headers=header)
        expect(False, "a connection without a certificate is served")
    except requests.ConnectionError:
        pass


def walk(world, language, folder):
    """One language, from its start to its end."""
    started, before = time.monotonic(), world.fetched()
    with Backend(world.chosen, language, folder) as backend:
        ada = good(world, backend)
        hostile_tokens(world, ada)
        hostile_proofs(ada)
        flood(ada, language)
        questions(world, ada)
        events(world, backend, ada)
        equal(world.fetched() - before, 1, "how often the keys were fetched")
    with Backend(world.chosen, language, folder, key=world.other_key) as backend:
        ada = SignedIn(world, backend)
        questions(world, ada)
        if language in PATHS:
            mounted(world, language, folder, ada)
    if language in ("python", "go"):
        with Backend(world.chosen, language, folder, tls=True) as backend:
            by_certificate(world, backend)
    print(f"{language}: {time.monotonic() - started:.1f} s", flush=True)


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--keys", required=True, help="the service's own, to sign hostile tokens with")
    parser.add_argument("--only", metavar="LANGUAGE", action="append")
    parser.add_argument("--siege", action="store_true", help="for a minute, while the service is away and strangers ask")
    chosen = parser.parse_args()
    world = World(chosen)
    languages = chosen.only or starting.LANGUAGES
    with contextlib.ExitStack() as stack:
        def folder():
            return stack.enter_context(tempfile.TemporaryDirectory(prefix="countersign-quickstart-"))

        world.add_key(folder())
        besieged = [stack.enter_context(Besieged(world, language, folder())) for language in languages if chosen.siege]
        for one in besieged:
            one.begins()
        for one in besieged:
            one.learns()
        for language in languages:  # takes most of the minute after which keys are asked for again
            walk(world, language, folder())
        for one in besieged:
            one.withstands()
            if one.language == "php":
                one.keeps_its_file()


if __name__ == "__main__":
    main()
