"""A provider is told what happens to its users by Security Event Tokens that PyJWT verifies, and tells of its own.

The service was started with the switch that allows receivers on this machine.
"""

import http.server
import json
import threading
import time
import uuid

import jwt

from Shared import options
from Shared.checks import accepted, equal, expect, refused, soon
from Shared.client import TIMEOUT, Device, https, new_key
from Shared.phones import begin, check, new_number, wait_for_texts

CAEP = "https://schemas.openid.net/secevent/caep/event-type/"
RISC = "https://schemas.openid.net/secevent/risc/event-type/"


class Receiver(http.server.BaseHTTPRequestHandler):
    """Keeps what it is sent; the first attempt at each token is answered by 503."""

    seen, tried = [], set()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        name = jwt.decode(body, options={"verify_signature": False})["jti"]
        first = name not in self.tried
        self.tried.add(name)
        if not first:
            self.seen.append((self.headers["Content-Type"], body))
        self.send_response(503 if first else 202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        """Says nothing."""


class Events:
    """What came, verified by the keys that the service publishes."""

    def __init__(self, chosen, provider):
        self.provider = provider
        with https(chosen.ca) as public:
            keys = public.get(chosen.public + "/.well-known/jwks.json", timeout=TIMEOUT).json()
        self.keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(keys).keys}

    def wait(self, event, user):
        """The claims of an event about a user, and how often it came."""
        return soon(
            lambda: [claims for claims in self.all() if event in claims["events"] and self.user(claims) == user],
            lambda: f"no {event} of {user} among {[list(claims['events']) for claims in self.all()]}")

    @staticmethod
    def user(claims):
        """The provider's own id of the user whom the event is about."""
        subject = claims["sub_id"]
        if subject["format"] == "opaque":
            return None
        return (subject["user"] if subject["format"] == "complex" else subject)["sub"]

    def all(self):
        """The claims of everything that came, each token verified."""
        claims = []
        for content_type, token in list(Receiver.seen):
            equal(content_type, "application/secevent+jwt", "the media type")
            header = jwt.get_unverified_header(token)
            equal(header["typ"], "secevent+jwt", "typ")
            claims.append(jwt.decode(
                token, self.keys[header["kid"]].key, ["ES256"], audience=self.provider.provider_id,
                issuer=self.provider.realm, options={"require": ["iss", "aud", "iat", "jti"]}))
        return claims


def set_webhook(provider, url):
    """`PUT /provider/webhook`."""
    body = json.dumps({"url": url}).encode()
    return provider.call(
        "PUT", "/provider/webhook", provider.fresh_token("PUT", "/provider/webhook", body), data=body,
        headers={"Content-Type": "application/json"})


def tell(provider, subject, event=CAEP + "session-revoked", header=None, key=None, **changes):
    """`POST /provider/events`."""
    claims = {
        "iss": provider.provider_id, "aud": provider.realm, "iat": int(time.time()), "jti": str(uuid.uuid4()),
        "sub_id": subject, "events": {event: {}}, **changes}
    token = provider.sign(None, claims, {"typ": "secevent+jwt", **(header or {})}, key)
    return send(provider, token)


def send(provider, token):
    """Posts a token, with no other proof."""
    return provider.connection.post(
        provider.public + "/provider/events", data=token, headers={"Content-Type": "application/secevent+jwt"},
        timeout=TIMEOUT)


