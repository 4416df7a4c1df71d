"""Sends each listener what no client would, and expects an answer or an end of the connection, and a service that is
ready afterwards."""

import random
import socket
import ssl
import urllib.parse

import requests

from Shared import options
from Shared.client import TIMEOUT, Device, https


def address(url):
    """Host and port of a listener."""
    parts = urllib.parse.urlsplit(url)
    return parts.hostname, parts.port


def raw(url, data):
    """Sends bytes without TLS and reads what comes, for at most two seconds."""
    with socket.create_connection(address(url), timeout=1) as connection:
        try:
            connection.sendall(data)
            return connection.recv(65536)
        except OSError:
            return b""


def over_tls(chosen, data, device=None):
    """Sends bytes inside TLS and reads what comes, for at most two seconds."""
    context = ssl.create_default_context(cafile=chosen.ca)
    if device:
        context.load_cert_chain(*device.files)
    host, port = address(chosen.client if device else chosen.public)
    with socket.create_connection((host, port), timeout=TIMEOUT) as connection:
        with context.wrap_socket(connection, server_hostname=host) as tls:
            tls.settimeout(2)
            try:
                tls.sendall(data)
                return tls.recv(65536)
            except OSError:
                return b""


def main():
    chosen = options.parser(__doc__).parse_args()
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    assert device.certify().status_code == 201
    generator = random.Random(9293)
    for _ in range(10):
        data = generator.randbytes(generator.randrange(1, 4000))
        for url in (chosen.public, chosen.client, chosen.ops):
            raw(url, data)
        over_tls(chosen, data)
        over_tls(chosen, data, device)

    with https(chosen.ca) as public:
        answer = public.post(
            chosen.public + "/certificates", data=b'{"csr":"' + b"A" * 70000 + b'"}',
            headers={"Content-Type": "application/json"}, timeout=60)
        assert answer.status_code == 413 and answer.json()["code"] == "payload_too_large", answer.text
        assert public.post(chosen.public + "/certificates", data="x=1", timeout=60).status_code in (400, 415)
        for body, path in ((b'{"csr":"a","csr":"b"}', "$.csr"), (b"[" * 40, "$"), (b'{"csr":1}', "$.csr"),
                           (b'{"csr":"x","more":1}', "$.more"), (b'{"csr":"\xff"}', "$")):
            answer = public.post(
                chosen.public + "/certificates", data=body, headers={"Content-Type": "application/json"}, timeout=60)
            assert answer.status_code == 400 and path in answer.json()["detail"], (body, answer.text)

    big = over_tls(chosen, b"GET / HTTP/1.1\r\nHost: x\r\nX-Big: " + b"a" * 200000 + b"\r\n\r\n")
    assert b" 200 " not in big.split(b"\r\n")[0], big[:100]
    for lines in (b"GET  / HTTP/1.1\r\n\r\n", b"POST /nonces HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"\r\n\r\n\r\n"):
        assert b" 20" not in over_tls(chosen, lines, device).split(b"\r\n")[0]

    try:
        https(chosen.ca).post(chosen.client + "/nonces", timeout=60)
        raise AssertionError("a client without a certificate was answered")
    except requests.exceptions.RequestException:
        pass

    halves = []
    for url in (chosen.public, chosen.client):
        for _ in range(50):
            half = socket.create_connection(address(url), timeout=2)
            half.sendall(b"\x16\x03\x01")
            half.shutdown(socket.SHUT_WR)
            halves.append(half)
    assert device.call("POST", "/nonces").status_code == 201
    for half in halves:
        half.close()
    assert requests.get(chosen.ops + "/readyz", timeout=60).json()["ready"] is True
    print("ready after it all")


if __name__ == "__main__":
    main()
