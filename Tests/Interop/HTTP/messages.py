"""Requests as messages of HTTP (RFC 9110, 9112, 9113): what is no request, what asks for no body, what waits to be
asked for one, and who goes away. Every refusal is a problem document, and none is the service's failure.

The service's policy takes 8 KiB of header fields, and gives a request 2 s.
"""

import re
import socket
import struct
import time

import httpx
import requests

from Shared import options
from HTTP.bodies import HTTP2, Ends, head
from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT, Device
from HTTP.message_answers import POST_JSON, answer, ended, problem, tls
from HTTP.expectations import expectations, expectations_over_http2, limits_over_http2


def without_body(ends, chosen, device):
    """HEAD is GET without its body, wherever GET is, and the connection keeps its place."""
    paths = [("public", "/"), ("public", "/openapi.json"), ("public", "/certificates/authority"),
             ("public", "/.well-known/jwks.json"), ("client", "/nonce"), ("client", "/me"), ("ops", "/livez"),
             ("ops", "/readyz"), ("public", "/nowhere"), ("public", "/certificates"), ("ops", "/metrics")]
    for listener, path in paths:
        connection = ends.open(listener)
        connection.sendall(head("GET", path))
        got = answer(connection)
        connection.sendall(head("HEAD", path))
        asked = answer(connection, has_body=False)
        equal(asked[0], got[0], f"HEAD {listener} {path}")
        if path != "/metrics":
            equal(asked[1]["content-length"], got[1]["content-length"], f"the length of {path}")
        connection.sendall(head("GET", path))
        equal(answer(connection)[0], got[0], f"GET after HEAD {path}")
        connection.close()
    for url in (chosen.public + "/openapi.json", chosen.client + "/nonce"):
        with httpx.Client(http2=True, verify=tls(chosen, device), trust_env=False, timeout=TIMEOUT) as client:
            got, asked = client.get(url), client.head(url)
            equal((asked.http_version, asked.status_code, asked.content), ("HTTP/2", got.status_code, b""), url)
            equal(asked.headers["content-length"], got.headers["content-length"], f"the length of {url}")


def methods(ends, chosen, device):
    """A wrong method is told the right ones, and OPTIONS too; a path of another listener says where it is."""
    for listener, path, allowed in (
            ("public", "/certificates", "OPTIONS, POST"), ("public", "/", "GET, HEAD, OPTIONS"),
            ("client", "/sessions/current", "DELETE, GET, HEAD, OPTIONS"), ("ops", "/livez", "GET, HEAD, OPTIONS"),
            ("client", "/blocks/someone", "DELETE, OPTIONS, PUT")):
        connection = ends.open(listener)
        connection.sendall(head("PATCH", path, "Content-Length: 2") + b"{}")
        found = answer(connection)
        problem(found, 405, "method_not_allowed", f"PATCH {path}")
        equal(found[1]["allow"], allowed, f"Allow of {path}")
        connection.sendall(head("OPTIONS", path))
        found = answer(connection)
        equal((found[0], found[1]["allow"], found[2]), (204, allowed, b""), f"OPTIONS {path}")
        expect("content-length" not in found[1], "a 204 with a length")
        connection.close()
    connection = ends.open("public")
    connection.sendall(head("OPTIONS", "*"))
    expect("PUT" in answer(connection)[1]["allow"], "OPTIONS *")
    for listener, path, words in (
            ("public", "/sessions", ["client listener", chosen.client]), ("public", "/readyz", ["ops listener"]),
            ("client", "/certificates/authority", ["public listener", chosen.public]),
            ("ops", "/provider/keys", ["public listener", chosen.public])):
        connection = ends.open(listener)
        connection.sendall(head("GET", path))
        detail = problem(answer(connection), 404, "not_found", f"{path} on {listener}")["detail"]
        expect(all(word in detail for word in words), f"{path} on {listener}: {detail}")
        expect("ops" not in words[0] or "//" not in detail, detail)
        connection.close()
    # A method is any word over HTTP/2; none becomes a label of the metrics.
    with httpx.Client(http2=True, verify=tls(chosen, device), trust_env=False, timeout=TIMEOUT) as client:
        for number in range(20):
            equal(client.request(f"WORD{number}", chosen.public + "/").status_code, 405, "an unknown method")
            equal(client.request(f"WORD{number}", chosen.public + "/nowhere").status_code, 404, "an unknown path")
        equal(client.request("OPTIONS", chosen.public + "/").headers.get("content-length"), None, "a 204's length")
    expect("WORD" not in requests.get(chosen.ops + "/metrics", timeout=TIMEOUT).text, "a label of the sender's")


