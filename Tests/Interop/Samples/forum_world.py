"""The forum's sample, its users, and a server of pictures that strangers name."""

import base64
import http.server
import json
import ssl
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from Shared import options
from Samples import samples
from Shared.checks import accepted
from Shared.client import TIMEOUT

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")


class Pictures(http.server.BaseHTTPRequestHandler):
    """A server that strangers name."""

    asked = []

    def do_GET(self):
        Pictures.asked.append(self.path)
        found = {"/a.png": (200, PNG), "/page": (200, b"<html>"), "/large.png": (200, PNG + b"x" * 300_000)}
        status, body = found.get(self.path, (404, b""))
        if self.path == "/away":
            status = 302
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/a.png")
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class World:
    """The forum, its users, and a server of pictures."""

    def __init__(self, chosen):
        self.chosen, self.provider = chosen, options.provider(chosen)
        self.pictures = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
        threading.Thread(target=self.pictures.serve_forever, daemon=True).start()
        self.picture = f"http://127.0.0.1:{self.pictures.server_address[1]}"
        self.forum = samples.Running(chosen, "forum", audience=self.provider.provider_id, loopback_images="on")
        self.ada, self.ben = self.sign_in("ada"), self.sign_in("ben")

    def sign_in(self, name):
        device = samples.certified(self.chosen)
        session = accepted(device.create_session(self.provider.identity_token(name, device.nonce())), 201)
        return samples.SignedIn(self.forum, device, session, self.provider.provider_id)

    def make(self, person, title, **more):
        return accepted(person.post("/forum", title=title, **more), 201)

    def tls(self, person):
        context = ssl.create_default_context(cafile=self.forum.authority)
        context.load_cert_chain(*person.device.files)
        return context

    def socket(self, person, subscription, token=None):
        """A WebSocket, as PyPI's `websockets` has it."""
        return connect(
            f"{self.forum.device.replace('https', 'wss')}/websocket/{subscription}", ssl=self.tls(person),
            additional_headers={"Authorization": f"Bearer {token or person.token}"}, open_timeout=TIMEOUT,
            close_timeout=TIMEOUT, compression=None, legacy=True)

    def joined(self, person, forum):
        """A WebSocket in a forum, and its greeting."""
        made = accepted(person.post("/subscription", forum=forum["id"]), 201)
        socket = self.socket(person, made["id"])
        return socket, received(socket)


def received(socket):
    return json.loads(socket.recv(timeout=TIMEOUT))


def until(socket, kind):
    """The next event of a kind."""
    for _ in range(20):
        event = received(socket)
        if event["type"] == kind:
            return event
    raise AssertionError(f"no {kind}")


def closed(socket):
    """The code with which the other side closes."""
    try:
        for _ in range(20):
            socket.recv(timeout=TIMEOUT)
    except ConnectionClosed:
        return socket.protocol.close_code
    raise AssertionError("it does not close")
