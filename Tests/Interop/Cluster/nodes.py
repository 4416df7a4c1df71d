"""Several nodes on one store behave as one.

    python3 nodes.py --mode together|limits|outbox … --node PUBLIC CLIENT OPS TEXTS … \\
        --countersign FILE --directory DIRECTORY --store URL

The usual options name the first node, each `--node` another; `--directory` holds `Keys`, `Policies` and the first node's
`texts.jsonl`.
"""

import json
import threading
import time
import uuid
from collections import Counter
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from Shared import options
from Shared import specimen
from Shared.checks import accepted, equal, expect, refused, soon, whole_lines
from Shared.client import TIMEOUT, Device, https, new_key
from Phone.phone import at_once, counted
from Shared.phones import begin, check, new_number, wrong
from Cluster.node_world import World, is_shut_out, on_all, parallel, says


def spends_once(world):
    """A nonce of the first node is spent on the second, and then nowhere again; of parallel spends one wins."""
    devices = world.device()
    token = world.provider.identity_token("first", devices[0].nonce())
    accepted(devices[1].create_session(token), 201)
    for device in devices:
        refused(device.create_session(token), 422, "invalid_identity_token", "nonce_used")
    connections = [devices[0].at(node.public, node.client) for node in world.nodes for _ in range(2)]
    for device in connections:
        accepted(device.ask_nonce(), 201)
    for attempt in range(10):
        token = world.provider.identity_token(f"racer-{attempt}", devices[attempt % len(devices)].nonce())
        answers = parallel([lambda device=device: device.create_session(token) for device in connections])
        equal(sorted(answer.status_code for answer in answers), [201] + [422] * 5, "the answers to one nonce")
        reasons = {answer.json()["reason"] for answer in answers if answer.status_code == 422}
        equal(reasons, {"nonce_used"}, "the reasons")
    print("passed  a nonce: spent once, of ten times six spends on all nodes at once one won each time", flush=True)


def sessions(world):
    """A session of the first node is known on all, is challenged on all, and renewed on the last."""
    devices, user = world.device(), f"user-{uuid.uuid4()}"
    opened = world.log_in(devices[0], user)
    token = opened["session_token"]
    for device in reversed(devices):
        accepted(device.current(token))
    world.admin("session", "challenge", opened["session_id"])
    on_all("a challenge", says(devices, token, 401, "session_challenged"))
    renewed = accepted(
        devices[-1].renew_session(token, world.provider.identity_token(user, devices[0].nonce())))["session_token"]
    for device in devices:
        accepted(device.current(renewed))
    on_all("the end of the challenged token", says(devices, token, 401, "session_destroyed"))
    accepted(devices[1].end_session(renewed), 204)
    on_all("the end of a session", says(devices, renewed, 401, "session_destroyed"))


def bans(world):
    """A ban ends the session on all nodes, and none lets the user sign in."""
    devices, user = world.device(), f"user-{uuid.uuid4()}"
    token = world.log_in(devices[0], user)["session_token"]
    for device in devices:
        accepted(device.current(token))
    world.admin("ban", "add", "--user", f"{world.provider.slug}/{user}", "--reason", "spam")

    def ended(node):
        # The connection may have been closed with the ban.
        answer = devices[0].at(node.public, node.client).current(token)
        return answer.status_code == 401 and answer.json()["code"] == "session_destroyed"

    on_all("a ban", [lambda node=node: ended(node) for node in world.nodes])
    for node in world.nodes:
        device = devices[0].at(node.public, node.client)
        answer = device.create_session(world.provider.identity_token(user, device.nonce()))
        refused(answer, 403, "user_banned", "spam")


