"""Stands in for the service, and records what an SDK sends: one line of JSON per request, without what differs by chance.

    recorder.py FOLDER

It makes an authority in the folder, prints the ports and the authority, writes `requests.jsonl`, and ends with its input.
"""

import base64
import http.server
import json
import re
import ssl
import subprocess
import sys
import threading
import urllib.parse
from pathlib import Path

ID = "11111111-1111-4111-8111-111111111111"
LATER = "2099-01-01T00:00:00Z"
PERSON = {"user_id": ID, "address": "devices/alice", "assurance": "none"}
PROFILE = {**PERSON, "presence": "visible"}
SESSION = {**PERSON, "session_id": ID, "expires_at": LATER, "session_token": "session-token"}
PHONE = {"id": ID, "expires_at": LATER, "digits": 6}
CARD = {"id": ID, "status": "in_review", "assurance": "none", "checks": []}
PERMISSION = {"id": ID, "box": "in", "state": "REQUEST", "created_at": LATER}
STREAM = {"id": ID, "kind": "forum", "state": "open", "created_at": LATER, "last_sequence": 0, "members": []}
PAGE = {"events": [], "more": False, "last_sequence": 0}
# The first pattern that matches gives the answer: its status and its body.
ANSWERS = [
    ("POST /certificates/renewal|POST /certificates", 201, {"device_id": ID, "serial": "01", "not_after": LATER,
                                                           "renew_after": LATER, "certificate": "CERTIFICATE"}),
    ("POST /attestation-challenges", 201, {"challenge": "challenge", "expires_at": LATER}),
    ("POST /nonces", 201, {"nonce": "nonce", "expires_at": LATER}),
    ("POST /sessions/resume", 200, SESSION),
    ("POST /sessions", 201, SESSION),
    ("POST /token", 200, {"access_token": "access-token", "expires_in": 120, "token_type": "DPoP"}),
    ("GET /me/apps", 200, {"apps": []}),
    ("(GET|PATCH) /me", 200, PROFILE),
    ("POST /phone-verifications/.*/check", 200, {"assurance": "phone"}),
    ("POST /phone-verifications.*", 202, PHONE),
    ("POST /identity-cards/presentations", 201, {
        "id": ID, "expires_at": LATER, "requests": [{"protocol": "openid4vp-v1-signed", "data": {"request": "a.b.c"}}],
        "url": "openid4vp://?client_id=x509_hash%3Aabc&request_uri=https%3A%2F%2Fexample.com"}),
    ("POST /identity-cards/presentations/.*", 201, {"id": ID, "age_over_18": True}),
    ("(GET|POST) /identity-cards.*", 201, CARD),
    ("GET /authorizations", 200, {"authorizations": []}),
    ("POST /authorizations/.*/block", 204, None),
    ("(GET|POST) /authorizations.*", 200, PERMISSION),
    ("GET /streams", 200, {"streams": []}),
    ("GET /streams/[^/]*", 200, STREAM),
    ("GET /streams/.*/events", 200, PAGE),
    ("POST /streams/.*/events", 201, {"sequence": 1, "sent_at": LATER}),
    ("POST /streams/.*/receipts", 200, {"delivered_through": 1, "read_through": 1}),
    ("GET /sync", 200, {"anchor": "anchor", "more": False, "operations": []}),
    ("GET /sessions/current", 200, SESSION),
    ("GET /sessions", 200, {"sessions": []}),
    (".*", 204, None),
]


def members(token):
    """The header and claims of a compact JWS, with the names alone of what differs each time."""
    header, claims, _ = token.split(".")
    parts = [json.loads(base64.urlsafe_b64decode(part + "==")) for part in (header, claims)]
    for part in parts:
        for name in ("prn", "pky", "jti", "iat", "jwk"):
            if name in part:
                part[name] = sorted(part[name]) if name == "jwk" else "any"
    return parts


class Recorder(http.server.BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *words):
        """Says nothing: the requests are recorded."""

    def answer(self):
        """Records the request and answers it."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        kind = (self.headers.get("Content-Type") or "").split(";")[0]
        seen = {"listener": self.server.name, "method": self.command, "path": self.path, "type": kind}
        if kind == "application/json":
            seen["members"] = json.loads(body)
            for name in {"csr", "presence"} & set(seen["members"]):
                if seen["members"][name].count(".") == 2:
                    seen["members"][name] = members(seen["members"][name])
            if "presence_key" in seen["members"]:
                seen["members"]["presence_key"] = seen["members"]["presence_key"].splitlines()[0]
        elif body:
            seen["members"] = sorted(urllib.parse.parse_qsl(body, keep_blank_values=True))
        seen["authorization"] = self.headers.get("Authorization")
        if self.headers.get("DPoP"):
            seen["proof"] = members(self.headers["DPoP"])
        line = json.dumps(seen, sort_keys=True)
        # The port differs from run to run.
        line = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1", line)
        with self.server.lock, open(self.server.folder / "requests.jsonl", "a") as log:
            log.write(line + "\n")
        name = f"{self.command} {urllib.parse.urlsplit(self.path).path}"
        status, found = next((status, value) for form, status, value in ANSWERS if re.fullmatch(form, name))
        text = "" if found is None else json.dumps(found)
        if "CERTIFICATE" in text:
            text = text.replace('"CERTIFICATE"', json.dumps((self.server.folder / "server.pem").read_text()))
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text.encode())

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer


def main():
    folder = Path(sys.argv[1])
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]
    subprocess.run(
        ["openssl", "req", "-x509", *key, "-keyout", "server.key", "-out", "server.pem", "-days", "2", "-subj",
         "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "server.pem", folder / "server.key")
    lock = threading.Lock()
    ports = {}
    for name in ("public", "client"):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
        server.daemon_threads = True
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.name, server.folder, server.lock = name, folder, lock
        ports[name] = f"https://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({**ports, "authority": str(folder / "server.pem")}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
