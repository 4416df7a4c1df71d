"""Speaks TLS to clients of PostgreSQL and passes everything on to a server without TLS, in records of 16 KiB.

    store_tls_proxy.py SERVER CERTIFICATE KEY

Writes the port that it listens on. What the server says is gathered until it pauses, so that records are as full as the
protocol allows (RFC 8446, 5.1)."""

import socket
import ssl
import struct
import sys
import threading

SSL_REQUEST = struct.pack("!II", 8, 80877103)
RECORD = 16384
PAUSE = 0.002  # seconds without a word after which what was gathered is sent


def forward(client, server):
    """From the client to the server, and back in full records: one thread, since a TLS connection is no two."""
    gathered = b""
    client.setblocking(False)
    server.settimeout(PAUSE)
    while True:
        try:
            while data := client.recv(65536):
                server.sendall(data)
            return
        except ssl.SSLWantReadError:
            pass
        try:
            data = server.recv(65536)
            if not data:
                return
            gathered += data
            continue
        except TimeoutError:
            pass
        client.setblocking(True)
        while gathered:
            client.sendall(gathered[:RECORD])
            gathered = gathered[RECORD:]
        client.setblocking(False)


def serve(client, target, context):
    """One connection."""
    server = socket.socket(socket.AF_UNIX)
    server.connect(target)
    with client, server:
        if client.recv(8, socket.MSG_WAITALL) != SSL_REQUEST:
            return
        client.sendall(b"S")
        with context.wrap_socket(client, server_side=True) as secure:
            try:
                forward(secure, server)
            except OSError:
                pass


def main():
    """Listens until it is killed."""
    target, certificate, key = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(client, target, context), daemon=True).start()


if __name__ == "__main__":
    main()
