"""Sends frames of its own over a WebSocket; PyPI's `wsproto` reads what the server says."""

import os
import socket
import struct

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Request

from Shared.client import TIMEOUT


def frame(opcode, data=b"", fin=True, masked=True, rsv=0, length=None):
    """A frame (RFC 6455 §5.2), right or wrong."""
    size = len(data) if length is None else length
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    flag = 0x80 if masked else 0
    if size < 126:
        head += bytes([flag | size])
    elif size < 65_536:
        head += bytes([flag | 126]) + struct.pack(">H", size)
    else:
        head += bytes([flag | 127]) + struct.pack(">Q", size)
    if not masked:
        return head + data
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))


HOSTILE = [
    ("a frame without a mask", frame(1, b"{}", masked=False), 1002),
    ("reserved bits", frame(1, b"{}", rsv=4), 1002),
    ("a text that is no UTF-8", frame(1, b"\xff\xfe"), 1007),
    ("a binary frame", frame(2, b"\0"), 1003),
    ("a frame of 1 MiB", frame(1, b"x", length=1 << 20), 1009),
    ("a frame of 2^63 bytes", frame(1, b"x", length=(1 << 63) - 1), 1009),
    ("fragments beyond the limit", b"".join(frame(0 if part else 1, b"x" * 8192, fin=False) for part in range(4)), 1009),
    ("fragments without end", b"".join(frame(0 if part else 1, b"", fin=False) for part in range(64)), 1009),
    ("a continuation of nothing", frame(0, b"x"), 1002),
    ("a text inside a text", frame(1, b"x", fin=False) + frame(1, b"x"), 1002),
    ("an unknown opcode", frame(3, b""), 1002),
    ("a close", frame(8, struct.pack(">H", 1000)), 1000),
]


def sent(place, tls, path, authorization, data):
    """Opens a WebSocket, sends bytes, and gives the code with which the server closes."""
    host, _, port = place.partition(":")
    with socket.create_connection((host, int(port)), timeout=TIMEOUT) as raw, tls.wrap_socket(
            raw, server_hostname=host) as connection:
        client = WSConnection(ConnectionType.CLIENT)
        connection.sendall(client.send(Request(
            host=place, target=path, extra_headers=[(b"Authorization", authorization.encode())])))
        is_open = False
        while True:
            received = connection.recv(65_536)
            client.receive_data(received or None)
            for event in client.events():
                if isinstance(event, AcceptConnection):
                    is_open = True
                    connection.sendall(data)
                elif isinstance(event, CloseConnection):
                    assert is_open, "it did not open"
                    return event.code
