"""Two users who ask each other for permission to message, from their cards to the pushes, with SNS as moto plays it.

    python3 authorizations.py … --countersign FILE --directory DIRECTORY

`--directory` holds `Keys`, `Policies` and `store.db`; moto and the service are started and stopped here.
"""

import random
import uuid
from pathlib import Path

from Shared import options
from Shared import specimen
from Messaging import streams
from Authorizations.reinstallation import reinstalled
from Bans.admin import Admin
from Shared.checks import accepted, equal, expect, refused, soon
from Shared.client import TIMEOUT, Device, https
from Requests.description import Description
from Phone.carrier import Carrier, write
from Phone.phone import Service
from Shared.phones import begin, check, new_number


class Person:
    """A user on a device, verified by a phone and a card."""

    def __init__(self, chosen, provider, carrier, name, endpoint):
        self.name, self.number = f"{name}-{uuid.uuid4()}", new_number()
        self.device = Device(chosen.public, chosen.client, chosen.ca, "EC")
        accepted(self.device.certify(), 201)
        session = accepted(
            self.device.create_session(provider.identity_token(self.name, self.device.nonce())), 201)
        self.token, self.user_id, self.address = session["session_token"], session["user_id"], session["address"]
        refused(self.call("GET", "/authorizations"), 403, "not_verified", "caller")
        started = accepted(begin(self.device, self.token, self.number, push_endpoint=endpoint), 202)
        accepted(check(self.device, self.token, started["id"], carrier.code(self.number)))
        family = "".join(random.choice("BCDFGHJKLMNPQRSTVWXZ") for _ in range(10))
        self.card = {"aamva": specimen.aamva(number=f"T{random.randint(0, 99_999_999):08}", family=family)}
        card = accepted(self.call("POST", "/identity-cards", json=self.card), 201)
        equal(card["assurance"], "barcode", "the level")
        self.secrets = [self.number, self.number[2:], family, family.title(), "1986", self.name, self.user_id]

    def call(self, method, path, **arguments):
        """A request in the person's session."""
        return self.device.call(method, path, self.token, **arguments)

    def ask(self, name, to, **members):
        """`POST /authorizations`."""
        return self.call("POST", "/authorizations", json={"id": name, "to": to, **members})


