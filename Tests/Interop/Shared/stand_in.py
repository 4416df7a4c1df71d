"""What the stand-ins for carriers' services have in common: a server on a free loopback port that says where it is in
one line of JSON, and ends with its standard input, so that it never outlives the test that started it.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ended = threading.Event()


class Handler(BaseHTTPRequestHandler):
    """Answers `GET /seen` with what `self.server.seen` has; subclasses have `do_POST`."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def answer(self, status, body=b"", content_type="application/json", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def hang(self):
        """Says nothing until the test is over."""
        ended.wait(60)
        self.close_connection = True

    def drip(self, status):
        """Begins an answer and never ends it."""
        self.send_response(status)
        self.send_header("Content-Length", "60000")
        self.end_headers()
        self.close_connection = True
        try:
            while not ended.wait(0.05):
                self.wfile.write(b" ")
                self.wfile.flush()
        except OSError:
            pass

    def do_GET(self):
        self.answer(200, json.dumps(self.server.seen).encode())


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that goes away, or does not trust the certificate, is what some tests want."""


def start(handler):
    server = Server(("127.0.0.1", 0), handler)
    server.seen = []
    return server


def run(*servers, **more):
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"ports": [server.server_address[1] for server in servers], **more}), flush=True)
    sys.stdin.read()
    ended.set()
