"""Connections that send what a library would refuse to: one of HTTP/1.1, one of HTTP/2. Each is made again where it ended."""

import socket
import urllib.parse

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from Shared.client import TIMEOUT

IMPATIENCE = 0.5  # seconds for requests that may have no end


class Channel:
    """A connection to one listener."""

    protocol = None

    def __init__(self, url, context):
        self.parts, self.context, self.socket, self.opened = urllib.parse.urlsplit(url), context, None, 0
        if self.parts.scheme == "https":
            context.set_alpn_protocols([self.protocol])

    def open(self, timeout):
        self.opened += 1
        plain = socket.create_connection((self.parts.hostname, self.parts.port), timeout=TIMEOUT)
        self.socket = plain if self.parts.scheme == "http" else self.context.wrap_socket(plain, server_hostname="localhost")
        self.socket.settimeout(timeout)

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def exchange(self, method, target, fields, body, patient=True):
        """Status and body of the answer; `None` where there is none."""
        reused = self.socket is not None
        if not patient:
            self.close()
        try:
            if self.socket is None:
                self.open(TIMEOUT if patient else IMPATIENCE)
            answer = self.ask(method, target, fields, body)
        except (OSError, h2.exceptions.H2Error):
            answer = None
        if answer is None or not patient:
            self.close()
        if answer is None and reused and patient:  # the service may have closed an idle one at this moment
            return self.exchange(method, target, fields, body)
        return answer


class HTTP1(Channel):
    """HTTP/1.1."""

    protocol = "http/1.1"

    def open(self, timeout):
        super().open(timeout)
        self.file = self.socket.makefile("rb")

    def ask(self, method, target, fields, body):
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        self.socket.sendall("\r\n".join(lines).encode() + body)
        line = self.file.readline()
        if not line:
            return None
        status, told = int(line.split()[1]), {}
        while (line := self.file.readline()).strip():
            name, _, value = line.decode("latin-1").partition(":")
            told[name.strip().lower()] = value.strip()
        if told.get("transfer-encoding") == "chunked":
            content = b""
            while size := int(self.file.readline().split(b";")[0], 16):
                content += self.file.read(size)
                self.file.readline()
            self.file.readline()
        else:
            content = self.file.read(int(told.get("content-length", 0)))
        if told.get("connection") == "close":
            self.close()
        return status, content


class HTTP2(Channel):
    """HTTP/2, one stream at a time."""

    protocol = "h2"

    def open(self, timeout):
        super().open(timeout)
        self.machine = h2.connection.H2Connection(h2.config.H2Configuration(
            header_encoding=None, validate_outbound_headers=False, normalize_outbound_headers=False))
        self.machine.initiate_connection()

    def ask(self, method, target, fields, body):
        stream = self.machine.get_next_available_stream_id()
        pairs = [(":method", method), (":path", target), (":scheme", "https"), (":authority", fields.get("Host", "localhost"))]
        pairs += [(name.lower(), value) for name, value in fields.items() if name != "Host"]
        self.machine.send_headers(
            stream, [(name.encode(), value.encode()) for name, value in pairs], end_stream=not body)
        sent, status, content = 0, None, b""
        while True:
            room = min(len(body) - sent, self.machine.local_flow_control_window(stream), self.machine.max_outbound_frame_size)
            if sent < len(body) and room > 0:
                self.machine.send_data(stream, body[sent:sent + room], end_stream=sent + room == len(body))
                sent += room
                self.socket.sendall(self.machine.data_to_send())
                continue
            self.socket.sendall(self.machine.data_to_send())
            data = self.socket.recv(65536)
            if not data:
                return None
            for event in self.machine.receive_data(data):
                if isinstance(event, h2.events.ResponseReceived):
                    status = int(dict(event.headers)[b":status"])
                elif isinstance(event, h2.events.DataReceived):
                    content += event.data
                    self.machine.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    self.socket.sendall(self.machine.data_to_send())
                    return (status, content) if status else None
                elif isinstance(event, h2.events.StreamReset):
                    return None
                elif isinstance(event, h2.events.ConnectionTerminated):
                    self.close()
                    return (status, content) if status and content else None