def provider_keys(world):
    """A provider's key that is revoked with its sessions opens none on any node, and its sessions are over."""
    devices, key = world.device(), new_key("EC")
    path = Path(world.chosen.directory, f"{uuid.uuid4()}.pem")
    path.write_bytes(key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    key_id = world.admin("provider", "key", "add", world.provider.slug, "--key", str(path))["key_id"]
    other = world.provider.holding(key, key_id)

    def opens(device):
        return device.create_session(other.identity_token(f"user-{uuid.uuid4()}", device.nonce()))

    on_all("a provider's key", [lambda device=device: opens(device).status_code == 201 for device in devices])
    token = world.log_in(devices[1], provider=other)["session_token"]
    for device in devices:
        accepted(device.current(token))
    ended = world.admin("provider", "key", "revoke", key_id, "--end-sessions", "--yes")["sessions_ended"]
    equal(ended, len(devices) + 1, "the sessions that ended")
    on_all("the revocation of a provider's key", says(devices, token, 401, "session_destroyed"))
    for device in devices:
        refused(opens(device), 422, "invalid_identity_token", "key_retired")


def certificates(world):
    """A revoked certificate is refused on all nodes, and each one's revocation list has it."""
    devices = world.device()
    token = world.log_in(devices[0])["session_token"]
    for device in devices:
        accepted(device.current(token))
    serial = devices[0].certificate.serial_number
    world.admin("certificate", "revoke", f"{serial:032x}")

    def shut_out(device):
        device.reconnect()
        return is_shut_out(device, token)

    on_all("the revocation of a certificate", [lambda device=device: shut_out(device) for device in devices])
    numbers = set()
    with https(world.chosen.ca) as connection:
        for node in world.nodes:
            answer = connection.get(node.public + "/certificates/revocations", timeout=TIMEOUT)
            crl = x509.load_der_x509_crl(answer.content)
            expect(crl.get_revoked_certificate_by_serial_number(serial), "a node's list does not have it")
            numbers.add(crl.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number)
    equal(len(numbers), 1, "the number of lists")


def guesses(world):
    """Of wrong codes on all nodes at once five are compared; the right one verifies once, and again gives that answer."""
    devices, ops = world.device(), [node.ops for node in world.nodes]
    clients = [node.client for node in world.nodes]
    token = world.log_in(devices[0])["session_token"]
    number = new_number()
    started = accepted(begin(devices[0], token, number), 202)["id"]
    [code] = world.codes(number)
    statuses = at_once(devices[0], token, started, [wrong(code)] * 90, clients, workers=18)
    compared, not_compared = counted(ops, "wrong"), counted(ops, "not_compared")
    equal((dict(statuses), compared, not_compared), ({422: 90}, 5, 85), "90 wrong guesses")
    refused(check(devices[1], token, started, code), 422, "verification_failed")
    number = new_number()
    started = accepted(begin(devices[1], token, number), 202)["id"]
    [code] = world.codes(number)
    statuses = at_once(devices[0], token, started, [code] * 30, clients, workers=18)
    # The answer is repeated as often as codes are compared, however many come at once.
    expect(set(statuses) == {200, 422} and 1 <= statuses[200] <= 10, f"30 right guesses: {dict(statuses)}")
    print("passed  a code: of 90 wrong guesses five were compared, the right one verified once", flush=True)


def status(world):
    """The operator sees the nodes, and that they agree."""
    nodes = world.admin("status")["nodes"]
    equal(len(nodes), len(world.nodes), "the number of nodes")
    expect(all(node["policies_agree"] and node["host"] and node["version"] for node in nodes), f"the nodes are {nodes}")


def number_limit(world, devices):
    """Two texts an hour go to a number, whichever nodes are asked by whom."""
    number = new_number()
    people = [world.log_in(devices[0])["session_token"] for _ in range(6)]
    answers = parallel([
        lambda device=devices[index % len(devices)], token=token: begin(device, token, number)
        for index, token in enumerate(people)])
    equal({answer.status_code for answer in answers}, {202}, "the answers")
    world.codes(number, 2)
    time.sleep(0.5)
    world.codes(number, 2)
    print("passed  the limit by number: two of six texts", flush=True)


def address_limit(world, devices):
    """An address causes ten texts an hour, six of which are used up: a right code gave the seventh back."""
    people = [world.log_in(devices[0])["session_token"] for _ in range(12)]
    answers = parallel([
        lambda device=devices[index % len(devices)], token=token: begin(device, token, new_number())
        for index, token in enumerate(people)])
    equal(Counter(answer.status_code for answer in answers), {202: 4, 429: 8}, "the answers")
    print("passed  the limit by address: four of twelve texts after six", flush=True)


def card_limit(world, devices, token):
    """A user shows two cards in six hours, wherever; what can be read counts, also where it is rejected."""
    numberless = specimen.aamva(number=None)
    answers = parallel([
        lambda device=device: device.call("POST", "/identity-cards", token, json={"aamva": numberless})
        for device in devices for _ in range(3)])
    equal(Counter(answer.status_code for answer in answers), {422: 2, 429: 7}, "the answers")
    print("passed  the limit by user for cards: two of nine submissions", flush=True)


def certification_limit(world):
    """An address gets five certificates an hour; a right code on its device gave back the one that was used up."""
    devices = [Device(node.public, node.client, world.chosen.ca, "EC") for node in world.nodes for _ in range(4)]
    answers = parallel([device.certify for device in devices])
    equal(Counter(answer.status_code for answer in answers), {201: 5, 429: 7}, "the answers")
    print("passed  the limit by address for certificates: five of twelve after one that was given back", flush=True)


def limits(world):
    """Limits by number, address and card hold across the nodes."""
    devices = world.device()
    # The card needs a proven number; its text counts for the address.
    token, number = world.log_in(devices[0])["session_token"], new_number()
    started = accepted(begin(devices[0], token, number), 202)["id"]
    accepted(check(devices[1], token, started, world.codes(number)[0]))
    number_limit(world, devices)
    address_limit(world, devices)
    card_limit(world, devices, token)
    certification_limit(world)


def outbox(world):
    """Hundreds of texts that were asked for on all nodes are sent once each."""
    devices, count = world.device(), 240
    people = [world.log_in(devices[0])["session_token"] for _ in range(6)]
    numbers = [f"+1415{2000000 + index * 7:07d}" for index in range(count)]
    waiting, lock, failures = list(enumerate(numbers)), threading.Lock(), []

    def work(index):
        node = world.nodes[index % len(world.nodes)]
        device = devices[0].at(node.public, node.client)
        while True:
            with lock:
                if not waiting:
                    return
                _, number = waiting.pop()
            answer = begin(device, people[index % len(people)], number)
            if answer.status_code != 202:
                failures.append(answer.text)

    started = time.monotonic()
    parallel([lambda index=index: work(index) for index in range(9)])
    equal(failures, [], "what was not accepted")

    def sent():
        return [
            [json.loads(line)["to"] for line in whole_lines(node.texts)] if node.texts.exists() else []
            for node in world.nodes]

    soon(lambda: sum(map(len, sent())) >= count, lambda: f"only {sum(map(len, sent()))} of {count} texts were sent")
    taken = time.monotonic() - started
    # A second look: what is sent twice comes late.
    time.sleep(2)
    found = Counter(number for node in sent() for number in node)
    equal(sorted(found), sorted(numbers), "the numbers")
    equal(max(found.values()), 1, "the most texts to one number")
    equal(world.admin("outbox", "list", "--state", "waiting"), [], "what waits")
    shares = [len(node) for node in sent()]
    print(f"passed  the outbox: {count} texts once each in {taken:.1f} s, by nodes {shares}", flush=True)


def main():
    """Runs the steps of a mode."""
    parser = options.parser(__doc__)
    parser.add_argument("--mode", choices=["together", "limits", "outbox"], required=True)
    parser.add_argument("--node", nargs=4, action="append", default=[])
    for name in ("countersign", "directory", "store"):
        parser.add_argument(f"--{name}", required=True)
    world = World(parser.parse_args())
    modes = {
        "together": [spends_once, sessions, bans, provider_keys, certificates, guesses, status], "limits": [limits],
        "outbox": [outbox],
    }
    for step in modes[world.chosen.mode]:
        step(world)
    print(f"{len(world.nodes)} nodes behaved as one")


if __name__ == "__main__":
    main()
