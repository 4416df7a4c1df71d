"""Connections that a test keeps: one of TLS, never replaced, over HTTP/1.1 or HTTP/2."""

import http.client
import json
import select
import socket
import ssl
import time
import urllib.parse
from types import SimpleNamespace

import h2.config
import h2.connection
import h2.events

from Shared.checks import equal
from Shared.client import TIMEOUT
from Shared.transport import context


class OneConnection:
    """One TLS connection that is never replaced; its end is seen on the socket."""

    def __init__(self, chosen, device):
        self.address = urllib.parse.urlsplit(chosen.client)
        self.tls = context(SimpleNamespace(authority=chosen.ca), device)
        self.closed_at = None

    def note_end(self, deadline):
        """Waits until the service closes it, at most until a deadline; whether it did."""
        while self.closed_at is None and (left := deadline - time.monotonic()) > 0:
            if not self.socket.pending() and not select.select([self.socket], [], [], left)[0]:
                break
            self.read_end()
        return self.closed_at is not None

    def read_end(self):
        """Reads what is there; notes the end, if it is one."""
        self.socket.settimeout(0)
        try:
            while self.socket.recv(65536):
                pass
        except ssl.SSLWantReadError:
            return
        except OSError:
            pass
        self.closed_at = time.monotonic()


class HTTP1(OneConnection):
    """HTTP/1.1."""

    def __init__(self, chosen, device):
        super().__init__(chosen, device)
        self.connection = http.client.HTTPSConnection(
            self.address.hostname, self.address.port, timeout=TIMEOUT, context=self.tls)
        self.connection.connect()
        self.connection.auto_open = 0
        self.socket = self.connection.sock

    def request(self, method, path, token=None, body=None):
        """Status and JSON of an answer."""
        headers = {"Authorization": f'Layer session-token="{token}"'} if token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self.connection.request(method, path, body and json.dumps(body), headers)
        answer = self.connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content else None


class HTTP2(OneConnection):
    """HTTP/2, one request after the other."""

    def __init__(self, chosen, device):
        super().__init__(chosen, device)
        self.tls.set_alpn_protocols(["h2"])
        plain = socket.create_connection((self.address.hostname, self.address.port), timeout=TIMEOUT)
        self.socket = self.tls.wrap_socket(plain, server_hostname=self.address.hostname)
        equal(self.socket.selected_alpn_protocol(), "h2", "the protocol")
        self.machine = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.machine.initiate_connection()
        self.socket.sendall(self.machine.data_to_send())

    def request(self, method, path, token):
        """The status of an answer."""
        stream = self.machine.get_next_available_stream_id()
        self.machine.send_headers(stream, [
            (":method", method), (":path", path), (":scheme", "https"), (":authority", "localhost"),
            ("authorization", f'Layer session-token="{token}"')], end_stream=True)
        self.socket.sendall(self.machine.data_to_send())
        status = None
        while data := self.socket.recv(65536):
            for event in self.machine.receive_data(data):
                if isinstance(event, h2.events.ResponseReceived):
                    status = int(dict(event.headers)[":status"])
                if isinstance(event, h2.events.StreamEnded):
                    return status
            self.socket.sendall(self.machine.data_to_send())
        raise AssertionError("the connection ended before the answer")
