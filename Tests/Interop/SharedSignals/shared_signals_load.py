"""How long a hundred receivers wait for the word of a ban: a user of one provider with a hundred push streams is banned by the
command line, and each receiver notes when it has the event. Prints the median, the time of 99 in a hundred and the longest, in
milliseconds.

The service was started with the switch that allows receivers on this machine, and with room for the streams.
"""

import http.server
import json
import threading
import time

import jwt

from Shared import options
from Bans.admin import Admin
from Shared.checks import accepted, equal, soon
from Shared.client import Device
from SharedSignals.shared_signals_receiver import PUSH, RISC, Backend, Transmitter

RECEIVERS = 100


class Receiver(http.server.BaseHTTPRequestHandler):
    """Notes when each path first had each event, and how often."""

    seen = {}

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        moment = time.time()
        [kind] = jwt.decode(body, options={"verify_signature": False})["events"]
        self.seen.setdefault((self.path, kind), []).append(moment)
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        """Says nothing."""


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256


def main():
    parser = options.parser(__doc__)
    for name in ("countersign", "directory"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    provider = options.provider(chosen)
    backend = Backend(chosen, Transmitter(chosen), provider, "ssf.manage")
    server = Server(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"http://127.0.0.1:{server.server_address[1]}/"
    for number in range(RECEIVERS):
        accepted(backend.proven("POST", {"delivery": {"method": PUSH, "endpoint_url": f"{place}{number}"}}), 201)
    device, admin, times = Device(chosen.public, chosen.client, chosen.ca, "EC"), Admin(chosen), []
    accepted(device.certify(), 201)
    for number in range(chosen.rounds):
        user = f"user-{number}"
        session = accepted(device.create_session(provider.identity_token(user, device.nonce())), 201)
        admin.run("ban", "add", "--user", session["address"], "--reason", "spam", "--for", "1h")
        start = time.time()
        wanted = (number + 1) * RECEIVERS

        def told():
            return [moments for (_, kind), moments in list(Receiver.seen.items()) if kind == RISC + "account-disabled"]

        soon(lambda wanted=wanted: sum(map(len, told())) >= wanted, "not everyone was told")
        found = told()
        equal([len(moments) for moments in found], [number + 1] * RECEIVERS, "how often each was told")
        times += [max(0, moments[number] - start) * 1000 for moments in found]
        # What else follows from the ban is sent before the next one.
        soon(lambda wanted=wanted: sum(map(len, list(Receiver.seen.values()))) >= 2 * wanted,
             "the ends of sessions did not come")
    device.close()
    times.sort()
    print(json.dumps([times[int((len(times) - 1) * part)] for part in (0.5, 0.99, 1)]))


if __name__ == "__main__":
    main()
