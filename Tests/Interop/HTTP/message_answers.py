"""Answers of the service, read as bytes, and connections that end."""

import json
import re
import ssl

from HTTP.bodies import PATIENCE
from Shared.checks import equal, expect

POST_JSON = ("POST", "/certificates", "Content-Type: application/json")


def answer(connection, has_body=True):
    """Status, header fields and body of one answer; fails where it does not come."""
    connection.settimeout(PATIENCE)
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(1)
        expect(more, f"the connection ended before an answer: {data!r}")
        data += more
    fields = {name.lower(): value for name, value in re.findall(r"\r\n([^:]+): *([^\r]*)", data.decode())}
    status, body = int(data.split()[1]), b""
    size = int(fields.get("content-length", 0)) if has_body and status >= 200 else 0
    while len(body) < size:
        more = connection.recv(size - len(body))
        expect(more, f"the connection ended in a body: {body!r}")
        body += more
    return status, fields, body


def problem(found, status, code, what):
    """A whole problem document of this status and code."""
    equal((found[0], found[1].get("content-type")), (status, "application/problem+json"), what)
    document = json.loads(found[2])
    for member in ("type", "title", "detail", "request_id"):
        expect(document.get(member), f"{what}: {member} is missing")
    equal((document["status"], document["code"]), (status, code), what)
    expect(found[1].get("date"), f"{what}: no Date")
    return document


def ended(connection, what):
    """The service ends the connection; what it still says is returned."""
    connection.settimeout(PATIENCE)
    rest = b""
    try:
        while more := connection.recv(65536):
            rest += more
    except TimeoutError:
        expect(False, f"{what}: the connection stays open")
    except ConnectionError:
        pass
    connection.close()
    return rest


def tls(chosen, device):
    """A context that shows the device's certificate where one is asked for."""
    context = ssl.create_default_context(cafile=chosen.ca)
    context.load_cert_chain(*device.files)
    return context
