"""Looks for personal data in clear where the service keeps things: nobody's may be found.

    python3 canary.py … --countersign FILE --directory DIRECTORY --pid PID

People with values that occur nowhere else go through everything that takes personal data. Then the store's files, as the
running process has them open, its log, its metrics and what the admin commands say on standard error are searched for
those values in many spellings. `texts.jsonl` is the one place where a number stands by design. The process is asked to
stop in the end, so that the store is searched again when its write-ahead log has been copied into it.
"""

import base64
import json
import os
import re
import signal
import stat
import subprocess
from pathlib import Path

import requests
from cryptography.hazmat.primitives import serialization

from Shared import options
from Shared import specimen
from Shared.checks import accepted, equal, expect, refused, soon
from Shared.client import Device, new_key
from Shared.phones import begin, check, new_number, resend, wait_for_texts
from Shared.provider import Provider
from Users.canary_hunt import Hunt, card_canaries

APPLICATION = "arn:aws:sns:us-east-1:123456789012:app/GCM/canary"
ENDPOINT = "arn:aws:sns:us-east-1:123456789012:endpoint/GCM/canary/"
# What an issuer's credential may contain: CBOR-LD with this text in it.
SIGNED = "GALLINULEPHALAROPE"
CREDENTIAL = base64.urlsafe_b64encode(
    b"\xd9\xcb\x1d\x82\x18\x63" + bytes([0x40 + len(SIGNED)]) + SIGNED.encode()).decode().rstrip("=")
FIRST = {
    "family": "QUAILWORTH", "given": "ZEPHYRINE", "middle": "OCTAVIANA", "street": "4711 KESTREL HOLLOW",
    "city": "WRENMOUTH", "postal_code": "232694711", "number": "T80472915", "birth": (1987, 3, 29),
    "credential": CREDENTIAL,
}
SECOND = {
    "family": "LARKSPURRE", "given": "THELONIUS", "middle": "BARTHOLOMEW", "street": "8216 GOLDFINCH PASSAGE",
    "city": "PTARMIGAN", "postal_code": "902108216", "number": "T59138264", "birth": (1979, 11, 17),
}
EXPIRED = {
    "family": "NIGHTJARRE", "given": "PHILOMENA", "middle": "SERAPHINE", "street": "3905 BULLFINCH GROVE",
    "city": "DOTTEREL", "postal_code": "232693905", "number": "T30627481", "birth": (1968, 7, 23),
    "issue": (2010, 1, 1), "expiry": (2018, 1, 1),
}


class Person:
    """A user with a proven number."""

    def __init__(self, chosen, provider, name, texts, hunt, **claims):
        self.device, self.number = Device(chosen.public, chosen.client, chosen.ca, "EC"), new_number()
        self.endpoint = ENDPOINT + f"{name}-{self.number[3:]}"
        hunt.add(self.number[1:], self.number[2:], self.number[5:], f"{name}-{self.number[3:]}")
        hunt.add(*[text for text in claims.values() if text])
        accepted(self.device.certify(), 201)
        answer = self.device.create_session(provider.identity_token(name, self.device.nonce(), **claims))
        self.token = accepted(answer, 201)["session_token"]
        self.user_id = answer.json()["user_id"]
        started = accepted(begin(self.device, self.token, self.number, push_endpoint=self.endpoint), 202)["id"]
        refused(resend(self.device, self.token, started), 429, "rate_limited")
        [code] = wait_for_texts(texts, self.number)
        accepted(check(self.device, self.token, started, code))

    def call(self, method, path, **arguments):
        """Any request in the session."""
        return self.device.call(method, path, self.token, **arguments)

    def show(self, card):
        """`POST /identity-cards`."""
        return self.call("POST", "/identity-cards", json={"aamva": specimen.aamva(**card)})


class Admin:
    """The admin commands on the service's files, and what they said on standard error."""

    def __init__(self, chosen):
        self.chosen, self.errors = chosen, b""

    def run(self, *arguments):
        """Runs a command; its JSON answer."""
        directory = self.chosen.directory
        result = subprocess.run(
            [
                self.chosen.countersign, *arguments, "--json", "--keys", f"{directory}/Keys", "--policies",
                f"{directory}/Policies", "--store", f"sqlite:{directory}/store.db",
            ],
            capture_output=True, timeout=60)
        self.errors += result.stderr
        equal(result.returncode, 0, f"the exit code of {arguments[:2]}: {result.stderr[:300]}")
        return json.loads(result.stdout)

    def refuse(self, *arguments):
        """Runs a command that is to be refused."""
        directory = self.chosen.directory
        result = subprocess.run(
            [
                self.chosen.countersign, *arguments, "--keys", f"{directory}/Keys", "--policies",
                f"{directory}/Policies", "--store", f"sqlite:{directory}/store.db",
            ],
            capture_output=True, timeout=60)
        expect(result.returncode != 0, f"{arguments[:2]} was not refused")
        self.errors += result.stderr