def walk(chosen, provider, carrier):
    """From the cards to a permission, to its end."""
    with https(chosen.ca) as public:
        judge = Description(public.get(chosen.public + "/openapi.json", timeout=TIMEOUT).json()).judge
    alice = Person(chosen, provider, carrier, "alice", carrier.ready["disabled"])
    bob = Person(chosen, provider, carrier, "bob", carrier.ready["live"])
    one, path = str(uuid.uuid4()), "/authorizations/{id}"

    # Asked, told, and the same answer again.
    for _ in range(2):
        answer = judge("/authorizations", alice.ask(one, bob.address, event_id="event 7"))
        equal(answer, {"id": one, "state": "REQUEST"}, "the answer")
    body = refused(alice.ask(one, bob.user_id), 409, "conflict")
    equal(body["state"], "REQUEST", "state")
    refused(bob.ask(one, alice.address), 404, "not_found")
    refused(alice.ask("x", bob.address), 400, "malformed_request")
    refused(alice.ask(str(uuid.uuid4()), "elsewhere/bob"), 404, "not_found")
    [(data, text)] = carrier.pushes(1)
    equal((data["authorization_id"], data["type"]), (one, "REQUEST"), "the push")
    equal((data["initials"][0], data["verified"], data["assurance"]), ("M", "true", "barcode"), "the push")
    expect(not [secret for secret in alice.secrets + bob.secrets if secret in text], f"the push tells too much: {text}")

    # What the asked person sees.
    shown = bob.call("GET", f"/authorizations/{one}")
    seen = judge(path, shown)
    equal((seen["box"], seen["state"], seen["to"], seen["event_id"], seen["grant"], seen["block"]),
          ("in", "REQUEST", None, None, None, f"/authorizations/{one}/block"), "the request")
    equal(seen["partner"], {
        "user_id": None, "address": None, "display_name": None, "initials": data["initials"], "age": int(data["age"]), "picture_url": None, "assurance": "barcode",
        "push_endpoint": None}, "what is shown of the asker")
    expect(not [secret for secret in alice.secrets if secret in shown.text], "the asker is shown too much of")

    # Nobody can tell an unknown user from one who does not answer.
    nobody = str(uuid.uuid4())
    equal(judge("/authorizations", alice.ask(nobody, f"{provider.slug}/nobody")), {"id": nobody, "state": "REQUEST"},
          "the answer")
    page = judge("/authorizations", alice.call("GET", "/authorizations?box=out"))
    mine = {row["id"]: row for row in page["authorizations"]}
    alike = [{name: value for name, value in mine[name].items() if name in ("box", "state", "grant", "partner")}
             for name in (one, nobody)]
    equal(alike[0], alike[1], "the two requests")

    # Approved; the push to an endpoint that is gone takes the endpoint away.
    refused(alice.call("POST", f"/authorizations/{one}/approval"), 404, "not_found")
    for _ in range(2):
        approved = judge("/authorizations/{id}/approval", bob.call("POST", f"/authorizations/{one}/approval"))
        equal((approved["state"], approved["grant"]), ("APPROVAL", f"{alice.user_id} -> {bob.user_id}"), "the approval")
    judge("/authorizations/{id}/rejection", bob.call("POST", f"/authorizations/{one}/rejection"))
    soon(lambda: accepted(alice.call("GET", "/me"))["push_endpoint"] is None, "the push endpoint stays")
    accepted(alice.call("PATCH", "/me", json={"push_endpoint": carrier.ready["live"]}))
    accepted(alice.ask(str(uuid.uuid4()), f"{provider.slug}/nobody else"), 201)  # rings the outbox's bell
    pushes = carrier.pushes(2)
    data, text = next(push for push in pushes if push[0]["type"] == "APPROVAL")
    equal((data["authorization_id"], data["user_id"], data["address"]), (one, bob.user_id, bob.address), "the push")
    hidden = alice.secrets + [secret for secret in bob.secrets if secret not in (bob.user_id, bob.name)]
    expect(not [secret for secret in hidden if secret in text], f"the push tells too much: {text}")

    # A reinstalled app rebuilds its file.
    for person, other, partner, box in (
            (alice, bob, carrier.ready["live"], "out"), (bob, alice, carrier.ready["live"], "in")):
        page = judge("/authorizations", person.call("GET", "/authorizations?state=APPROVAL"))
        [row] = page["authorizations"]
        equal((row["id"], row["box"], row["grant"], row["partner"]["push_endpoint"], page["cursor"]),
              (one, box, f"{alice.user_id} -> {bob.user_id}", partner, None), "the row")
        equal((row["partner"]["user_id"], row["partner"]["address"]), (other.user_id, other.address), "the partner")
    refused(alice.call("GET", "/authorizations?state=approved"), 400, "malformed_request")

    reinstalled(chosen, provider, carrier, alice, bob)

    # They talk; either side ends it; a block is quiet.
    stream = streams.talk(judge, alice, bob)
    judge("/authorizations/{id}/cancellation", bob.call("POST", f"/authorizations/{one}/cancellation"))
    streams.closed(alice, bob, path=stream)
    equal(accepted(alice.call("GET", f"/authorizations/{one}"))["state"], "CANCELLED", "the state")
    equal(bob.call("PUT", f"/blocks/{alice.user_id}").status_code, 204, "the status")
    two = str(uuid.uuid4())
    equal(accepted(alice.ask(two, bob.address), 201), {"id": two, "state": "REQUEST"}, "the answer")
    refused(bob.call("GET", f"/authorizations/{two}"), 404, "not_found")
    equal(bob.call("DELETE", f"/blocks/{alice.user_id}").status_code, 204, "the status")
    refused(bob.call("GET", f"/authorizations/{two}"), 404, "not_found")
    export = accepted(alice.call("GET", "/me/export"))
    expect({one, two, nobody} <= {row["id"] for row in export["authorizations"]}, "the export lacks authorizations")
    carrier.pushes(2)
    cross(judge, alice, bob, stream)
    block(alice, bob)

    # Permitted anew, and ended by a ban.
    three = str(uuid.uuid4())
    accepted(bob.ask(three, alice.address), 201)
    accepted(alice.call("POST", f"/authorizations/{three}/approval"))
    admin = Admin(chosen)
    streams.banned(alice, bob, stream, lambda user: admin.run("ban", "add", "--user", user, "--reason", "spam"))


