"""A receiver of Shared Signals: where events are pushed, what its transmitter's metadata say, and the streams that it keeps."""

import http.server
import json
import time
import urllib.parse
import uuid

import jwt

from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT, algorithm, https

PUSH, POLL = "urn:ietf:rfc:8935", "urn:ietf:rfc:8936"
CAEP = "https://schemas.openid.net/secevent/caep/event-type/"
RISC = "https://schemas.openid.net/secevent/risc/event-type/"
SSF = "https://schemas.openid.net/secevent/ssf/event-type/"
SECRET = "Bearer of-the-receiver"


class Receiver(http.server.BaseHTTPRequestHandler):
    """A push receiver (RFC 8935). It answers the first attempt at each token with 503."""

    seen, tried = [], {}

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        name = jwt.decode(body, options={"verify_signature": False})["jti"]
        tries = self.tried[name] = self.tried.get(name, 0) + 1
        if tries > 1:
            self.seen.append((dict(self.headers), body))
        self.send_response(503 if tries == 1 else 202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        """Says nothing."""


class Transmitter:
    """The service as a receiver finds it: by its metadata alone."""

    def __init__(self, chosen):
        self.http = https(chosen.ca)
        self.issuer = chosen.public
        parts = urllib.parse.urlsplit(self.issuer)
        place = f"{parts.scheme}://{parts.netloc}/.well-known/ssf-configuration{parts.path.rstrip('/')}"
        answer = self.http.get(place, timeout=TIMEOUT)
        equal(answer.headers["Content-Type"].split(";")[0], "application/json", "the media type")
        self.metadata = accepted(answer)
        equal(self.metadata["issuer"], self.issuer, "the issuer")
        expect(self.metadata["spec_version"] >= "1_0", "spec_version")
        expect({PUSH, POLL} <= set(self.metadata["delivery_methods_supported"]), "the methods of delivery")
        expect({"spec_urn": "urn:ietf:rfc:6749"} in self.metadata["authorization_schemes"], "the schemes")
        for member in ("jwks_uri", "configuration_endpoint", "status_endpoint", "verification_endpoint",
                       "add_subject_endpoint", "remove_subject_endpoint"):
            expect(self.metadata[member].startswith("https://"), member)
        expect(all(value != [] for value in self.metadata.values()), "an empty list")
        keys = accepted(self.http.get(self.metadata["jwks_uri"], timeout=TIMEOUT))
        self.keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(keys).keys}
        sizes = [key.key.key_size for key in self.keys.values() if key.key_type == "RSA"]
        expect(sizes and min(sizes) >= 2048, "the size of the RSA keys")

    def verified(self, token, stream):
        """The claims of a Security Event Token, checked as RFC 8417 and SSF 1.0 want it."""
        header = jwt.get_unverified_header(token)
        equal(header["typ"], "secevent+jwt", "typ")
        equal(header["alg"], stream.get("signing_alg", "RS256"), "the algorithm")
        audience = stream["aud"] if isinstance(stream["aud"], str) else stream["aud"][0]
        claims = jwt.decode(
            token, self.keys[header["kid"]].key, [header["alg"]], audience=audience, issuer=stream["iss"],
            options={"require": ["iss", "iat", "jti", "aud"], "verify_sub": False})
        expect("sub" not in claims and "exp" not in claims, "a claim that must not be there")
        expect(claims["sub_id"]["format"] and claims["txn"], "subject or transaction")
        equal(len(claims["events"]), 1, "the number of events")
        [(kind, details)] = claims["events"].items()
        if not kind.startswith(SSF):
            expect(kind in stream["events_delivered"], f"{kind} was not to be delivered")
            expect(all(details["reason_admin"].values()) and details["reason_admin"], "reason_admin")
            expect(abs(details["event_timestamp"] - time.time()) < 3600, "event_timestamp")
        return claims


class Backend:
    """A receiver's management of its streams, with an access token."""

    def __init__(self, chosen, transmitter, provider, scope):
        self.transmitter, self.provider = transmitter, provider
        place = transmitter.issuer + "/.well-known/oauth-authorization-server"
        server = accepted(transmitter.http.get(place, timeout=TIMEOUT))
        now = int(time.time())
        claims = {"iss": provider.provider_id, "sub": provider.provider_id, "aud": server["token_endpoint"],
                  "iat": now, "exp": now + 60, "jti": str(uuid.uuid4())}
        form = {"grant_type": "client_credentials", "scope": scope,
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": jwt.encode(
                    claims, provider.key, algorithm(provider.key), headers={"kid": provider.key_id})}
        granted = accepted(transmitter.http.post(server["token_endpoint"], data=form, timeout=TIMEOUT))
        expect(granted["expires_in"] <= 3600, "the token lives too long")
        self.token = granted["access_token"]

    def call(self, method, url, body=None, proven=False, **query):
        """A request with the access token, and with a proof that is made for it."""
        text = b"" if body is None else json.dumps(body).encode()
        headers = {"Authorization": "Bearer " + self.token}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if proven:
            headers["Countersign-Proof"] = self.provider.fresh_token(method, urllib.parse.urlsplit(url).path, text)
        return self.transmitter.http.request(
            method, url, data=text or None, params=query, timeout=TIMEOUT + 20, headers=headers)

    def stream(self, method, body=None, **query):
        """A call about streams. A change has a proof, and does not go without."""
        place, changes = self.transmitter.metadata["configuration_endpoint"], method in ("PATCH", "PUT", "DELETE")
        if changes:
            expect(self.call(method, place, body, **query).status_code in (401, 403), "a change by the token alone")
        return self.call(method, place, body, proven=changes, **query)

    def status(self, method, body=None, **query):
        """A call about the status of a stream. A change has a proof, and does not go without."""
        place, changes = self.transmitter.metadata["status_endpoint"], method == "POST"
        if changes:
            expect(self.call(method, place, body, **query).status_code in (401, 403), "a change by the token alone")
        return self.call(method, place, body, proven=changes, **query)

    def subject(self, verb, stream, subject, **more):
        """Adds a subject to a stream, or removes it. A removal has a proof, and does not go without."""
        body, removes = {"stream_id": stream["stream_id"], "subject": subject, **more}, verb == "remove"
        place = self.transmitter.metadata[verb + "_subject_endpoint"]
        if removes:
            expect(self.call("POST", place, body).status_code in (401, 403), "a removal by the token alone")
        return self.call("POST", place, body, proven=removes)

    def verify(self, stream, **state):
        body = {"stream_id": stream["stream_id"], **state}
        return self.call("POST", self.transmitter.metadata["verification_endpoint"], body)

    def proven(self, method, body):
        """A change with the proof by which a push address needs no operator."""
        return self.call(method, self.transmitter.metadata["configuration_endpoint"], body, proven=True)

    def poll(self, stream, **body):
        """The claims of the events that wait, by their ids, and whether there are more."""
        answer = accepted(self.call("POST", stream["delivery"]["endpoint_url"], body))
        claims = {name: self.transmitter.verified(token, stream) for name, token in answer["sets"].items()}
        for name, one in claims.items():
            equal(one["jti"], name, "jti")
        return claims, answer.get("moreAvailable", False)

    def drain(self, stream):
        """All events that wait, acknowledged."""
        found = {}
        for _ in range(20):
            claims, more = self.poll(stream, returnImmediately=True)
            found |= claims
            if claims:
                self.poll(stream, maxEvents=0, returnImmediately=True, ack=list(claims))
            if not more:
                return found
        expect(False, "the stream never ends")


def kinds(claims):
    """The events by type."""
    return sorted(kind for one in claims.values() for kind in one["events"])
