"""Signs one user in on one device, holds every answer against the schemas of `/openapi.json`, and leaves what a fuzzer
needs to go on with: the description, the device's certificate and key, a session's token, a provider's token."""

import json
import shutil
from pathlib import Path

import jsonschema
import requests

from Shared import options
from Shared import specimen
from Cards.cards import me, submit
from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT, Device, https
from Shared.phones import begin, check, new_number, wait_for_texts, wrong


class Description:
    """The service's own description of itself, as published and as it is tested."""

    def __init__(self, document):
        self.document, self.closed = document, closed(document)

    def validate(self, schema, value):
        """Holds a value against a schema, which allows no member that it does not name."""
        jsonschema.Draft202012Validator({**schema, "components": self.closed["components"]}).validate(value)

    def response(self, described):
        """A response, which is in the components if many operations share it."""
        if "$ref" in described:
            return self.closed["components"]["responses"][described["$ref"].split("/")[-1]]
        return described

    def judge(self, path, answer):
        """Holds an answer against the schema of its path, method and status."""
        operation = self.closed["paths"][path][answer.request.method.lower()]
        described = self.response(operation["responses"][str(answer.status_code)])
        media_type = answer.headers["Content-Type"].split(";")[0]
        self.validate(described["content"][media_type]["schema"], answer.json())
        return answer.json()

    def operations(self):
        """Method, path and operation of every call."""
        return [(method, path, operation) for path, methods in self.closed["paths"].items()
                for method, operation in methods.items() if method in ("get", "post", "put", "patch", "delete")]


