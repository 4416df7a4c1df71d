"""Makes handshakes on a listener with mutual TLS: handshakes.py PORT CA CERTIFICATE KEY VERSION full|resumed COUNT."""

import socket
import ssl
import sys


def main():
    port, authority, certificate, key, version, kind, count = sys.argv[1:]
    context = ssl.create_default_context(cafile=authority)
    context.load_cert_chain(certificate, key)
    chosen = ssl.TLSVersion.TLSv1_3 if version == "1.3" else ssl.TLSVersion.TLSv1_2
    context.minimum_version = context.maximum_version = chosen
    session = None
    resumed = 0
    for _ in range(int(count)):
        with socket.create_connection(("127.0.0.1", int(port)), timeout=10) as plain:
            with context.wrap_socket(plain, server_hostname="localhost", session=session) as secure:
                secure.sendall(b"POST /nonces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
                assert secure.recv(4096).startswith(b"HTTP/1.1 201")
                resumed += secure.session_reused
                if kind == "resumed":
                    session = secure.session
    expected = int(count) - 1 if kind == "resumed" else 0
    assert resumed == expected, f"{resumed} resumed of {count}"


main()