def malformed(ends):
    """What is no request of HTTP/1.1 is refused by a problem document that arrives, and the connection ends."""
    chunked = head(*POST_JSON, "Transfer-Encoding: chunked")
    refusals = {
        "no Host": (b"GET / HTTP/1.1\r\n\r\n", 400, "malformed_request"),
        "two Hosts": (head("GET", "/", "host: other"), 400, "malformed_request"),
        "a Host that is none": (b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "malformed_request"),
        "an empty Host": (b"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400, "malformed_request"),
        "a body without Host": (b"POST / HTTP/1.1\r\nContent-Length: 900000\r\n\r\n" + b"x" * 900000, 400,
                                "malformed_request"),
        "a chunk's size": (chunked + b"xyz\r\n{}\r\n", 400, "malformed_request"),
        "a chunk's end": (chunked + b"2\r\n{}x\r\n0\r\n\r\n", 400, "malformed_request"),
        "a chunk that nobody reads": (
            head("GET", "/", "Transfer-Encoding: chunked") + b"zz\r\n", 400, "malformed_request"),
        "gzip": (head(*POST_JSON, "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", 501, "transfer_coding_unknown"),
        "chunked not last": (head(*POST_JSON, "Transfer-Encoding: chunked, x"), 400, "malformed_request"),
        "chunked twice": (
            head(*POST_JSON, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + b"0\r\n\r\n", 400,
            "malformed_request"),
        "two lengths": (head(*POST_JSON, "Content-Length: 2", "Transfer-Encoding: chunked"), 400, "malformed_request"),
        "no length": (head(*POST_JSON, "Content-Length: x"), 400, "malformed_request"),
        "no words": (bytes(range(1, 200)) + b"\r\n\r\n", 400, "malformed_request"),
        "a version": (b"GET / HTTP/3.7\r\nHost: x\r\n\r\n", 400, "malformed_request"),
        "a long field": (head("GET", "/", "X: " + "x" * 12000), 431, "header_fields_too_large"),
        "many fields": (head("GET", "/", *(f"X-{number}: 1" for number in range(80))), 431, "header_fields_too_large"),
        "a long target": (head("GET", "/" + "x" * 12000), 414, "target_too_long"),
    }
    for listener in ("public", "client", "ops"):
        for what, (data, status, code) in refusals.items():
            connection = ends.open(listener)
            connection.sendall(data)
            if listener != "public" and "chunk's" in what:
                # No such path there: refused all the same, whether as no path or as no body.
                expect(400 <= answer(connection)[0] < 500, what)
                connection.close()
                continue
            found = answer(connection)
            problem(found, status, code, f"{listener}: {what}")
            equal(found[1]["connection"], "close", f"{what}: Connection")
            equal(ended(connection, what), b"", f"{what}: more than one answer")
        connection = ends.open(listener)
        connection.sendall(head("GET", "/a") + head("GET", "/b") + b"GET / HTTP/1.1\r\n\r\n" + head("GET", "/c"))
        equal([answer(connection)[0] for _ in range(3)], [404, 404, 400], "in their turn")
        equal(ended(connection, "in their turn"), b"", "after the refusal")


def old_versions(ends):
    """HTTP/1.0 is closed unless it asks otherwise; who wants another protocol is answered, and closed."""
    for listener in ("public", "client", "ops"):
        connection = ends.open(listener)
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        equal(answer(connection)[1]["connection"], "close", "HTTP/1.0")
        equal(ended(connection, "HTTP/1.0"), b"", "HTTP/1.0")
        connection = ends.open(listener)
        for _ in range(2):
            connection.sendall(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            equal(answer(connection)[1]["connection"], "keep-alive", "HTTP/1.0 with keep-alive")
        connection.close()
        connection = ends.open(listener)
        connection.sendall(head("GET", "/", "Connection: close"))
        equal(answer(connection)[1]["connection"], "close", "Connection: close")
        ended(connection, "Connection: close")
        connection = ends.open(listener)
        connection.sendall(head("GET", "/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAA"))
        equal(answer(connection)[1]["connection"], "close", "Upgrade")
        ended(connection, "Upgrade")


def counted(chosen, status):
    """How many requests are counted under statuses that fit."""
    text = requests.get(chosen.ops + "/metrics", timeout=TIMEOUT).text
    return sum(float(count) for count in
               re.findall(r'^countersign_http_requests_total\{[^}]*status="' + status + r'"[^}]*\} (\S+)', text, re.M))


def gone(ends, chosen):
    """Who goes away in the midst of a body, resets a stream or is cut off by a deadline is no failure of the service."""
    before = counted(chosen, "499")
    half = head(*POST_JSON, "Content-Length: 20") + b'{"csr"'
    for listener in ("public", "ops"):
        for way in ("reset", "close", "half"):
            connection = ends.open(listener)
            connection.sendall(half if listener == "public" else head("GET", "/livez", "Transfer-Encoding: chunked"))
            time.sleep(0.2)
            if way == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if way == "half":
                connection.shutdown(socket.SHUT_WR)
                time.sleep(0.2)
            connection.close()
    late = ends.open("public")
    late.sendall(half)
    for code in (8, None):
        connection = HTTP2(ends, "public")
        connection.machine.send_headers(1, [
            (":method", "POST"), (":path", "/certificates"), (":scheme", "https"), (":authority", "localhost"),
            ("content-type", "application/json")])
        connection.machine.send_data(1, b'{"csr"')
        connection.flush()
        time.sleep(0.2)
        if code:
            connection.machine.reset_stream(1, code)
            connection.flush()
            time.sleep(0.2)
        connection.socket.close()
    ended(late, "a body that does not come")
    soon(lambda: counted(chosen, "499") >= before + 9,
         lambda: f"{counted(chosen, '499') - before} requests that nobody waited for, not 9")
    equal(counted(chosen, "499") - before, 9, "requests that nobody waited for")


def main():
    chosen = options.parser(__doc__).parse_args()
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    ends = Ends(chosen, device)
    without_body(ends, chosen, device)
    methods(ends, chosen, device)
    malformed(ends)
    old_versions(ends)
    expectations(ends)
    expectations_over_http2(ends)
    limits_over_http2(ends)
    gone(ends, chosen)
    equal(counted(chosen, "5(?!01)[0-9]+"), 0, "failures of the service")
    equal(requests.get(chosen.ops + "/readyz", timeout=TIMEOUT).json()["ready"], True, "ready")


if __name__ == "__main__":
    main()
