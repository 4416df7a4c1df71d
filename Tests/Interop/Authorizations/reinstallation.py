"""An app that is installed again: a part of `authorizations.py`."""

from Shared.checks import accepted, equal
from Shared.client import Device
from Shared.phones import begin, check


def reinstalled(chosen, provider, carrier, person, partner):
    """On a new device the user proves number and card again, and finds the permission and what an app shows of it."""
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    session = accepted(device.create_session(provider.identity_token(person.name, device.nonce())), 201)
    equal((session["user_id"], session["assurance"]), (person.user_id, "barcode"), "the user")
    token = session["session_token"]
    started = accepted(begin(device, token, person.number), 202)
    accepted(check(device, token, started["id"], carrier.code(person.number, earlier=1)))
    card = accepted(device.call("POST", "/identity-cards", token, json=person.card), 201)
    equal((card["status"], card["assurance"]), ("verified", "barcode"), "the card and the level")
    [row] = accepted(device.call("GET", "/authorizations?state=APPROVAL", token))["authorizations"]
    equal((row["state"], row["grant"]), ("APPROVAL", f"{person.user_id} -> {partner.user_id}"), "the permission")
    shown, own = row["partner"], accepted(partner.call("GET", "/me"))
    equal((shown["initials"][0], shown["age"], shown["assurance"]), ("M", own["age"], "barcode"),
          "what an app shows of the acceptor")
