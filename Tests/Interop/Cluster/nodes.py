"""Several nodes on one store behave as one.

    python3 nodes.py --mode together|limits|outbox … --node PUBLIC CLIENT OPS TEXTS … \\
        --countersign FILE --directory DIRECTORY --store URL

The usual options name the first node, each `--node` another; `--directory` holds `Keys`, `Policies` and the first node's
`texts.jsonl`.
"""

import json
import subprocess
import threading
import time
import uuid
from collections import Counter
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from Shared import options
from Shared import specimen
from Shared.checks import accepted, equal, expect, refused, whole_lines
from Shared.client import TIMEOUT, Device, https, new_key
from Phone.phone import at_once, counted
from Shared.phones import TEXT_WAIT, begin, check, code_of, new_number, texts, wrong

# Own writes are seen at once; those of other nodes within this many seconds.
BOUND = 1.0
# What one answer of a debug build on a busy machine may take besides.
ONE_ANSWER = 0.5


class Node:
    """One of the processes."""

    def __init__(self, public, client, ops, texts):
        self.public, self.client, self.ops, self.texts = public, client, ops, Path(texts)


class World:
    """The nodes, the provider, and the command line."""

    def __init__(self, chosen):
        first = Node(chosen.public, chosen.client, chosen.ops, Path(chosen.directory, "texts.jsonl"))
        self.chosen = chosen
        self.nodes = [first] + [Node(*node) for node in chosen.node]
        self.provider = options.provider(chosen)

    def admin(self, *arguments):
        """The JSON that a command of another process prints."""
        directory = self.chosen.directory
        done = subprocess.run(
            [
                self.chosen.countersign, *arguments, "--json", "--keys", f"{directory}/Keys", "--policies",
                f"{directory}/Policies", "--store", self.chosen.store,
            ],
            capture_output=True, timeout=30)
        expect(done.returncode == 0, f"{arguments[:2]} ended with {done.returncode}: {done.stderr.decode()}")
        return json.loads(done.stdout)

    def device(self):
        """A new device, as it speaks to each node: one key and certificate, connections of their own."""
        device = Device(self.nodes[0].public, self.nodes[0].client, self.chosen.ca, "EC")
        accepted(device.certify(), 201)
        return [device] + [device.at(node.public, node.client) for node in self.nodes[1:]]

    def log_in(self, device, user=None, provider=None):
        """A session of a user, a new one unless it is named."""
        token = (provider or self.provider).identity_token(user or f"user-{uuid.uuid4()}", device.nonce())
        return accepted(device.create_session(token), 201)

    def codes(self, number, count=1):
        """The codes that went to a number, whichever node sent them."""
        deadline = time.monotonic() + TEXT_WAIT
        while True:
            found = [line for node in self.nodes for line in texts(node.texts, number)]
            if len(found) >= count or time.monotonic() > deadline:
                equal(len(found), count, f"the number of texts to {number}")
                return [code_of(line) for line in found]
            time.sleep(0.02)


def on_all(what, questions):
    """Asks every node until each has said yes; fails where one takes longer than the bound and one answer."""
    started, waiting, slowest = time.monotonic(), dict(enumerate(questions)), 0.0
    while waiting:
        for index, happened in list(waiting.items()):
            if happened():
                slowest = time.monotonic() - started
                del waiting[index]
        expect(
            not waiting or time.monotonic() - started < BOUND + ONE_ANSWER,
            f"{what} was not in force after {BOUND} s on nodes {sorted(waiting)}")
        time.sleep(0.01)
    print(f"passed  {what}: in force on {len(questions)} nodes after {slowest:.2f} s", flush=True)


def says(devices, token, status, code):
    """For each node a question: whether it refuses the session so."""

    def ask(device):
        answer = device.current(token)
        return answer.status_code == status and answer.json()["code"] == code

    return [lambda device=device: ask(device) for device in devices]


def is_shut_out(device, token):
    """Whether a node has nothing more to do with a certificate: it refuses, or lets no connection come about."""
    try:
        return device.current(token).status_code == 403
    except OSError:
        return True


def parallel(calls):
    """Makes calls at once; their results, in no order."""
    results, lock = [], threading.Lock()

    def work(call):
        result = call()
        with lock:
            results.append(result)

    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(len(results), len(calls), "the number of answers")
    return results


# Together


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


# Limits


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


# Outbox


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

    while sum(map(len, sent())) < count and time.monotonic() - started < 90:
        time.sleep(0.1)
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
