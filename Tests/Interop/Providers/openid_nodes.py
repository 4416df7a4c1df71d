"""The recipe of an OpenID provider that runs, on two nodes over one PostgreSQL: one node reads the issuer's key set, and both
take ID tokens by it, also when the issuer is away.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from Shared.checks import accepted, equal, expect, refused, soon
from Shared.client import TIMEOUT, Device
from Shared.installation import Installation

SCRIPT = str(Path(__file__).with_name("openid_provider.py"))


def sign_in(issuer, user, nonce):
    """An ID token, as the recipe takes it."""
    done = subprocess.run(
        # A nonce may begin with a hyphen, as an option does.
        [sys.executable, SCRIPT, "sign-in", "--", issuer, user, nonce], capture_output=True, text=True, timeout=60, check=False)
    equal(done.returncode, 0, "the exit code of sign-in: " + done.stderr[-500:])
    return done.stdout.strip()


def reading(made):
    """When the issuer was read well, as the operator sees it."""
    [provider] = [one for one in json.loads(made.admin("provider", "list", "--json")) if one["slug"] == "openid"]
    return provider["issuer"]["read_at"]


def awaited(device, token, status):
    """The answer to a sign-in, when it has the status that it comes to."""
    def answered():
        answer = device.create_session(token)
        return [answer] if answer.status_code == status else []

    return soon(answered, f"no sign-in has the status {status}")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("countersign", "policies", "directory", "store", "psql"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    os.environ["COUNTERSIGN_LOOPBACK_URLS"] = "on"
    made = Installation(chosen.countersign, chosen.policies, chosen.directory, chosen.store)
    provider = subprocess.Popen([sys.executable, SCRIPT, "run"], stdout=subprocess.PIPE, text=True)
    try:
        ready = json.loads(provider.stdout.readline())
        made.admin("provider", "add", "--issuer", ready["issuer"], "--audience", ready["client_id"], "--slug", "openid")
        nodes = [made.node(name) for name in ("a", "b")]
        devices = [Device(node.public, node.client, made.authority, "EC") for node in nodes]
        for device in devices:
            accepted(device.certify(), 201)

        def token(device, user="alice"):
            return sign_in(ready["issuer"], user, device.nonce())

        users = {accepted(device.create_session(token(device)), 201)["user_id"] for device in devices}
        equal(len(users), 1, "the users whom both nodes know by one ID")

        # The operator takes the client away on both nodes, and gives it back.
        client = ("openid", "--audience", ready["client_id"])
        made.admin("provider", "client", "add", "openid", "--audience", "another")
        made.admin("provider", "client", "remove", *client)
        for device in devices:
            refused(awaited(device, token(device), 422), 422, "invalid_identity_token", "wrong_audience")
        made.admin("provider", "client", "add", *client)
        for device in devices:
            accepted(awaited(device, token(device), 201), 201)

        # A minute later, as the store has it, with another key.
        minute = "UPDATE issuers SET attempted_at = attempted_at - 61000, read_at = read_at - 61000"
        subprocess.run([*chosen.psql.split(), "-qc", minute], check=True, timeout=60, stdin=subprocess.DEVNULL)
        for node in nodes:
            node.kill()
            node.start()
        for device in devices:
            device.reconnect()
        before = reading(made)
        provider.send_signal(signal.SIGHUP)
        equal(json.loads(provider.stdout.readline()), {"signs_with": "key-2"}, "the key")
        first, second = (token(device, "bob") for device in devices)
        accepted(devices[0].create_session(first), 201)
        read = reading(made)
        expect(read > before, "no node has read the key set")
        # The other node reads nothing: there is nobody to ask.
        provider.terminate()
        provider.wait(TIMEOUT)

        def is_open():
            answer = devices[1].create_session(second)
            if answer.status_code != 201:
                refused(answer, 422, "invalid_identity_token", "unknown_key")
            return answer.status_code == 201

        soon(is_open, "the key that is new stays unknown")
        equal(reading(made), read, "the last good reading")
        for device in devices:
            device.close()
    finally:
        provider.kill()
        provider.wait(TIMEOUT)
    made.stop()
    for node in nodes:
        expect("internal_error" not in node.log.read_text(), f"an answer of {node.name} was an internal error")
    print("one node read, both accept")


if __name__ == "__main__":
    main()
