"""Saves a TLS session with `openssl s_client`, has the certificate revoked on the command line, resumes the TLS session
and expects the request on it to be refused."""

import subprocess
import sys
import time
import urllib.parse

from Shared import options
from Shared.client import Device


def s_client(chosen, device, more):
    """One `openssl s_client` that sends one request, after which the service closes; gives all that it printed."""
    address = urllib.parse.urlsplit(chosen.client).netloc
    process = subprocess.Popen(
        ["openssl", "s_client", "-connect", address, chosen.version, "-CAfile", chosen.ca, "-cert", device.files[0], "-key",
         device.files[1], "-servername", "localhost", "-ign_eof", *more],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    request = b"POST /nonces HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    try:
        output, _ = process.communicate(request, timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
    return output.decode(errors="replace")


def main():
    parser = options.parser(__doc__)
    for name in ("countersign", "directory", "version"):
        parser.add_argument(f"--{name}", required=True)
    # The protocol's flag begins with a hyphen, as openssl's does.
    arguments = sys.argv[1:]
    arguments[arguments.index("--version"):] = ["--version=" + arguments[arguments.index("--version") + 1]]
    chosen = parser.parse_args(arguments)
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    issued = device.certify().json()
    saved = device.directory.name + "/session.pem"

    first = s_client(chosen, device, ["-sess_out", saved])
    assert "201 Created" in first, "the first connection was not answered:\n" + first
    again = s_client(chosen, device, ["-sess_in", saved])
    assert "Reused" in again, "the session was not resumed before the revocation:\n" + again
    assert "201 Created" in again, "the resumed connection was not answered:\n" + again

    subprocess.run(
        [chosen.countersign, "certificate", "revoke", issued["serial"], "--store",
         f"sqlite:{chosen.directory}/store.db"], check=True, capture_output=True, timeout=60)
    time.sleep(1)
    after = s_client(chosen, device, ["-sess_in", saved])
    assert "Reused" in after, "the session was not resumed after the revocation:\n" + after
    assert "403 Forbidden" in after and "certificate_revoked" in after, "it was not refused:\n" + after
    print("refused on the resumed session")


if __name__ == "__main__":
    main()