def closed(schema):
    """The same with every object closed whose members are named: a test wants to see each new one described."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: closed(part) for name, part in schema.items()}
    if parts.get("type") == "object" and "properties" in parts:
        parts.setdefault("additionalProperties", False)
    return parts


def closed_objects(schema, place):
    """Where a schema of an answer is closed for members that a later version adds."""
    if isinstance(schema, dict):
        if schema.get("additionalProperties") is False:
            yield place
        for name, part in schema.items():
            yield from closed_objects(part, f"{place}.{name}")
    elif isinstance(schema, list):
        for part in schema:
            yield from closed_objects(part, place)


def complete(description):
    """Every call has one tag of the list, a summary and a description, and examples that fit their schemas."""
    tags = {tag["name"] for tag in description.document["tags"]}
    used, examples = set(), 0
    for method, path, operation in description.operations():
        call = f"{method} {path}"
        equal(len(operation["tags"]), 1, f"the number of tags of {call}")
        used.update(operation["tags"])
        expect(operation["summary"] and operation["description"], f"{call} is not described")
        contents = [operation.get("requestBody", {}).get("content", {})]
        contents += [answer.get("content", {}) for status, answer in operation["responses"].items() if status < "400"]
        for media_type, content in (pair for content in contents for pair in content.items()):
            if media_type == "application/json" and path != "/openapi.json":
                description.validate(content["schema"], content["example"])
                examples += 1
    equal(used, tags, "the tags in use")
    expect(examples > 40, f"only {examples} examples")


def metric(chosen, name):
    """The value of a metric without labels; 0 where it does not appear yet."""
    for line in requests.get(chosen.ops + "/metrics", timeout=TIMEOUT).text.splitlines():
        if line.startswith(f"countersign_{name} "):
            return float(line.split()[1])
    return 0


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--leave", required=True, metavar="DIRECTORY")
    chosen = parser.parse_args()
    place = Path(chosen.leave)
    place.mkdir(mode=0o700)
    provider = options.provider(chosen)
    texts = Path(chosen.provider).parent / "texts.jsonl"
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    with https(chosen.ca) as public:
        get = lambda path: public.get(chosen.public + path, timeout=TIMEOUT)
        description = Description(get("/openapi.json").json())
        judge = description.judge
        for path in ("/", "/.well-known/countersign", "/.well-known/jwks.json", "/openapi.json",
                     "/.well-known/oauth-authorization-server"):
            judge(path, get(path))
        complete(description)
        judge("/provider", get("/provider"))  # a refusal
    for path in ("/livez", "/readyz"):
        judge(path, requests.get(chosen.ops + path, timeout=TIMEOUT))
    certified = judge("/certificates", device.certify(device.pkcs10()))
    judge("/nonces", device.ask_nonce())
    judge("/nonce", device.call("GET", "/nonce"))
    judge("/.well-known/oauth-protected-resource", device.call("GET", "/.well-known/oauth-protected-resource"))

    # Both ways to open a session spend a nonce and are counted; so is the session.
    equal(metric(chosen, "nonces_spent_total"), 0, "nonces_spent")
    opened = judge("/sessions", device.create_session(provider.identity_token("alice", device.nonce())))
    token = opened["session_token"]
    equal((metric(chosen, "nonces_spent_total"), metric(chosen, "sessions_live")), (1, 1), "nonces_spent, sessions_live")
    passing = device.with_identity(
        "GET", "/sessions/current", provider.identity_token("bob", device.nonce()), provider.app_id, provider.realm)
    judge("/sessions/current", passing)
    equal((metric(chosen, "nonces_spent_total"), metric(chosen, "sessions_live")), (2, 2), "nonces_spent, sessions_live")
    equal(device.end_session(passing.headers["X-Layer-Session-Token"]).status_code, 204, "the status")
    judge("/sessions/current", device.current(passing.headers["X-Layer-Session-Token"]))
    equal((metric(chosen, "nonces_spent_total"), metric(chosen, "sessions_live")), (2, 1), "nonces_spent, sessions_live")
    expect(metric(chosen, "sessions_in_memory") >= 1, "nothing in memory")

    judge("/sessions/current", device.current(token))
    judge("/sessions", device.sessions(token))
    judge("/sessions/resume", device.resume_session(opened["user_id"], token))
    judge("/me", me(device, token))
    number = new_number()
    started = judge("/phone-verifications", begin(device, token, number))
    [code] = wait_for_texts(texts, number)
    judge("/phone-verifications/{id}/check", check(device, token, started["id"], wrong(code)))
    judge("/phone-verifications/{id}/check", check(device, token, started["id"], code))
    expired = specimen.aamva(expiry="01012020", issue="01012015")
    judge("/identity-cards", submit(device, token, aamva=expired))
    card = judge("/identity-cards", submit(device, token, aamva=specimen.aamva()))
    judge("/identity-cards/{id}", device.call("GET", f"/identity-cards/{card['id']}", token))
    judge("/me", me(device, token))
    judge("/me", device.call("PATCH", "/me", token, json={"push_endpoint": None}))
    judge("/me/export", device.call("GET", "/me/export", token))
    judge("/provider/users/{external_id}", provider.user("alice"))
    judge("/provider/users/{external_id}/history", provider.history("alice"))

    # The same card of another user waits for a person.
    dora = device.create_session(provider.identity_token("dora", device.nonce())).json()["session_token"]
    number = new_number()
    started = judge("/phone-verifications", begin(device, dora, number))
    [code] = wait_for_texts(texts, number)
    judge("/phone-verifications/{id}/check", check(device, dora, started["id"], code))
    waiting = judge("/identity-cards", submit(device, dora, aamva=specimen.aamva()))
    equal(waiting["status"], "in_review", "the status")
    another = judge("/identity-cards", submit(device, dora, aamva=specimen.aamva()))
    equal(device.end_session(dora).status_code, 204, "the status")

    erased = device.create_session(provider.identity_token("carol", device.nonce())).json()["session_token"]
    judge("/me", device.call("DELETE", "/me", erased))

    judge("/sessions/renew", device.renew_session(token, provider.identity_token("alice", device.nonce())))
    judge("/certificates/renewal", device.call("POST", "/certificates/renewal", json={}))
    judge("/provider", provider.record())
    exchange = {"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": token,
                "subject_token_type": "urn:ietf:params:oauth:token-type:access_token"}
    for audience in (provider.provider_id, "another"):
        judge("/token", device.call("POST", "/token", data={**exchange, "audience": audience}))
    for text in (token, "nothing"):
        judge("/introspect", provider.introspect(text))
    judge("/provider/users/{external_id}", provider.user("alice"))
    judge("/provider/token-check", provider.check_token(provider.identity_token("alice", device.nonce())))

    fixed = [found for path, methods in description.document["paths"].items() for method, operation in methods.items()
             if method in ("get", "post", "put", "patch", "delete")
             for status, answer in operation["responses"].items()
             for content in answer.get("content", {}).values()
             for found in closed_objects(content["schema"], f"{method} {path} {status}")]
    fixed += closed_objects(description.document["components"], "components")
    expect(not fixed, f"answers that no later version may add to: {fixed}")

    (place / "openapi.json").write_text(json.dumps(description.closed))
    for source, name in zip(device.files, ("certificate.pem", "key.pem")):
        shutil.copy(source, place / name)
    (place / "session.json").write_text(json.dumps({
        "session_token": token, "session_id": opened["session_id"], "serial": certified["serial"],
        "card_id": waiting["id"], "other_card_id": another["id"],
        "provider_token": provider.provider_token()}))
    accepted(device.current(token))


if __name__ == "__main__":
    main()
