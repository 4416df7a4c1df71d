"""An HTTP/2 connection by hand: frames go out as the test says, and come in one by one. Python's own library alone."""

import contextlib
import select
import socket
import ssl
import urllib.parse

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 2, 3, 4, 6, 7, 8
END_STREAM = ACK = 1
END_HEADERS = 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    """A frame (RFC 9113, section 4.1)."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def literal(name, value):
    """A header field that is not indexed (RFC 7541, section 6.2.2)."""
    return b"\0" + string(name) + string(value)


def string(text):
    """A string literal as it is, behind its length (RFC 7541, sections 5.1 and 5.2)."""
    data = text.encode()
    if len(data) < 127:
        return bytes([len(data)]) + data
    rest, length = len(data) - 127, b"\x7f"
    while rest >= 128:
        rest, length = rest >> 7, length + bytes([128 | rest & 127])
    return length + bytes([rest]) + data


def head(method, path, **fields):
    """A header block."""
    block = literal(":method", method) + literal(":path", path) + literal(":scheme", "https")
    block += literal(":authority", "localhost")
    return block + b"".join(literal(name.replace("_", "-"), value) for name, value in fields.items())


class Connection:
    """One connection; `window` is what a stream's answer may take before it is asked for more."""

    def __init__(self, url, context, window=1 << 20, source=None):
        parts = urllib.parse.urlsplit(url)
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(
            (parts.hostname, parts.port), timeout=60, source_address=(source, 0) if source else None)
        self.tls = context.wrap_socket(plain, server_hostname=parts.hostname)
        self.buffer = b""
        self.next = 1
        settings = b"\0\4" + window.to_bytes(4, "big")
        opening = PREFACE + frame(SETTINGS, 0, 0, settings)
        if window:
            opening += frame(WINDOW_UPDATE, 0, 0, (1 << 24).to_bytes(4, "big"))
        self.tls.sendall(opening)

    def send(self, *frames):
        """Sends frames at once."""
        self.tls.sendall(b"".join(frames))

    def request(self, method, path, body=None, send=True, **fields):
        """A whole request; the number of its stream, and its frames where they are not sent."""
        stream, self.next = self.next, self.next + 2
        flags = END_HEADERS | (END_STREAM if body is None else 0)
        frames = frame(HEADERS, flags, stream, head(method, path, **fields))
        if body is not None:
            frames += frame(DATA, END_STREAM, stream, body)
        if not send:
            return stream, frames
        self.send(frames)
        return stream

    def read(self):
        """The next frame as kind, flags, stream and payload; `None` at the end. Settings and pings are acknowledged."""
        while True:
            if len(self.buffer) >= 9:
                end = 9 + int.from_bytes(self.buffer[:3], "big")
                if len(self.buffer) >= end:
                    break
            try:
                chunk = self.tls.recv(65536)
            except TimeoutError:
                raise
            except OSError:
                return None
            if not chunk:
                return None
            self.buffer += chunk
        kind, flags = self.buffer[3], self.buffer[4]
        stream, payload = int.from_bytes(self.buffer[5:9], "big"), self.buffer[9:end]
        self.buffer = self.buffer[end:]
        if kind in (SETTINGS, PING) and not flags & ACK:
            # A service that ends the connection takes no more. What it sent before is still to be read.
            with contextlib.suppress(OSError):
                self.send(frame(kind, ACK, 0, payload if kind == PING else b""))
        return kind, flags, stream, payload

    def has_news(self):
        """Whether a frame, or the end, can be read now."""
        return bool(self.buffer or self.tls.pending() or select.select([self.tls], [], [], 0)[0])

    def close(self):
        self.tls.close()


def context(ca, files=None):
    """A client's TLS context."""
    made = ssl.create_default_context(cafile=ca)
    made.check_hostname = False
    if files:
        made.load_cert_chain(*files)
    return made
