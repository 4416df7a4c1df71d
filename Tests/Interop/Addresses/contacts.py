"""Two users who find each other: by an address, and privately by the judge's own VOPRF.

    python3 contacts.py … --texts FILE
"""

import base64
import uuid

from Shared import options
from Addresses import voprf
from Addresses.page_addresses import page
from Shared.checks import accepted, equal, expect, refused, soon
from Shared.client import Device
from Shared.phones import begin, check, new_number, wait_for_texts



class Person:
    """A user with a proven number, at a device."""

    def __init__(self, chosen, name):
        self.device = Device(chosen.public, chosen.client, chosen.ca, "EC")
        expect(self.device.certify().status_code == 201, "the device is not certified")
        token = options.provider(chosen).identity_token(name, self.device.nonce())
        session = accepted(self.device.create_session(token), 201)
        self.token, self.user, self.address = session["session_token"], session["user_id"], session["address"]
        self.number = new_number()
        started = accepted(begin(self.device, self.token, self.number), 202)
        [code] = wait_for_texts(chosen.texts, self.number)
        accepted(check(self.device, self.token, started["id"], code))

    def call(self, method, path, **members):
        """A call in the session."""
        return self.device.call(method, path, self.token, **members)

    def find(self, address):
        """`POST /addresses/resolve`."""
        return self.call("POST", "/addresses/resolve", json={"address": address})


def encode(data):
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text):
    """Bytes of base64url."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def discover(person, numbers):
    """The users who can be found by numbers; each proof is verified."""
    week = accepted(person.call("GET", "/contact-discovery"))
    equal(week["suite"], "P384-SHA384", "the suite")
    key, bits = decode(week["public_key"]), week["bits"]
    blinded = [voprf.blind(number.encode()) for number in numbers]
    answer = accepted(person.call("POST", "/contact-discovery/evaluations", json={
        "week": week["week"], "blinded": [encode(element) for _, element in blinded]}))
    found = {}
    for number, (scalar, element), text in zip(numbers, blinded, answer["evaluations"], strict=True):
        evaluation = decode(text)
        evaluated, proof = evaluation[:49], evaluation[49:]
        expect(voprf.proves(key, [element], [evaluated], proof), "the proof does not hold")
        output = voprf.finalize(number.encode(), scalar, evaluated)
        path = f"/contact-discovery/entries?week={week['week']}&bucket={output[0] >> (8 - bits)}&bits={bits}"
        entries = decode(accepted(person.call("GET", path))["entries"])
        expect(len(entries) >= 4096 * 32, "the bucket is small")
        for place in range(0, len(entries), 32):
            tag, masked = entries[place:place + 16], entries[place + 16:place + 32]
            if tag == output[:16]:
                identifier = bytes(one ^ other for one, other in zip(masked, output[32:]))
                found[number] = str(uuid.UUID(bytes=identifier))
    return found


def main():
    """The whole walk."""
    parser = options.parser(__doc__)
    parser.add_argument("--texts", required=True)
    chosen = parser.parse_args()
    voprf.try_vectors()
    alice, bob = (Person(chosen, f"{name}-{uuid.uuid4()}") for name in ("alice", "bob"))
    for address in (alice.number, alice.address):
        refused(bob.find(address), 404, "not_found")
    for kind in ("phone", "name"):
        equal(alice.call("PUT", f"/me/addresses/{kind}").status_code, 204, "the sharing")
    for address in (alice.number, alice.address):
        equal(accepted(bob.find(address))["user_id"], alice.user, "who is found")
    found = soon(lambda: discover(bob, [alice.number]), "nobody is discovered")
    equal(found, {alice.number: alice.user}, "who is discovered")
    equal(discover(bob, [bob.number, alice.number, new_number()]), found, "who is discovered among others")
    equal(alice.call("DELETE", "/me/addresses/phone").status_code, 204, "the hiding")
    equal(discover(bob, [alice.number]), {}, "who is discovered when hidden")
    page(chosen, alice, bob)
    print("contacts: found and hidden")


if __name__ == "__main__":
    main()
