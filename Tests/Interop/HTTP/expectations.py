"""Requests that ask for leave to send their bodies: a part of `messages.py`."""

import h2.events

from HTTP.bodies import HTTP2, PATIENCE, head
from Shared.checks import equal, expect
from HTTP.message_answers import answer, ended, problem


def expectations(ends):
    """`Expect: 100-continue`: asked for the body when it is read, and not where the request is refused before."""
    body = b'{"csr":"x"}'
    expects = ("Expect: 100-Continue", "Content-Type: application/json")
    connection = ends.open("public")
    for coding, data in ((f"Content-Length: {len(body)}", body),
                         ("Transfer-Encoding: chunked", b"b\r\n" + body + b"\r\n0\r\n\r\n")):
        connection.sendall(head("POST", "/certificates", *expects, coding))
        equal(answer(connection)[0], 100, coding)
        connection.sendall(data)
        problem(answer(connection), 422, "invalid_csr", coding)
    # Who does not wait is not asked.
    connection.sendall(head("POST", "/certificates", *expects, f"Content-Length: {len(body)}") + body)
    expect(answer(connection)[0] in (100, 422), "the body at once")
    connection.close()
    for listener, path, coding, status in (
            ("client", "/phone-verifications", "Content-Length: 20", 401),
            ("client", "/phone-verifications", "Transfer-Encoding: chunked", 401),
            ("public", "/certificates", "Content-Length: 900000", 413), ("public", "/nowhere", "Content-Length: 20", 404)):
        connection = ends.open(listener)
        connection.sendall(head("POST", path, *expects, coding))
        found = answer(connection)
        equal((found[0], found[1]["connection"]), (status, "close"), f"{path} {coding}")
        equal(ended(connection, path), b"", path)
    connection = ends.open("public")
    connection.sendall(b"POST /certificates HTTP/1.0\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}")
    expect(answer(connection)[0] != 100, "HTTP/1.0 was told to go on")
    connection.close()


def expectations_over_http2(ends):
    """The same over HTTP/2, where a refusal ends the stream and not the connection."""
    fields = [(":scheme", "https"), (":authority", "localhost"), ("content-type", "application/json"),
              ("expect", "100-continue")]
    connection = HTTP2(ends, "public")
    machine = connection.machine
    machine.send_headers(1, [(":method", "POST"), (":path", "/certificates"), *fields])
    connection.flush()
    seen = []
    connection.socket.settimeout(PATIENCE)
    while "ended" not in seen:
        for event in machine.receive_data(connection.socket.recv(65536)):
            if isinstance(event, h2.events.InformationalResponseReceived):
                seen.append("asked")
                machine.send_data(1, b'{"csr":"x"}', end_stream=True)
            elif isinstance(event, h2.events.ResponseReceived):
                seen.append(dict(event.headers)[":status"])
            elif isinstance(event, h2.events.StreamEnded):
                seen.append("ended")
        connection.flush()
    equal(seen, ["asked", "422", "ended"], "over HTTP/2")
    connection.socket.close()
    connection = HTTP2(ends, "client")
    machine = connection.machine
    machine.send_headers(1, [(":method", "POST"), (":path", "/phone-verifications"), *fields])
    connection.flush()
    seen = []
    connection.socket.settimeout(PATIENCE)
    while "ended" not in seen:
        for event in machine.receive_data(connection.socket.recv(65536)):
            expect(not isinstance(event, h2.events.InformationalResponseReceived), "asked for a body that nobody reads")
            if isinstance(event, h2.events.ResponseReceived):
                seen.append(dict(event.headers)[":status"])
            elif isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
                seen.append("ended")
        connection.flush()
    equal(seen[0], "401", "over HTTP/2")
    equal(connection.request("GET", "/nonce"), 401, "the next stream")
    connection.socket.close()


def limits_over_http2(ends):
    """Header limits hold on a stream of HTTP/2, which is refused alone."""
    connection = HTTP2(ends, "client")
    equal(connection.request("GET", "/nonce", [("x", "x" * 9000)]), 431, "a long field")
    equal(connection.request("GET", "/nonce", [("x", "x" * 17_000)]), 431, "a field beyond the library's own limit")
    equal(connection.request("GET", "/nonce", [(f"x-{number}", "1") for number in range(80)]), 431, "many fields")
    equal(connection.request("GET", "/" + "x" * 9000), 414, "a long path")
    equal(connection.request("POST", "/nonces", [("x", "x" * 9000)], 100), 431, "with a body")
    equal(connection.request("GET", "/nonce"), 401, "the next stream")
    connection.socket.close()
