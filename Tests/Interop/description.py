"""Signs one user in on one device, holds every answer against the schemas of `/openapi.json`, and leaves what a fuzzer
needs to go on with: the description, the device's certificate and key, a session's token, a provider's token."""

import json
import shutil
from pathlib import Path

import jsonschema
import requests

import options
import specimen
from cards import me, submit
from checks import accepted, equal, expect
from client import TIMEOUT, Device, https
from phones import begin, check, new_number, wait_for_texts, wrong


class Description:
    """The service's own description of itself."""

    def __init__(self, document):
        self.document = document

    def judge(self, path, answer):
        """Holds an answer against the schema of its path, method and status."""
        operation = self.document["paths"][path][answer.request.method.lower()]
        described = operation["responses"][str(answer.status_code)]
        media_type = answer.headers["Content-Type"].split(";")[0]
        schema = {**described["content"][media_type]["schema"], "components": self.document["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer.json())
        return answer.json()


def open_objects(schema, place):
    """Where a schema of an answer leaves an object's members open."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            yield place
        for name, part in schema.items():
            yield from open_objects(part, f"{place}.{name}")
    elif isinstance(schema, list):
        for part in schema:
            yield from open_objects(part, place)


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
        for path in ("/", "/.well-known/countersign", "/.well-known/jwks.json", "/openapi.json"):
            judge(path, get(path))
        judge("/provider", get("/provider"))  # a refusal
    for path in ("/livez", "/readyz"):
        judge(path, requests.get(chosen.ops + path, timeout=TIMEOUT))
    certified = judge("/certificates", device.certify(device.pkcs10()))
    judge("/nonces", device.ask_nonce())
    judge("/nonce", device.call("GET", "/nonce"))

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
    for text in (token, "nothing"):
        judge("/introspect", provider.introspect(text))
    judge("/provider/users/{external_id}", provider.user("alice"))
    judge("/provider/token-check", provider.check_token(provider.identity_token("alice", device.nonce())))

    left_open = {found for path, methods in description.document["paths"].items() for method, operation in methods.items()
                 if method in ("get", "post", "put", "patch", "delete")
                 for status, answer in operation["responses"].items()
                 for content in answer.get("content", {}).values()
                 for found in open_objects(content["schema"], f"{method} {path} {status}")}
    left_open = sorted(found for found in left_open if "/openapi.json" not in found)
    expect(not left_open, f"open objects in answers: {left_open}")

    (place / "openapi.json").write_text(json.dumps(description.document))
    for source, name in zip(device.files, ("certificate.pem", "key.pem")):
        shutil.copy(source, place / name)
    (place / "session.json").write_text(json.dumps({
        "session_token": token, "session_id": opened["session_id"], "serial": certified["serial"],
        "card_id": waiting["id"], "other_card_id": another["id"],
        "provider_token": provider.provider_token()}))
    accepted(device.current(token))


if __name__ == "__main__":
    main()
