"""A backend with its own users, whose sessions Countersign keeps: a small HTTP server on loopback."""

import hmac
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import service
import sessions
from service import Refusal

ACCOUNTS = {"ada": "correct horse", "ben": "battery staple"}  # replace it by your table with hashed passwords


class Backend(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version, timeout, scheme = "HTTP/1.1", 30, "DPoP"
    disable_nagle_algorithm = True  # otherwise each response waits for an acknowledgement

    def verify(self):
        """The session of this request."""
        headers = {name: ",".join(self.headers.get_all(name, [])) for name in ("Authorization", "DPoP")}
        return sessions.verify(self.command, self.path, headers)

    def body(self):
        """The request's body."""
        length = int(self.headers.get("Content-Length", "0"))
        if not 0 <= length <= 65_536:
            raise Refusal(413, "too_large", "64 KiB at most")
        return self.rfile.read(length)

    def act(self):
        """Handles the request: a status, and a value for the response."""
        match (self.command, self.path.partition("?")[0]):
            case ("POST", "/login"):
                asked = json.loads(self.body())
                wanted = ACCOUNTS.get(asked["user"])
                if wanted is None or not hmac.compare_digest(wanted.encode(), asked["password"].encode()):
                    raise Refusal(403, "access_denied", "user or password is wrong")
                return 200, {"identity_token": service.identity_token(asked["user"], asked["nonce"])}
            case ("GET", "/me"):
                return 200, self.verify()
            case ("GET", "/me/user"):
                return 200, service.user(self.verify()["external_id"])
            case ("DELETE", "/me/sessions"):
                return 204, service.end_sessions(self.verify()["external_id"])
            case ("POST", "/events"):
                sessions.event(self.body().decode())
                return 202, None
            case ("POST", "/doctor"):
                return 200, service.doctor(json.loads(self.body())["identity_token"])
        raise Refusal(404, "not_found", "unknown call")

    def answer(self):
        """Responds to a request."""
        try:
            status, value = self.act()
        except Refusal as refusal:
            status, error, reason = refusal.args
            value = {"error": error, "error_description": reason}
        except OSError as error:
            status, value = 503, {"error": "temporarily_unavailable", "error_description": str(error)}
        except (ValueError, LookupError, TypeError, AttributeError):
            status, value = 400, {"error": "invalid_request", "error_description": "the body is malformed"}
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", f'{self.scheme} error="{value["error"]}"')
        if status >= 400:
            self.send_header("Connection", "close")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = answer


def serve(server):
    """Registers the URL for events, then serves until it is stopped."""
    if "EVENTS" in os.environ:
        try:
            service.receive_events(os.environ["EVENTS"])
        except Refusal as refusal:
            why = "EVENTS was not registered (a URL on loopback needs countersign serve --loopback-urls)"
            raise SystemExit(f"{why}: {refusal.args[2]}") from refusal
    print(f"ready: {sessions.ORIGIN}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8460"))), Backend))
