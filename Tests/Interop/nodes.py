"""Two nodes on one store behave as one: nonces, sessions, ends of sessions and revocations of certificates.

    python3 nodes.py --public URL --client URL --ops URL --ca FILE --provider FILE --provider-key FILE \\
        --other-public URL --other-client URL
"""

import threading
import time

import options
from checks import accepted, equal, expect
from client import Device

# Own writes are seen at once; those of other nodes within this many seconds.
BOUND = 1.0


def at(device, client):
    """The same device, with the same certificate, on connections to another node."""
    other = Device(device.public, client, device.authority, "EC")
    other.key, other.certificate, other.device_id = device.key, device.certificate, device.device_id
    with open(device.files[0], "rb") as certificate, open(device.files[1], "rb") as key:
        other.files = (other.write("certificate.pem", certificate.read()), other.write("key.pem", key.read()))
    other.reconnect()
    return other


def within_bound(happened, what):
    """Asks until it happened; fails where that takes longer than the bound and one answer."""
    started = time.monotonic()
    while not happened():
        expect(time.monotonic() - started < BOUND + 0.5, f"{what} was not seen on the other node in time")
        time.sleep(0.02)
    print(f"passed  {what}: seen after {time.monotonic() - started:.2f} s", flush=True)


def spent_once(provider, device, other):
    """A nonce of one node is spent on the other, and then nowhere again."""
    nonce = device.nonce()
    session = accepted(other.create_session(provider.identity_token("first", nonce)), 201)
    for node in (device, other):
        answer = node.create_session(provider.identity_token("first", nonce))
        equal(answer.status_code, 422, "the status for a spent nonce")
    return session["session_token"]


def raced(provider, device, other):
    """Of many who spend one nonce on both nodes at once, one wins."""
    for attempt in range(10):
        token = provider.identity_token(f"racer-{attempt}", device.nonce())
        nodes = [at(device, node.client) for node in (device, other) for _ in range(3)]
        for node in nodes:
            accepted(node.ask_nonce(), 201)
        answers = []
        threads = [
            threading.Thread(target=lambda node=node: answers.append(node.create_session(token).status_code))
            for node in nodes
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(sorted(answers), [201] + [422] * 5, "the answers to one nonce")


def main():
    """Runs the steps on two nodes."""
    parser = options.parser(__doc__)
    parser.add_argument("--other-public", required=True)
    parser.add_argument("--other-client", required=True)
    chosen = parser.parse_args()
    provider = options.provider(chosen)
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    other = at(device, chosen.other_client)

    token = spent_once(provider, device, other)
    raced(provider, device, other)

    # Created on the second node, known on the first at once, and on both after both have shown it.
    accepted(device.current(token))
    accepted(other.current(token))
    expect(device.end_session(token).status_code in (200, 204), "the session could not be ended")
    equal(device.current(token).status_code, 401, "an ended session on the node that ended it")
    within_bound(lambda: other.current(token).status_code == 401, "the end of a session")

    nonce = device.nonce()
    last = accepted(device.create_session(provider.identity_token("last", nonce)), 201)["session_token"]
    accepted(other.current(last))
    accepted(device.revoke_itself(), 204)

    def is_refused():
        try:
            return at(other, chosen.other_client).current(last).status_code != 200
        except OSError:
            # The other node has closed the connection, or lets the certificate make no new one.
            return True

    within_bound(is_refused, "the revocation of a certificate")
    print("two nodes behaved as one")


if __name__ == "__main__":
    main()
