"""The operator's webhook gets each text under one `webhook-id`, however often it is tried: the id of the outbox.

`--port` is where the service's policy says that the receiver is, `--secret` what it signs with. The first attempt at each
text is answered by 503.
"""

import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

from standardwebhooks.webhooks import Webhook

from Shared import options
from Audit.audit import Commands
from Shared.checks import accepted, equal, expect, soon
from Shared.client import Device
from Shared.phones import begin, new_number
from Shared.stand_in import Handler


class Receiver(Handler):
    """Keeps the id of each attempt by the number that it is for; what is not signed well ends the test."""

    secret, attempts = None, {}

    def do_POST(self):
        event = Webhook(Receiver.secret).verify(self.body(), dict(self.headers))
        tried = Receiver.attempts.setdefault(event["data"]["to"], [])
        tried.append(self.headers["webhook-id"])
        self.answer(503 if len(tried) == 1 else 204)


def main():
    parser = options.parser(__doc__)
    for name in ("countersign", "directory", "port", "secret"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    Receiver.secret = Path(chosen.secret).read_text().strip()
    server = ThreadingHTTPServer(("127.0.0.1", int(chosen.port)), Receiver)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    provider = options.provider(chosen)
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    token = accepted(device.create_session(provider.identity_token("ida", device.nonce())), 201)["session_token"]
    numbers = [new_number() for _ in range(3)]
    for number in numbers:
        accepted(begin(device, token, number), 202)
    soon(lambda: all(len(Receiver.attempts.get(number, [])) >= 2 for number in numbers), "a text was tried only once")
    ids = []
    for number in numbers:
        tried = Receiver.attempts[number]
        equal(len(tried), 2, "the attempts")
        equal(tried[0], tried[1], "the webhook-id of the second attempt")
        ids.append(tried[0])
    expect(len(set(ids)) == 3, "two texts have one id")
    listed = {f"msg_{message['id']}" for message in Commands(chosen).json("outbox", "list")}
    equal(listed, set(ids), "the ids in the outbox")
    server.shutdown()
    print("one id for all attempts")


if __name__ == "__main__":
    main()
