"""What the page on addresses says besides the way of a contact: refusals, repetitions, and the end of a proof. A part of
`contacts.py`, written from the page alone.
"""

import base64

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
    strangers(chosen, alice)
    evaluations(bob)
    proof_ends(chosen, alice, bob)