def cross(judge, alice, bob, stream):
    """Both ask, both approve, one cancels: there was one permission, and no request brings it back."""
    there, back = str(uuid.uuid4()), str(uuid.uuid4())
    [hidden] = accepted(alice.call("GET", "/authorizations?box=out&state=REQUEST"))["authorizations"][:1]
    accepted(bob.ask(back, alice.address), 201)
    accepted(alice.call("POST", f"/authorizations/{hidden['id']}/cancellation"))
    equal(accepted(alice.ask(there, bob.address), 201)["state"], "REQUEST", "the answer")
    for person, name in ((bob, there), (alice, back)):
        answer = judge("/authorizations/{id}/approval", person.call("POST", f"/authorizations/{name}/approval"))
        equal((answer["id"], answer["state"]), (there, "APPROVAL"), "the permission")
        equal(answer["grant"], f"{alice.user_id} -> {bob.user_id}", "the grant")
    for person in (alice, bob):
        states = [accepted(person.call("GET", f"/authorizations/{name}"))["state"] for name in (there, back)]
        equal(states, ["APPROVAL", "CANCELLED"], "the states")
    accepted(alice.call("POST", f"/authorizations/{back}/cancellation"))
    for person, name in ((bob, there), (alice, back)):
        equal(refused(person.call("POST", f"/authorizations/{name}/approval"), 409, "conflict")["state"],
              "CANCELLED", "the state")
    streams.closed(alice, bob, path=stream)


def block(alice, bob):
    """The asked person blocks an asker whom no answer names, and ends the block."""
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    accepted(alice.ask(first, bob.address), 201)
    refused(alice.call("POST", f"/authorizations/{first}/block"), 404, "not_found")
    for _ in range(2):
        equal(bob.call("POST", f"/authorizations/{first}/block").status_code, 204, "the status")
    refused(bob.call("GET", f"/authorizations/{first}"), 404, "not_found")
    equal(accepted(bob.call("GET", "/me/export"))["blocked_requesters"], [first], "who is blocked")
    equal(accepted(alice.call("GET", f"/authorizations/{first}"))["state"], "REQUEST", "the state")
    for _ in range(2):
        equal(bob.call("DELETE", f"/authorizations/{first}/block").status_code, 204, "the status")
    accepted(alice.call("POST", f"/authorizations/{first}/cancellation"))
    accepted(alice.ask(second, bob.address), 201)
    equal(accepted(bob.call("GET", f"/authorizations/{second}"))["box"], "in", "the box")
    accepted(alice.call("POST", f"/authorizations/{second}/cancellation"))


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--countersign", required=True)
    parser.add_argument("--directory", required=True)
    chosen = parser.parse_args()
    directory, carrier = Path(chosen.directory), Carrier()
    try:
        identifier, secret = carrier.ready["key"]
        write(
            directory / "Keys" / "aws",
            f"[default]\naws_access_key_id={identifier}\naws_secret_access_key={secret}\n")
        (directory / "Policies" / "delivery.yaml").write_text(
            f"attempt_timeout: 30s\nsenders:\n  - kind: sns\n    region: {carrier.ready['region']}\n"
            f"    endpoint: {carrier.url}\n    credentials_file: aws\n")
        (directory / "Policies" / "phones.yaml").write_text(f"push_applications: ['{carrier.application}']\n")
        service = Service(chosen)
        try:
            chosen.public, chosen.client, chosen.ops = service.public, service.client, service.ops
            walk(chosen, options.provider(chosen), carrier)
        finally:
            service.stop()
    finally:
        carrier.stop()
    print("asked, told, approved, told, rebuilt, talked, ended, banned")


if __name__ == "__main__":
    main()
