"""The backend with its own TLS: it sees the device's certificate, which a token is bound to (RFC 8705)."""

import os
import ssl
from http.server import ThreadingHTTPServer

import sessions
from backend import Backend, serve
from service import Refusal, digest, get


class DeviceBackend(Backend):
    """A connection with the device's certificate."""

    scheme = "Bearer"

    def verify(self):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise Refusal(401, "invalid_token", "a Bearer token is required")
        claims = sessions.session(token)
        if claims.get("cnf", {}).get("x5t#S256") != digest(self.connection.getpeercert(binary_form=True)):
            raise Refusal(401, "invalid_token", "bound to another certificate")
        return claims


if __name__ == "__main__":
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(os.environ.get("TLS_CERTIFICATE", "backend.pem"), os.environ.get("TLS_KEY", "backend.key"))
    tls.load_verify_locations(cadata=get("/certificates/authority").decode())
    tls.verify_mode = ssl.CERT_REQUIRED
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8460"))), DeviceBackend)
    # The handshake happens at the first read, on the connection's own thread.
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    serve(server)
