"""An issuer's service behind the signed hook: what it confirms reaches `issuer_checked`, what it contradicts waits for a
person, what it does not answer stays `barcode`; and a ban reaches the document of the first kind alone.

`--port` is where the service's policy says that the hook listens, `--secret` what its questions are signed with.
"""

import json
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from Shared import options
from Shared import specimen
from Audit.audit import Commands
from Cards.cards import me, new_person, submit
from Shared.checks import accepted, equal, expect, refused
from Shared.client import Device
from Shared.phones import begin, check, new_number, wait_for_texts
from Shared.stand_in import Handler

NEEDED = ("document_number", "full_name", "date_of_birth", "expires_on")


class Issuer(Handler):
    """Knows some documents, and says of each datum whether it is as the issuer has it."""

    secret, known, silent = None, {}, set()
    questions, forged = [], 0

    def do_POST(self):
        body = self.body()
        try:
            event = Webhook(Issuer.secret).verify(body, dict(self.headers))
        except WebhookVerificationError:
            Issuer.forged += 1
            return self.answer(401)
        Issuer.questions.append(event)
        data = event["data"]
        number = data["document_number"]
        if number in Issuer.silent:
            return self.answer(503)
        record = Issuer.known.get(number, {})
        self.answer(200, json.dumps({"matches": {
            "document_number": bool(record), **{
                name: data.get(name) == record.get(name, data.get(name)) for name in NEEDED[1:] if name in data},
        }}).encode())


def signed_in(chosen, provider, user):
    """A user with a proven number, at a device of their own."""
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    session = accepted(device.create_session(provider.identity_token(user, device.nonce())), 201)
    token, number = session["session_token"], new_number()
    started = accepted(begin(device, token, number), 202)
    [code] = wait_for_texts(Path(chosen.directory, "texts.jsonl"), number)
    accepted(check(device, token, started["id"], code))
    return device, token


def show(device, token, person):
    """A card's status, level and what its issuer said of it."""
    shown = accepted(submit(device, token, aamva=specimen.aamva(**person)), 201)
    said = [check["result"] for check in shown["checks"] if check["name"] == "issuer_confirmation"]
    return shown["status"], shown["assurance"], said


def main():
    parser = options.parser(__doc__)
    for name in ("countersign", "directory", "port", "secret"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    provider, commands = options.provider(chosen), Commands(chosen)
    Issuer.secret = Path(chosen.secret).read_text().strip()
    server = ThreadingHTTPServer(("127.0.0.1", int(chosen.port)), Issuer)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()

    people = {name: new_person() for name in ("alice", "carol", "dave", "mallory")}
    Issuer.known = {
        people["alice"]["number"]: {"date_of_birth": "1986-06-16"},
        people["carol"]["number"]: {"date_of_birth": "1986-06-07"},
    }
    Issuer.silent = {people["dave"]["number"]}
    devices = {name: signed_in(chosen, provider, name) for name in people}
    results = {name: show(*devices[name], person) for name, person in people.items()}
    equal(results, {
        "alice": ("verified", "issuer_checked", ["passed"]), "carol": ("in_review", "phone", ["failed"]),
        "dave": ("verified", "barcode", ["not_applicable"]), "mallory": ("in_review", "phone", ["failed"])}, "results")
    equal(accepted(me(*devices["alice"]))["assurance"], "issuer_checked", "what alice sees")
    equal(accepted(provider.introspect(devices["alice"][1]))["assurance"], "issuer_checked", "what the provider sees")
    equal(accepted(provider.user("alice"))["assurance"], "issuer_checked", "what the provider sees of the user")

    # Each question was signed, and held what is to be compared.
    equal((len(Issuer.questions), Issuer.forged), (4, 0), "questions, forged ones")
    asked = Issuer.questions[0]
    equal((asked["type"], asked["data"]["document_number"]), ("card.check", people["alice"]["number"]), "the question")
    expect(set(NEEDED) <= set(asked["data"]), f"the question holds {sorted(asked['data'])}")

    # The issuer vouches for the document: the ban reaches it, under any name and number.
    for name, holds in (("alice", True), ("dave", False)):
        made = commands.json("ban", "add", "--user", f"{provider.slug}/{name}", "--reason", "fraud", "--for", "1h")
        kinds = {entry["kind"] for entry in commands.json("ban", "show", made["ban_id"])["entries"]}
        equal("document" in kinds, holds, f"the ban of {name} holds the document")
    again = signed_in(chosen, provider, "eve")
    refused(submit(*again, aamva=specimen.aamva(**people["alice"])), 403, "user_banned")
    equal(show(*again, people["dave"])[0], "in_review", "the document that nobody vouched for")
    equal(Issuer.forged, 0, "forged questions")
    server.shutdown()
    print(f"{len(Issuer.questions)} questions")


if __name__ == "__main__":
    main()
