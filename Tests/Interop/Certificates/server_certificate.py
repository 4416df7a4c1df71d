"""Replaces the server's certificate under a running service and sends SIGHUP: new connections to both listeners are shown
the new one, open ones go on, the log names it, and a file that does not fit its key changes nothing."""

import hashlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from Shared import options
from Shared.checks import accepted, equal, expect, soon, whole_lines
from Shared.client import TIMEOUT, Device, https


def shown(url, authority):
    """The SHA-256 of the certificate that a new connection is shown."""
    context = ssl.create_default_context(cafile=authority)
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), TIMEOUT) as plain:
        with context.wrap_socket(plain, server_hostname=place.hostname) as secured:
            return hashlib.sha256(secured.getpeercert(binary_form=True)).hexdigest().upper()


def reload(chosen, message):
    """Sends the signal and waits for what the log says; the line."""
    log = Path(chosen.directory, "log")

    def found():
        lines = [json.loads(line) for line in whole_lines(log)]
        return [line for line in lines if line.get("message") == message]

    before = len(found())
    os.kill(chosen.pid, signal.SIGHUP)
    return soon(lambda: found()[before:], f"the log does not say that {message}")[-1]


def main():
    parser = options.parser(__doc__)
    for name in ("countersign", "directory"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--pid", required=True, type=int)
    chosen = parser.parse_args()
    listeners = (chosen.public, chosen.client)
    certificate = Path(chosen.directory, "Keys", "server.pem")
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    device.nonce()
    first = shown(chosen.public, chosen.ca)
    equal([shown(url, chosen.ca) for url in listeners], [first, first], "the certificates before")

    line = reload(chosen, "the server's certificate was reloaded")
    equal((line["changed"], line["sha256"]), ("false", first), "what is said of the same certificate")

    with https(chosen.ca) as session:
        session.get(chosen.public + "/", timeout=TIMEOUT)
        shutil.move(certificate, str(certificate) + ".before")
        subprocess.run(
            [chosen.countersign, "keys", "init", "--keys", str(certificate.parent)], check=True, capture_output=True,
            timeout=60)
        line = reload(chosen, "the server's certificate was reloaded")
        second = shown(chosen.public, chosen.ca)
        expect(second != first, "the public listener shows the former certificate")
        equal([shown(url, chosen.ca) for url in listeners], [second, second], "the certificates after")
        equal((line["changed"], line["sha256"]), ("true", second), "what is said of the new certificate")
        expect(line["not_after"] > "2026", f"the log does not say until when: {line}")
        # A connection that was open keeps what it was opened with, and goes on.
        accepted(session.get(chosen.public + "/.well-known/countersign", timeout=TIMEOUT))
        device.nonce()

    certificate.write_text("no certificate\n")
    line = reload(chosen, "the server's certificate was not reloaded")
    expect("server.pem" in line["cause"], f"the log does not name the file: {line}")
    equal([shown(url, chosen.ca) for url in listeners], [second, second], "the certificates after a wrong file")
    print(f"{first[:8]} gave way to {second[:8]}")


if __name__ == "__main__":
    main()
