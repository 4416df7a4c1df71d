"""What a fuzz of requests needs to get past the first look: a device, users with numbers and cards, a session, a provider,
and a good value for each parameter and member by its name."""

import base64
import hashlib
import json
import time
import uuid
from pathlib import Path

import jwt

from Shared import options
from Shared import specimen
from Cards.cards import new_person, submit
from Shared.checks import accepted
from Shared.client import Device, algorithm, base64url, new_key, public_der
from Shared.phones import begin, check, new_number, wait_for_texts

MRZ = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"

TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token"
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
GRANTS = ["client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer",
          "urn:ietf:params:oauth:grant-type:token-exchange"]


class World:
    """Good values; what a request has used up is made anew."""

    def __init__(self, chosen, random):
        self.chosen, self.random = chosen, random
        self.texts = Path(chosen.provider).parent / "texts.jsonl"
        self.provider = options.provider(chosen)
        self.session = self.device = None
        self.bob = self.certify()
        self.partner = self.sign_in(self.bob, "bob")
        self.prove(self.bob, self.partner["session_token"])
        self.renew()

    def certify(self):
        device = Device(self.chosen.public, self.chosen.client, self.chosen.ca, "EC")
        accepted(device.certify(), 201)
        return device

    def new_user(self):
        return f"alice-{uuid.uuid4()}"

    def sign_in(self, device, user):
        return accepted(device.create_session(self.provider.identity_token(user, device.nonce())), 201)

    def prove(self, device, token):
        """A number and a card."""
        number = new_number()
        started = accepted(begin(device, token, number), 202)
        [code] = wait_for_texts(self.texts, number)
        accepted(check(device, token, started["id"], code))
        accepted(submit(device, token, aamva=specimen.aamva(**new_person())), 201)

    def renew(self):
        """A device with a verified user's session, after the one of before was ended, erased or revoked."""
        self.device = self.certify()
        self.user = self.new_user()
        self.session = self.sign_in(self.device, self.user)
        token = self.session["session_token"]
        self.prove(self.device, token)
        self.verification = accepted(begin(self.device, token, new_number()), 202)["id"]
        self.card = accepted(submit(self.device, token, aamva=specimen.aamva(**new_person())), 201)["id"]
        self.authorization = str(uuid.uuid4())
        accepted(self.bob.call("POST", "/authorizations", self.partner["session_token"],
                               json={"id": self.authorization, "to": self.session["user_id"]}), 201)

    def layer(self):
        return f'Layer session-token="{self.session["session_token"]}"'

    def bearer(self, method, path, body):
        """A token that reads, or one for this very call."""
        extra = {"htm": method, "htu": self.chosen.public + path.split("?")[0]}
        if method == "GET" or path in ("/introspect", "/revoke", "/provider/token-check"):
            return "Bearer " + self.provider.provider_token()
        return "Bearer " + self.provider.provider_token(
            lifetime=60, jti=str(uuid.uuid4()), body_sha256=base64url(hashlib.sha256(body).digest()), **extra)

    def signed(self, claim, value):
        """An identity token whose signature holds, with one claim as told."""
        now = int(time.time())
        claims = {"iss": self.provider.provider_id, "prn": self.user, "nce": self.device.nonce(), "iat": now, "exp": now + 300}
        return self.sign("layer-eit;v=1", claims | {claim: value})

    def sign(self, content_type, claims):
        """A token by the provider's key, whatever it claims: PyJWT would look at some of it."""
        headers = {"typ": "JWS", "cty": content_type} if content_type else {"typ": "secevent+jwt"}
        key = self.provider.key
        return jwt.PyJWS().encode(
            json.dumps(claims).encode(), key, algorithm(key), headers={**headers, "kid": self.provider.key_id})

    def signed_request(self, claim, value):
        """A Layer CSR whose signature holds, with one claim as told."""
        device = self.unused()
        claims = {"uat": "fuzz", "prn": device.wished_id, "pka": "EC", "pky": base64.b64encode(public_der(device.key)).decode()}
        return jwt.PyJWS().encode(json.dumps(claims | {claim: value}).encode(), device.key, "ES256",
                                  headers={"typ": "JWS", "cty": "layer-csr;v=1"})

    def signed_proof(self, claim, value):
        """The proof of a new provider key, whose signature holds, with one claim as told."""
        now, key = int(time.time()), new_key("EC")
        claims = {"iss": self.provider.provider_id, "aud": self.provider.realm, "iat": now, "exp": now + 300}
        return jwt.PyJWS().encode(json.dumps(claims | {claim: value}).encode(), key, "ES256", headers={"typ": "JWS"})

    def signed_bearer(self, claim, value, method, path, body):
        """A provider token for one call, whose signature holds, with one claim as told."""
        now = int(time.time())
        claims = {"iss": self.provider.provider_id, "aud": self.provider.realm, "iat": now, "exp": now + 60,
                  "jti": str(uuid.uuid4()), "body_sha256": base64url(hashlib.sha256(body).digest()),
                  "htm": method, "htu": self.chosen.public + path.split("?")[0]}
        return "Bearer " + self.sign("layer-provider;v=1", claims | {claim: value})

    def event(self, claim=None, value=None):
        """A provider's own security event, with one claim as told."""
        claims = {
            "iss": self.provider.provider_id, "aud": self.provider.realm, "iat": int(time.time()), "jti": str(uuid.uuid4()),
            "sub_id": {"format": "iss_sub", "iss": self.provider.provider_id, "sub": "nobody"},
            "events": {"https://schemas.openid.net/secevent/caep/event-type/session-revoked": {}}}
        return self.sign(None, claims | ({claim: value} if claim else {}))

    def good(self, name, path):
        """A value that the service takes for a parameter or member; a name that is new here gets a UUID."""
        random, uuid4 = self.random, str(uuid.uuid4())
        key = new_key("EC")
        values = {
            "identity_token": lambda: self.provider.identity_token(self.user, self.device.nonce()),
            "app_id": lambda: self.provider.app_id, "user_id": lambda: self.session["user_id"],
            "session_token": lambda: self.session["session_token"], "token": lambda: self.session["session_token"],
            "csr": lambda: self.unused().pkcs10() if random.random() < 0.5 else self.unused().layer_csr(),
            "presence_key": lambda: self.pem(key), "public_key": lambda: self.pem(key),
            "enrolment_token": self.provider.enrolment_token, "captcha": lambda: "solved",
            "phone_number": new_number, "region": lambda: "US",
            "push_endpoint": lambda: "arn:aws:sns:us-east-1:123456789012:endpoint/GCM/app/5e3e9847-3183-3f18-a7e8-671c3a57d4b3",
            "call_endpoint": lambda: "arn:aws:sns:us-east-1:123456789012:endpoint/GCM/app/7f3d5cf7-a8d5-375e-8115-cde5cfb0e715",
            "presence": lambda: self.sign("layer-presence;v=1", {"nce": self.device.nonce(), "iat": int(time.time())}),
            "code": lambda: "123456", "aamva": lambda: specimen.aamva(**new_person()), "mrz": lambda: MRZ,
            "to": lambda: random.choice([self.partner["user_id"], f"{self.provider.slug}/bob", f"{self.provider.slug}/nobody"]),
            "event_id": lambda: "event 1", "alg": lambda: "ES256", "proof": lambda: self.provider.key_proof(key),
            "url": lambda: "https://events.invalid/sets", "external_id": lambda: self.user, "key_id": lambda: uuid4,
            "box": lambda: random.choice(["in", "out"]), "state": lambda: "REQUEST", "sessions": lambda: "keep",
            "grant_type": lambda: random.choice(GRANTS), "assertion": self.assertion,
            "subject_token": lambda: self.session["session_token"], "subject_token_type": lambda: TOKEN_TYPE,
            "requested_token_type": lambda: TOKEN_TYPE, "audience": lambda: self.provider.provider_id,
            "client_id": lambda: random.choice([self.provider.app_id, self.provider.provider_id]),
            "client_assertion": self.client_assertion, "client_assertion_type": lambda: ASSERTION_TYPE,
            "scope": lambda: "sessions.read users.read",
            "cursor": lambda: base64url(random.choice(
                [f"{int(time.time() * 1000)} {uuid4}", "own 9 9", "own 9", f"forums 9 {uuid4} 9"]).encode()),
            "member": lambda: self.partner["user_id"],
        }
        if name == "id" and "{id}" in path:
            known = {"phone-verifications": self.verification, "identity-cards": self.card,
                     "authorizations": self.authorization, "blocks": self.partner["user_id"]}
            return known.get(path.split("/")[1], uuid4)
        return values.get(name, lambda: uuid4)()

    def assertion(self):
        """An identity token as a grant's assertion."""
        return self.provider.identity_token(
            self.user, self.device.nonce(), prn=None, sub=self.user, aud=self.chosen.public)

    def client_assertion(self):
        """A provider's proof of itself in a form."""
        now, provider = int(time.time()), self.provider
        claims = {"iss": provider.provider_id, "sub": provider.provider_id, "aud": self.chosen.public, "iat": now,
                  "exp": now + 60, "jti": str(uuid.uuid4())}
        return provider.sign(None, claims, {"typ": "JWT"})

    def unused(self):
        """A device that was not certified yet."""
        return Device(self.chosen.public, self.chosen.client, self.chosen.ca, "EC")

    @staticmethod
    def pem(key):
        body = base64.b64encode(public_der(key)).decode()
        return "\n".join(["-----BEGIN PUBLIC KEY-----", *(body[at:at + 64] for at in range(0, len(body), 64)),
                          "-----END PUBLIC KEY-----", ""])
