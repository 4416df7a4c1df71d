"""Herald as its page has it: frames, one connection, and Thrift's own client on a channel."""

import importlib
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import urllib.parse
import uuid
from types import SimpleNamespace

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TTransport import TTransportBase

from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT, Device
from Shared.transport import context

PATIENCE = 60  # seconds against hanging; nothing here is judged by its speed
OK, MALFORMED, UNKNOWN, EXISTS, TYPE, NOT_AUTHENTICATED, CHALLENGED, LARGE, BANNED = range(9)
PUSH, RPC = 0, 1
CONTROL, DATA, RESPONSE, KEEPALIVE = range(4)


class Closed(Exception):
    """The service has ended the connection."""


def frame(kind, extended, payload=b""):
    """A frame as the tables of the protocol have it."""
    return struct.pack(">IB", len(payload) + 1, kind << 6 | extended) + payload


def data(channel, total, payload, packet=0):
    """A part of a message."""
    return frame(DATA, packet, struct.pack(">BI", channel, total) + payload)


class Herald:
    """One connection, frame by frame."""

    def __init__(self, chosen, device, initial=b"LAYER\x01\x01" + struct.pack(">I", 1 << 20), window=None):
        address = urllib.parse.urlsplit(chosen.client)
        tls = context(SimpleNamespace(authority=chosen.ca), device)
        tls.set_alpn_protocols(["herald/1"])
        plain = socket.socket()
        if window:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        plain.settimeout(TIMEOUT)
        plain.connect((address.hostname, address.port))
        self.socket = tls.wrap_socket(plain, server_hostname=address.hostname)
        equal(self.socket.selected_alpn_protocol(), "herald/1", "the protocol")
        self.socket.settimeout(PATIENCE)
        self.buffer, self.messages, self.parts, self.responses, self.kept = b"", {}, {}, [], 0
        self.largest = 0
        self.send(initial)

    def send(self, *frames):
        """Sends frames, or whatever bytes there are."""
        self.socket.sendall(b"".join(frames))

    def read(self):
        """Reads one frame, and puts it where it belongs."""
        try:
            while len(self.buffer) < 4 or len(self.buffer) < 4 + struct.unpack(">I", self.buffer[:4])[0]:
                more = self.socket.recv(65536)
                if not more:
                    raise Closed
                self.buffer += more
        except (ConnectionError, ssl.SSLError) as error:
            raise Closed from error
        size = struct.unpack(">I", self.buffer[:4])[0]
        head, payload, self.buffer = self.buffer[4], self.buffer[5:4 + size], self.buffer[4 + size:]
        self.largest = max(self.largest, size + 4)
        kind = head >> 6
        if kind == RESPONSE:
            expect(head & 0x20 or not head & 0x1F, f"a response frame with the header {head:#x}")
            self.responses.append(head & 0x1F)
        elif kind == KEEPALIVE:
            equal((head & 0x3F, payload), (0, b""), "a keepalive")
            self.kept += 1
        else:
            equal(kind, DATA, "the type of a frame")
            channel, total = struct.unpack(">BI", payload[:5])
            held = self.parts.setdefault(channel, bytearray())
            held += payload[5:]
            if len(held) == total:
                self.messages.setdefault(channel, []).append((head & 0x3F, bytes(self.parts.pop(channel))))

    def response(self):
        """The next response frame's error; 0 is success."""
        while not self.responses:
            self.read()
        return self.responses.pop(0)

    def message(self, channel):
        """The next whole message of a channel, with its packet type."""
        while not self.messages.get(channel):
            self.read()
        return self.messages[channel].pop(0)

    def control(self, *frames):
        """Sends control frames and gives their responses."""
        self.send(*frames)
        return [self.response() for _ in frames]

    def auth(self, token):
        """Auth with a session token."""
        return self.control(frame(CONTROL, 0, token.encode()))[0]

    def add(self, channel, kind):
        """ChAdd."""
        return self.control(frame(CONTROL, 1 << 2 | kind, bytes([channel])))[0]

    def ended(self):
        """Reads until the service ends the connection; the responses that came before, none of which was awaited."""
        try:
            while True:
                self.read()
        except Closed:
            self.socket.close()
            return self.responses
        except TimeoutError:
            expect(False, "the connection stays open")

    def client(self, rpc, channel):
        """Thrift's own client on an RPC channel."""
        return rpc.Streams.Client(TBinaryProtocol(Channel(self, channel), strictRead=True, strictWrite=True))


class Channel(TTransportBase):
    """An RPC channel as a transport of Thrift; messages leave in parts."""

    part = 1000

    def __init__(self, herald, channel):
        self.herald, self.channel, self.writing, self.reading = herald, channel, b"", b""

    def write(self, buf):
        self.writing += buf

    def flush(self):
        message, self.writing = self.writing, b""
        self.herald.send(*(data(self.channel, len(message), message[first:first + self.part])
                           for first in range(0, len(message), self.part)))

    def read(self, sz):
        if not self.reading:
            packet, self.reading = self.herald.message(self.channel)
            equal(packet, 0, "the packet type of an answer")
        taken, self.reading = self.reading[:sz], self.reading[sz:]
        return taken


class Person:
    """A user with a device and a session."""

    def __init__(self, chosen, provider, name):
        self.name = f"{name}-{uuid.uuid4()}"
        self.device = Device(chosen.public, chosen.client, chosen.ca, "EC")
        accepted(self.device.certify(), 201)
        self.provider = provider
        self.log_in()

    def log_in(self):
        session = accepted(
            self.device.create_session(self.provider.identity_token(self.name, self.device.nonce())), 201)
        self.token, self.user_id, self.address = session["session_token"], session["user_id"], session["address"]

    def call(self, method, path, **arguments):
        return self.device.call(method, path, self.token, **arguments)


def generated(interface):
    """Python's modules of the interface, made by Thrift's compiler."""
    directory = tempfile.mkdtemp()
    subprocess.run(["thrift", "--gen", "py", "-out", directory, interface], check=True, capture_output=True)
    sys.path.insert(0, directory)
    return SimpleNamespace(
        Streams=importlib.import_module("herald_rpc.Streams"), types=importlib.import_module("herald_rpc.ttypes"))


def refused(rpc, status, code, call):
    """The refusal of a call."""
    try:
        call()
    except rpc.types.Refused as refusal:
        equal((refusal.status, refusal.code), (status, code), "the refusal")
        expect(refusal.detail and refusal.request_id, "a refusal without a sentence or an id")
        return refusal
    return expect(False, f"not refused as {code}")
