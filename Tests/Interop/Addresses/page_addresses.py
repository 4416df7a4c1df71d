"""What the page on addresses says besides the way of a contact: refusals, repetitions, and the end of a proof. A part of
`contacts.py`, written from the page alone.
"""

import base64
import json
import re
import uuid
from pathlib import Path

from Addresses import voprf
from Messaging.herald_client import Person
from Shared import options
from Shared.checks import accepted, equal, expect, refused
from Shared.phones import begin, check, wait_for_texts


def encode(data):
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def evaluate(person, week, *blinded):
    """`POST /contact-discovery/evaluations`."""
    return person.call("POST", "/contact-discovery/evaluations", json={"week": week, "blinded": list(blinded)})


def decode(text):
    """Bytes of base64url."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def examples():
    """The examples of the OpenAPI document are one exchange, of the number and the secrets that the page has."""
    sources = Path(__file__).resolve().parents[3] / "Sources" / "API"
    paths = json.loads((sources / "openapi.json").read_text(encoding="utf-8"))["paths"]
    page_text = (sources / "API.docc" / "Addresses.md").read_text(encoding="utf-8").split("are one exchange", 1)[1]
    scalar, output = (bytes.fromhex(text) for text in re.findall(r"`([0-9a-f]{96})`", page_text)[:2])
    number = re.search(r"`(\+[0-9]+)`", page_text).group(1).encode()
    user = re.search(r"`([0-9a-f]{8}-[0-9a-f-]{27})`", page_text).group(1)

    def answer(path, method="get"):
        return paths[path][method]["responses"]["200"]["content"]["application/json"]["example"]

    week, evaluations = answer("/contact-discovery"), answer("/contact-discovery/evaluations", "post")["evaluations"]
    question = paths["/contact-discovery/evaluations"]["post"]["requestBody"]["content"]["application/json"]["example"]
    equal(question["week"], week["week"], "the week of the example")
    _, element = voprf.blind(number, int.from_bytes(scalar, "big"))
    equal(question["blinded"], [encode(element)], "the blinded number")
    evaluated, proof = decode(evaluations[0])[:49], decode(evaluations[0])[49:]
    expect(voprf.proves(decode(week["public_key"]), [element], [evaluated], proof), "the example's proof does not hold")
    equal(voprf.finalize(number, int.from_bytes(scalar, "big"), evaluated), output, "the output")
    entries = decode(answer("/contact-discovery/entries")["entries"])
    pairs = {entries[place:place + 16]: entries[place + 16:place + 32] for place in range(0, len(entries), 32)}
    found = bytes(one ^ other for one, other in zip(pairs[output[:16]], output[32:], strict=True))
    equal(str(uuid.UUID(bytes=found)), user, "the user of the example")


def strangers(chosen, someone):
    """Without a proven number no number is shared, and nobody is looked up."""
    person = Person(chosen, options.provider(chosen), "nina")
    equal(refused(person.call("PUT", "/me/addresses/phone"), 409, "conflict")["state"], "none", "the state")
    refused(person.call("POST", "/addresses/resolve", json={"address": someone.address}), 403, "not_verified")
    for path in ("/contact-discovery", "/contact-discovery/entries?week=1&bucket=0&bits=0"):
        refused(person.call("GET", path), 403, "not_verified")
    # The name is proven at each sign-in, and needs no level.
    for method, findable in (("PUT", ["name"]), ("DELETE", [])):
        for _ in range(2):
            equal(person.call(method, "/me/addresses/name").status_code, 204, f"{method}, and again")
        found = accepted(person.call("GET", "/me/addresses"))["findable"]
        equal([one["type"] for one in found], findable, "what can be found")
    refused(person.call("PUT", "/me/addresses/mail"), 404, "not_found")


def evaluations(person):
    """So many elements of the group are evaluated at once, each with a proof of its own; nothing else is."""
    week = accepted(person.call("GET", "/contact-discovery"))
    key = base64.urlsafe_b64decode(week["public_key"] + "=" * (-len(week["public_key"]) % 4))
    expect(week["suite"] == "P384-SHA384" and 0 <= week["bits"] <= 8 and len(key) == 49, f"{week}")
    _, element = voprf.blind(person.number.encode())
    good = encode(element)
    found = accepted(evaluate(person, week["week"], *[good] * 64))["evaluations"]
    expect(len(found) == 64 and all(len(one) == 194 for one in found), "64 evaluations of 145 bytes")
    for wrong in ([good] * 65, [], [encode(bytes(49))], [encode(b"\2" + b"\xff" * 48)], [good + "="], [good[:-2]], ["!"]):
        refused(evaluate(person, week["week"], *wrong), 400, "malformed_request")
    refused(evaluate(person, week["week"] - 5, good), 404, "not_found")
    place = "/contact-discovery/entries?"
    for query, status in ((f"week={week['week']}&bucket=0&bits=9", 404), (f"week={week['week'] - 5}&bucket=0&bits=0", 404),
                          (f"week={week['week']}&bucket=1&bits=0", 404), (f"week={week['week']}&bucket=x&bits=0", 400),
                          ("bucket=0&bits=0", 400)):
        answer = person.call("GET", place + query)
        refused(answer, status, "not_found" if status == 404 else "malformed_request")
    # Decoys are the same at each download.
    pages = [accepted(person.call("GET", f"{place}week={week['week']}&bucket=0&bits={week['bits']}")) for _ in range(2)]
    equal(pages[0], pages[1], "a bucket, downloaded twice")


def proof_ends(chosen, person, other):
    """A number that another user proves is no way to its former owner, who shares it again after proving it again."""
    equal(person.call("PUT", "/me/addresses/phone").status_code, 204, "the sharing")
    equal(accepted(other.find(person.number))["user_id"], person.user, "who is found")
    export = accepted(person.call("GET", "/me/export"))
    expect("phone" in str(export["findable_addresses"]), f"the export has {export['findable_addresses']}")
    started = accepted(begin(other.device, other.token, person.number), 202)
    code = wait_for_texts(chosen.texts, person.number, 2)[-1]
    accepted(check(other.device, other.token, started["id"], code))
    refused(other.find(person.number), 404, "not_found")
    found = accepted(person.call("GET", "/me/addresses"))["findable"]
    equal([one["type"] for one in found], ["name"], "what can be found")


def page(chosen, alice, bob):
    """All of it."""
    examples()
    strangers(chosen, alice)
    evaluations(bob)
    proof_ends(chosen, alice, bob)