def new_provider(chosen, admin):
    """A provider whose users may have pictures."""
    key, path = new_key("EC"), f"{chosen.directory}/canary.pem"
    Path(path).write_bytes(key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    registration = admin.run(
        "provider", "add", "--name", "Canary", "--slug", "canary", "--key", path, "--avatar-host",
        "pictures.example")
    return Provider(chosen.public, chosen.ca, registration, key, options.provider(chosen).realm)


def verified(chosen, provider, admin, hunt, texts):
    """A user whose card counts, and who reads and changes what is held."""
    name = " ".join(FIRST[part].title() for part in ("given", "middle", "family"))
    person = Person(
        chosen, provider, "first", texts, hunt, display_name=name,
        avatar_url="https://pictures.example/flamingo-4cb1.png")
    shown = accepted(person.show(FIRST), 201)
    equal((shown["status"], shown["issuer_signature"]), ("verified", "present"), "the card's status and signature")
    own = accepted(person.call("GET", "/me"))
    equal((own["document_number"], own["phone_number"]), (FIRST["number"], person.number), "the own row")
    accepted(person.call("GET", f"/identity-cards/{shown['id']}"))
    other = ENDPOINT + "spoonbill-77aa"
    hunt.add("spoonbill-77aa", "hoopoe-31ff")
    equal(accepted(person.call("PATCH", "/me", json={"push_endpoint": other}))["push_endpoint"], other, "the endpoint")
    refused(person.call("PATCH", "/me", json={"push_endpoint": "hoopoe-31ff"}), 400, "malformed_request")
    export = json.dumps(accepted(person.call("GET", "/me/export")))
    expect(all(text in export for text in (FIRST["street"], "flamingo", CREDENTIAL)), "the export lacks data")
    admin.run("user", "show", person.user_id)
    expect(FIRST["number"] in json.dumps(admin.run("user", "show", person.user_id, "--reveal", "ticket:1")), "show")
    admin.run("user", "export", person.user_id, "--reason", "ticket:1")
    return person


def reviewed(chosen, provider, admin, hunt, texts):
    """A user whose cards wait for a reviewer: one is rejected, one approved, one is left."""
    person = Person(chosen, provider, "second", texts, hunt, display_name="Oystercatcher Plover")
    hunt.add("bitternest", "shrikeling")
    for decision, reason in (("reject", "bitternest"), ("approve", "shrikeling"), (None, None)):
        shown = accepted(person.show(SECOND), 201)
        equal(shown["status"], "in_review", "the card's status")
        equal(admin.run("review", "list")[0]["card_id"], shown["id"], "the card in review")
        expect(SECOND["number"] in json.dumps(admin.run("review", "show", shown["id"])), "the review lacks data")
        if decision:
            admin.run("review", decision, shown["id"], "--reason", reason)
            equal(admin.run("review", "show", shown["id"])["reason"], reason, "the reason")
            admin.refuse("review", decision, shown["id"], "--reason", reason)
    return person


def archived(chosen, admin, people, refused_card):
    """Archives the verified users: age opens the file with the right key, and gone from the rows is what policy says."""
    identity, output = f"{chosen.directory}/identity", f"{chosen.directory}/archive.age"
    made = subprocess.run(["age-keygen", "-o", identity], capture_output=True, check=True, text=True, timeout=60)
    recipient = made.stderr.split()[-1]
    common = ("user", "archive", "--since", "2026-01-01", "--recipient", recipient)
    report = admin.run(*common, "--output", output, "--purge")
    equal((report["users"], report["marked"], report["purged"]), (2, 2, True), "the report")
    opened = subprocess.run(
        ["age", "--decrypt", "-i", identity, output], capture_output=True, check=True, text=True, timeout=60)
    lines = {line["user_id"]: line for line in map(json.loads, opened.stdout.splitlines())}
    for person, card in zip(people, (FIRST, SECOND)):
        line = lines.pop(person.user_id)
        equal((line["phone_number"], line["document_number"]), (person.number, card["number"]), "the line")
        expect(line["postal_address"].startswith(card["street"]), "the line lacks the address")
        own = accepted(person.call("GET", "/me"))
        equal((own["postal_address"], own["document_number"]), (None, None), "what was purged")
        equal((own["full_name"], own["assurance"]), (line["full_name"], "barcode"), "what stays")
        export = json.dumps(admin.run("user", "export", person.user_id, "--reason", "ticket:1"))
        equal(card["street"] in export, person in refused_card, "whether the export holds the address")
    equal(lines, {}, "further lines")
    admin.refuse(*common, "--output", output)
    admin.refuse("user", "archive", "--since", "2026-01-01", "--recipient", "age1nobody", "--output", output + "2")
    again = admin.run(*common, "--output", output + "3")
    equal((again["users"], again["marked"]), (0, 0), "a second archive")
    os.remove(identity)


def refusals(person, provider, hunt):
    """What is refused stays nowhere: an expired card, unreadable ones, numbers and tokens that are none."""
    hunt.add("corncrake", "whimbrel", "capercaillie", "turnstone")
    refused(person.show(EXPIRED), 422, "card_rejected")
    for body in ({"aamva": base64.b64encode(b"corncrake corncrake").decode()}, {"aamva": "corncrake!"},
                 {"mrz": "P<UTOCORNCRAKE<<WHIMBREL"}, {"corncrake": "whimbrel"}, {"aamva": "Y29y", "mrz": "whimbrel"}):
        answer = person.call("POST", "/identity-cards", json=body)
        expect(400 <= answer.status_code < 500, f"{answer.status_code} for {body}")
    answer = person.call("POST", "/phone-verifications", json={"phone_number": "+1415whimbrel"})
    refused(answer, 400, "malformed_request")
    token = provider.identity_token("third", person.device.nonce(), aud="elsewhere", display_name="Capercaillie")
    refused(person.device.create_session(token), 422, "invalid_identity_token")
    refused(person.call("GET", "/turnstone?turnstone=turnstone"), 404, "not_found")


def open_files(pid):
    """The regular files that a process has open, read through it: also those that have no name any more."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            if stat.S_ISREG(os.stat(link).st_mode):
                yield os.readlink(link), link.read_bytes()
        except (FileNotFoundError, PermissionError):
            continue


def search_process(chosen, hunt, admin):
    """Searches what the running service keeps and says."""
    opened = dict(open_files(chosen.pid))
    for name in ("store.db", "store.db-wal", "store.db-shm", "log"):
        expect(any(path.endswith("/" + name) for path in opened), f"the service does not have {name} open")
    for path, data in opened.items():
        if not path.endswith("/texts.jsonl"):
            hunt.search(path, data)
    search_directory(chosen, hunt)
    hunt.search("the metrics", requests.get(chosen.ops + "/metrics", timeout=60).content)
    hunt.search("the standard error of admin commands", admin.errors)


def search_directory(chosen, hunt):
    """Searches the files that lie in the service's directory, by whomever they were left."""
    for path in Path(chosen.directory).rglob("*"):
        if path.is_file() and path.name != "texts.jsonl":
            hunt.search(path, path.read_bytes())


def stop(chosen):
    """Asks the service to stop and waits until its store is closed."""
    os.kill(chosen.pid, signal.SIGTERM)
    soon(lambda: not alive(chosen) or re.search(r"\) Z ", Path(f"/proc/{chosen.pid}/stat").read_text()),
         "the service does not stop")


def alive(chosen):
    """Whether the process is there, if only as a zombie."""
    return Path(f"/proc/{chosen.pid}/stat").exists()


def main():
    """Plants, searches, stops, searches again."""
    parser = options.parser(__doc__)
    for name in ("countersign", "directory"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--pid", required=True, type=int)
    chosen = parser.parse_args()
    admin, hunt, texts = Admin(chosen), Hunt(), Path(chosen.directory) / "texts.jsonl"
    for card in (FIRST, SECOND, EXPIRED):
        hunt.add(*card_canaries(card))
    hunt.add(SIGNED)
    provider = new_provider(chosen, admin)
    first = verified(chosen, provider, admin, hunt, texts)
    second = reviewed(chosen, provider, admin, hunt, texts)
    refusals(second, provider, hunt)
    hunt.control()
    expect(any(form in texts.read_bytes() for form in hunt.canaries[first.number[1:]]), "the search is blind")
    search_process(chosen, hunt, admin)
    # The second user has a card in review left, which nothing is dropped from.
    archived(chosen, admin, (first, second), {second})
    accepted(first.call("DELETE", "/me"), 202)
    admin.run("user", "erase", second.user_id, "--reason", "user_request", "--yes")
    search_process(chosen, hunt, admin)
    stop(chosen)
    search_directory(chosen, hunt)
    print(f"{len(hunt.canaries)} canaries, {hunt.searched} bytes searched, none found")


if __name__ == "__main__":
    main()
