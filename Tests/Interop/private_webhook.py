"""A webhook on this machine is refused when it is set in the clear, and never spoken to when its host turns out private."""

import socket
import time

import options
from checks import accepted, equal, expect, refused
from client import Device
from events import set_webhook


def main():
    chosen = options.parser(__doc__).parse_args()
    provider = options.provider(chosen)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    refused(set_webhook(provider, f"http://127.0.0.1:{port}/"), 400, "malformed_request")
    for host in ("127.0.0.1", "localhost", "10.0.0.1", "[::1]"):
        accepted(set_webhook(provider, f"https://{host}:{port}/"))
        device = Device(chosen.public, chosen.client, chosen.ca, "EC")
        accepted(device.certify(), 201)
        answer = device.create_session(provider.identity_token("eve", device.nonce()))
        equal(device.end_session(accepted(answer, 201)["session_token"]).status_code, 204, "the status")
    listener.settimeout(3)
    started = time.monotonic()
    try:
        listener.accept()
        expect(False, "the service spoke to a private address")
    except TimeoutError:
        expect(time.monotonic() - started > 2.5, "it was not waited for")
    print("private receivers are left alone")


if __name__ == "__main__":
    main()
