"""Handshakes that fail: what the client is told, what is counted, and of which a line is in the log.

A certificate lives 10 seconds here, and a handshake may take 3.
"""

import json
import socket
import ssl
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path

from Shared import options
from Shared.checks import accepted, equal, expect, soon, whole_lines
from Shared.client import Device
from HTTP.http2_frames import context


def address(url):
    parts = urllib.parse.urlsplit(url)
    return parts.hostname, parts.port


def counted(chosen):
    """The counters of handshakes, by listener and result."""
    text = urllib.request.urlopen(chosen.ops + "/metrics", timeout=60).read().decode()
    found = {}
    for line in text.splitlines():
        if line.startswith("countersign_handshakes_total{"):
            labels = dict(part.split("=") for part in line[line.index("{") + 1:line.index("}")].split(","))
            found[labels["listener"].strip('"'), labels["result"].strip('"')] = float(line.split()[-1])
    return found


def plain(chosen):
    """HTTP without TLS gets a problem document in the clear, and the connection ends."""
    for url in (chosen.public, chosen.client):
        for request in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                        b"POST /certificates HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" + b"x" * 9000,
                        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            with socket.create_connection(address(url), timeout=60) as connection:
                connection.sendall(request)
                answer = b""
                while chunk := connection.recv(65536):
                    answer += chunk
            head, _, body = answer.partition(b"\r\n\r\n")
            expect(head.startswith(b"HTTP/1.1 400 "), f"the answer is {answer[:100]!r}")
            expect(b"application/problem+json" in head and b"Connection: close" in head, head)
            problem = json.loads(body)
            equal((problem["status"], problem["code"]), (400, "malformed_request"), "the problem")
            expect("https" in problem["detail"] and problem["request_id"], problem)
            expect(f"X-Request-ID: {problem['request_id']}\r\n".encode() in head + b"\r\n", head)


def refused(url, tls):
    """What the client learns of a handshake, or of the alert after it."""
    try:
        with socket.create_connection(address(url), timeout=60) as connection:
            with tls.wrap_socket(connection, server_hostname="localhost") as secured:
                secured.sendall(b"POST /nonces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
                return "answered" if secured.recv(100) else "closed"
    except (OSError, ssl.SSLError) as error:
        return str(error)


def versions(chosen, device):
    """Which suites and signatures of TLS 1.2 are spoken."""
    def s_client(*more):
        host, port = address(chosen.client)
        done = subprocess.run(
            ["openssl", "s_client", "-connect", f"{host}:{port}", "-CAfile", chosen.ca, "-cert", device.files[0],
             "-key", device.files[1], "-tls1_2", *more], input=b"", capture_output=True, timeout=60)
        return done.returncode == 0 and b"Cipher is (NONE)" not in done.stdout

    for suite in ("ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256",
                  "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"):
        expect(s_client("-cipher", suite), f"{suite} is refused")
    for suite in ("ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384",
                  "AES128-GCM-SHA256", "AES256-SHA"):
        expect(not s_client("-cipher", suite + ":@SECLEVEL=0"), f"{suite} is spoken")
    expect(s_client("-client_sigalgs", "RSA+SHA256"), "SHA-256 is refused")
    expect(not s_client("-client_sigalgs", "RSA+SHA1", "-cipher", "DEFAULT:@SECLEVEL=0"), "SHA-1 is accepted")


def abandoned(url):
    """Connections that say nothing, go at once, or end in the middle of a record."""
    silent = socket.create_connection(address(url), timeout=60)
    for first in (b"", b"", b"\x16\x03\x01\x02\x00\x01", b"\x16\x03\x01", b""):
        with socket.create_connection(address(url), timeout=60) as connection:
            connection.sendall(first)
    equal(silent.recv(1), b"", "what who says nothing is told")
    silent.close()


def logged(chosen):
    """The lines of failed handshakes, by listener and result."""
    lines = {}
    for line in whole_lines(Path(chosen.log)):
        if '"a handshake failed"' in line:
            line = json.loads(line)
            lines.setdefault((line["listener"], line["result"]), []).append(line)
    return lines


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--log", required=True)
    parser.add_argument("--expired", default="expired", help="the alert for a certificate beyond its life")
    chosen = parser.parse_args()
    began = time.monotonic()
    plain(chosen)
    for url in (chosen.public, chosen.client):
        abandoned(url)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            # It trusts nobody, and says so by an alert.
            distrustful = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            distrustful.minimum_version = distrustful.maximum_version = version
            expect("CERTIFICATE_VERIFY_FAILED" in refused(url, distrustful), "who trusts nobody connects")
    device = Device(chosen.public, chosen.client, chosen.ca, "RSA")
    accepted(device.certify(), 201)
    certified = time.monotonic()
    versions(chosen, device)
    said = refused(chosen.client, context(chosen.ca))
    expect("CERTIFICATE_REQUIRED" in said.upper() or "certificate required" in said, f"without a certificate: {said}")
    with socket.create_connection(address(chosen.public), timeout=60) as connection:
        connection.sendall(b"\0\1\2\3" * 10)
        while connection.recv(65536):
            pass
    old = context(chosen.ca)
    old.set_ciphers("AES128-SHA:@SECLEVEL=0")
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    refused(chosen.public, old)
    time.sleep(max(0, certified + 11 - time.monotonic()))
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        tls = context(chosen.ca, device.files)
        tls.minimum_version = tls.maximum_version = version
        said = refused(chosen.client, tls)
        words = f"certificate {chosen.expired}"
        expect(words.replace(" ", "_").upper() in said.upper() or words in said, f"{version.name}: {said}")
    stranger = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
         "-keyout", device.files[1] + ".x", "-out", device.files[0] + ".x"], capture_output=True, timeout=60)
    equal(stranger.returncode, 0, "openssl's exit status")
    said = refused(chosen.client, context(chosen.ca, (device.files[0] + ".x", device.files[1] + ".x")))
    expect(said != "answered", "a stranger's certificate is accepted")
    least = {("client", "no_certificate"): 1, ("client", "certificate_expired"): 2,
             ("client", "unknown_authority"): 1, ("public", "not_tls"): 1, ("public", "nothing_in_common"): 1}
    for listener in ("public", "client"):
        least |= {(listener, "plain_http"): 3, (listener, "timeout"): 1, (listener, "closed"): 5,
                  (listener, "refused_by_client"): 2}
    # A handshake is counted after its alert was sent.
    soon(
        lambda: all(counted(chosen).get(key, 0) >= count and logged(chosen).get(key) for key, count in least.items()),
        "fewer handshakes were counted and logged than there were")
    found = counted(chosen)
    print(json.dumps({f"{listener} {kind}": count for (listener, kind), count in sorted(found.items())}))
    for listener in ("public", "client"):
        expect(found.get((listener, "ok"), 0) >= 1, f"no handshake of {listener} succeeded")
    lines = logged(chosen)
    expect(not [key for key in lines if key[1] == "ok"], "a handshake that succeeded is in the log")
    for key, count in least.items():
        expect(found.get(key, 0) >= count, f"{key} was counted {found.get(key)} times")
        # One line in ten seconds for each kind, which says how many there were no lines for.
        expect(1 <= len(lines.get(key, [])) <= 1 + (time.monotonic() - began) // 10, f"{key}: {lines.get(key)}")
        omitted = sum(int(line.get("omitted", 0)) for line in lines[key])
        expect(len(lines[key]) + omitted <= found[key], f"{key}: {lines[key]} of {found[key]}")


if __name__ == "__main__":
    main()
