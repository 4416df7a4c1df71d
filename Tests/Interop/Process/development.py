"""A service in development mode: a test number by zeros, a card of `countersign sample card`, a test event to a receiver on
this machine, and `countersign inbox` with the texts and with why one is missing. Nothing is limited."""

import http.server
import json
import os
import subprocess
import threading

import jwt

from Shared import options
from Cards.cards import me, submit
from Shared.checks import accepted, equal, expect, refused, soon
from Shared.client import Device
from Providers.events import set_webhook
from Shared.phones import begin, check, wait_for_texts


class Receiver(http.server.BaseHTTPRequestHandler):
    """Keeps the tokens that it is sent."""

    seen = []

    def do_POST(self):
        self.seen.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        """Says nothing."""


def command(chosen, *words):
    """The output of a command in the service's directory."""
    return subprocess.run(
        [chosen.countersign, *words], cwd=chosen.directory, check=True, capture_output=True, text=True, timeout=60,
        env=os.environ | {"COUNTERSIGN_TEXTS": chosen.texts}).stdout


def phone(chosen, device, token):
    """A test number has zeros; another has not; of a withheld text the inbox says why."""
    number = "+12025550123"
    started = accepted(begin(device, token, number), 202)["id"]
    equal(wait_for_texts(chosen.texts, number), ["000000"], "the code in the text")
    refused(check(device, token, started, "000001"), 422, "verification_failed")
    accepted(check(device, token, started, "000000"))
    other = "+14155550123"
    started = accepted(begin(device, token, other), 202)["id"]
    [code] = wait_for_texts(chosen.texts, other)
    if code != "000000":
        refused(check(device, token, started, "000000"), 422, "verification_failed")
    foreign = "+447911123456"
    accepted(begin(device, token, foreign), 202)
    accepted(begin(device, token, other), 202)
    found = soon(
        lambda: json.loads(command(chosen, "inbox", "--json", "--to", foreign)), "nothing is in the inbox")
    equal([(one["to"], one["withheld"]) for one in found], [(foreign, "country")], "what is withheld")
    expect("phones.yaml" in found[0]["mend"], f"the mend is {found[0]['mend']}")
    shown = command(chosen, "inbox")
    for words in (number, "000000", "NO TEXT (country)", "NO TEXT (still_open)"):
        expect(words in shown, f"{words!r} is not in {shown}")
    equal(len(command(chosen, "inbox", "--limit", "2").splitlines()), 2, "the number of lines")


def card(chosen, device, token):
    """A specimen raises the level, whatever state it is of."""
    printed = json.loads(command(chosen, "sample", "card", "--json", "--state", "ca", "--name", "Ada B Sample"))
    equal(printed["name"], "ADA B SAMPLE", "the name")
    equal(accepted(submit(device, token, aamva=printed["aamva"]), 201)["status"], "verified", "the card's status")
    equal(accepted(me(device, token))["assurance"], "barcode", "the level")
    text = command(chosen, "sample", "card")
    expect(text.startswith("@\n\x1e\n" if "\r" not in text else "@\n\x1e\r"), f"the text begins with {text[:5]!r}")


def events(chosen, provider):
    """A receiver on this machine, by http; as many tests as one likes."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    accepted(set_webhook(provider, f"http://127.0.0.1:{server.server_address[1]}/events"))
    names = {accepted(provider.call("POST", "/provider/webhook/test"), 202)["jti"] for _ in range(3)}

    def came():
        claims = [jwt.decode(token, options={"verify_signature": False}) for token in list(Receiver.seen)]
        return {one["jti"] for one in claims} == names and claims

    soon(came, lambda: f"{len(Receiver.seen)} of {len(names)} tests came")


def main():
    parser = options.parser(__doc__)
    for name in ("countersign", "texts", "directory"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    provider = options.provider(chosen)
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    session = accepted(device.create_session(provider.identity_token("ada", device.nonce())), 201)
    phone(chosen, device, session["session_token"])
    card(chosen, device, session["session_token"])
    events(chosen, provider)
    # Limits are off: far more sign-ins than the policy allows in a minute.
    for _ in range(40):
        accepted(device.create_session(provider.identity_token("eve", device.nonce())), 201)
    print("developed")


if __name__ == "__main__":
    main()
