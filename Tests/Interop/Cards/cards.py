"""Steps: the identity card behind a proven phone number, and what users see, take along and erase of themselves."""

import datetime
import random
import uuid

from Shared import specimen
from Shared.checks import accepted, challenged, equal, expect, moment, not_stored, now, refused, step
from Shared.phones import begin, check, new_number, texts, wait_for_texts

CHECKS = {
    "unexpired", "date_order", "minimum_age", "issuer", "mandatory_elements", "document_number", "check_digits",
    "birthday", "number_format", "number_rule", "postal_code", "address_jurisdiction", "name", "other_name", "po_box",
    "conformance", "contradiction", "specimen", "issuer_signature", "uniqueness", "same_person",
}


def new_document():
    """The number of a Virginian licence that no earlier run is likely to have shown."""
    return f"T{random.randint(0, 99_999_999):08}"


def new_person():
    """Members of a specimen that make it somebody else's: a name and a number."""
    letters = "".join(random.choice("BCDFGHJKLMNPQRSTVWXZ") for _ in range(10))
    return {"number": new_document(), "family": f"SAMPLE{letters}"}


def submit(device, token, **members):
    """`POST /identity-cards`."""
    return device.call("POST", "/identity-cards", token, json=members)


def me(device, token):
    """`GET /me`."""
    return device.call("GET", "/me", token)


def prove_phone(world, device, token, number=None, **members):
    """Brings a user to the level `phone`, and gives the number."""
    number = number or new_number()
    earlier = len(texts(world.texts, number))
    started = accepted(begin(device, token, number, **members), 202)
    code = wait_for_texts(world.texts, number, earlier + 1)[-1]
    accepted(check(device, token, started["id"], code))
    return number


def prove_identity(world, device, token, **changes):
    """Brings a user to the level `barcode`, and gives the answer to the card."""
    prove_phone(world, device, token)
    return accepted(submit(device, token, aamva=specimen.aamva(**(new_person() | changes))), 201)


@step
def card_fills_the_row(world):
    """Before the phone proof a card is refused; after it the card fills the user's own row, at the level barcode."""
    device, person, user = world.device(), new_person(), world.user()
    session = world.log_in(device, user)
    token = session["session_token"]
    before = accepted(me(device, token))
    equal((before["assurance"], before["phone_number"], before["full_name"]), ("none", None, None), "the row before")
    body = refused(submit(device, token, aamva=specimen.aamva(**person)), 409, "conflict")
    equal(body["state"], "none", "state")
    number = prove_phone(world, device, token)
    answer = submit(device, token, aamva=specimen.aamva(**person))
    shown = accepted(answer, 201)
    not_stored(answer)
    equal((shown["status"], shown["assurance"]), ("verified", "barcode"), "status and assurance")
    equal({check["name"] for check in shown["checks"]}, CHECKS, "the checks")
    equal(shown["issuer_signature"], "none", "the issuer's signature")
    failed = [check for check in shown["checks"] if check["result"] == "failed"]
    equal(failed, [], "the failed checks")
    card = shown["card"]
    equal(card["document_number"], person["number"][-4:], "what is shown of the number")
    equal((card["jurisdiction"], card["date_of_birth"]), ("VA", "1986-06-16"), "jurisdiction and birthday")
    equal(card["address"]["postal_code"], "23269", "the postal code")
    row = accepted(me(device, token))
    equal(row["user_id"], session["user_id"], "user_id")
    equal((row["phone_number"], row["assurance"]), (number, "barcode"), "number and level")
    equal(row["document_number"], person["number"], "document_number")
    expect(person["family"].title() in row["full_name"].title(), f"the name is {row['full_name']!r}")
    expect("23269" in row["postal_address"], f"the address is {row['postal_address']!r}")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    equal(row["age"], today.year - 1986 - ((today.month, today.day) < (6, 16)), "age")
    expect(moment(row["identity_verified_at"]) <= now(), "it is verified in the future")
    again = accepted(device.call("GET", f"/identity-cards/{shown['id']}", token))
    equal(again["card"], card, "the card as it is shown later")
    refused(device.call("GET", f"/identity-cards/{uuid.uuid4()}", token), 404, "not_found")
    equal(accepted(world.provider.introspect(token))["assurance"], "barcode", "the level that the provider is told")
    known = accepted(world.provider.user(user))
    equal((known["age_over_18"], known["age_over_21"], known["initials"]), (True, True, "MS"), "what the provider is told")


@step
def number_passes_on(world):
    """Who proves a number after somebody else gets the number and nothing of the other's identity."""
    device = world.device()
    first = world.log_in(device, world.user())["session_token"]
    number = prove_phone(world, device, first)
    accepted(submit(device, first, aamva=specimen.aamva(**new_person())), 201)
    second = world.log_in(device, world.user())["session_token"]
    prove_phone(world, device, second, number)
    old, new = accepted(me(device, first)), accepted(me(device, second))
    equal((old["assurance"], old["suspended"]), ("none", "phone_reassigned"), "the old binding")
    equal((new["assurance"], new["full_name"], new["phone_number"]), ("phone", None, number), "the new binding")


@step
def push_endpoint_changes(world):
    """Where pushes go is an endpoint of this service's applications, at any level; null takes it away."""
    device = world.device()
    token = world.log_in(device, world.user())["session_token"]
    change = lambda value: device.call("PATCH", "/me", token, json={"push_endpoint": value})
    equal(accepted(change(None))["push_endpoint"], None, "push_endpoint")
    refused(change("arn:aws:sns:us-east-1:123456789012:endpoint/APNS/elsewhere/" + str(uuid.uuid4())), 400,
            "malformed_request")
    refused(device.call("PATCH", "/me", token, json={}), 400, "malformed_request")
    equal(accepted(change(None))["push_endpoint"], None, "push_endpoint")


@step
def export_and_erase(world):
    """A user takes everything along, is erased with a receipt, and is a stranger when signing in again."""
    device, user = world.device(), world.user()
    session = world.log_in(device, user)
    token = session["session_token"]
    shown = prove_identity(world, device, token)
    answer = device.call("GET", "/me/export", token)
    held = accepted(answer)
    not_stored(answer)
    equal(held["assurance"], "barcode", "the level")
    equal([card["id"] for card in held["cards"]], [shown["id"]], "the cards")
    equal(held["cards"][0]["date_of_birth"], "1986-06-16", "the card's birthday")
    equal([entry["id"] for entry in held["sessions"]], [session["session_id"]], "the sessions")
    receipt = accepted(device.call("DELETE", "/me", token), 202)["receipt"]
    uuid.UUID(receipt)
    challenged(world, me(device, token), "session_destroyed")
    again = world.log_in(device, user)
    equal(again["assurance"], "none", "the level of the stranger")
    row = accepted(me(device, again["session_token"]))
    equal((row["full_name"], row["phone_number"]), (None, None), "what is held of the stranger")