def told(chosen, provider, device, log_in):
    """The provider is told."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/events"
    refused(provider.call("GET", "/provider/webhook"), 404, "not_found")
    refused(set_webhook(provider, "ftp://127.0.0.1/"), 400, "malformed_request")
    equal(accepted(set_webhook(provider, url)), {"url": url}, "the answer")
    equal(accepted(provider.call("GET", "/provider/webhook")), {"url": url}, "the webhook")
    refused(provider.call("DELETE", "/provider/webhook"), 401, "provider_token_invalid")

    events = Events(chosen, provider)
    # A test goes the way of every other event, and is about nobody.
    name = accepted(provider.call("POST", "/provider/webhook/test"), 202)["jti"]
    [claims] = events.wait("https://schemas.openid.net/secevent/ssf/event-type/verification", None)
    equal(claims["jti"], name, "the test's name")
    equal(claims["sub_id"], {"format": "opaque", "id": provider.provider_id}, "whom it is about")

    session = log_in("ada")
    equal(device.end_session(session["session_token"]).status_code, 204, "the status")
    [claims] = events.wait(CAEP + "session-revoked", "ada")
    equal(claims["sub_id"]["session"], {"format": "opaque", "id": session["session_id"]}, "the session")
    equal(claims["sub_id"]["user"]["iss"], provider.provider_id, "whose word for the user it is")

    token, number = log_in("ben")["session_token"], new_number()
    started = accepted(begin(device, token, number), 202)["id"]
    [code] = wait_for_texts(chosen.texts, number)
    accepted(check(device, token, started, code))
    accepted(device.call("DELETE", "/me", token), 202)
    # Both were written by this node itself: the loop looks at the latest every half minute, and at once after others'.
    [claims] = events.wait(RISC + "account-purged", "ben")
    levels = [event for claims in events.all() if events.user(claims) == "ben"
              for event in [claims["events"].get(CAEP + "assurance-level-change")] if event]
    for level in levels:
        equal((level["previous_level"], level["current_level"]), ("none", "phone"), "the levels")
        equal(level["change_direction"], "increase", "the direction")
    names = [claims["jti"] for claims in events.all()]
    equal(len(set(names)), len(names), "the number of different ids")
    proof = provider.fresh_token("DELETE", "/provider/webhook")
    equal(provider.call("DELETE", "/provider/webhook", proof).status_code, 204, "the status")
    refused(provider.call("GET", "/provider/webhook"), 404, "not_found")


def tells(provider, device, log_in):
    """The provider tells."""
    user = {"format": "iss_sub", "iss": provider.provider_id, "sub": "cyd"}
    first, second, other = log_in("cyd"), log_in("cyd"), log_in("dan")
    session = {"format": "opaque", "id": first["session_id"]}
    now = int(time.time())
    for wrong in (
            tell(provider, session, header={"typ": "JWT"}), tell(provider, session, key=new_key("RSA")),
            tell(provider, session, aud="elsewhere"), tell(provider, session, iat=now - 7200),
            tell(provider, session, iat=now + 600), tell(provider, session, jti=None),
            tell(provider, session, events={}), tell(provider, {"format": "email"}),
            tell(provider, {**user, "iss": str(uuid.uuid4())}), send(provider, provider.provider_token()),
            send(provider, "nonsense")):
        equal((wrong.status_code, wrong.json()["code"]), (400, "provider_token_invalid"), "the refusal")
        expect(wrong.json()["err"] and wrong.json()["description"], "no error of RFC 8935")
    # An event that is unknown here has no effect.
    for event in (RISC + "account-purged", "https://acme.example/event"):
        equal(tell(provider, session, event=event).status_code, 202, "the status of an unknown event")
    accepted(device.current(first["session_token"]))
    for subject in (session, {"format": "opaque", "id": str(uuid.uuid4())}, {**user, "sub": "nobody"}):
        equal(tell(provider, subject).status_code, 202, "the status")
    equal(device.current(first["session_token"]).status_code, 401, "the status of an ended session")
    accepted(device.current(second["session_token"]))
    name = str(uuid.uuid4())
    equal(tell(provider, {"format": "complex", "user": user}, jti=name).status_code, 202, "the status")
    equal(device.current(second["session_token"]).status_code, 401, "the status of an ended session")
    again = log_in("cyd")["session_token"]
    equal(tell(provider, user, jti=name).status_code, 202, "a repeated event's status")
    accepted(device.current(again))
    accepted(device.current(other["session_token"]))


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--texts", required=True)
    chosen = parser.parse_args()
    provider = options.provider(chosen)
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    log_in = lambda user: accepted(device.create_session(provider.identity_token(user, device.nonce())), 201)
    told(chosen, provider, device, log_in)
    tells(provider, device, log_in)
    print("told and heard")


if __name__ == "__main__":
    main()
