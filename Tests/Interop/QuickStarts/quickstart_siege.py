"""What a flood, a slow service and a damaged file do to a quick start: nobody is refused but whoever causes it."""

import contextlib
import http.client
import ssl
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT, https, new_key
from QuickStarts.quickstart_backend import Backend, proof, thumbprint


class StandIn(ThreadingHTTPServer):
    """In place of the service, with its certificate: gives its key set, fails, or lets callers hang."""

    def __init__(self, chosen):
        super().__init__(("127.0.0.1", 0), Answer)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(Path(chosen.keys, "server.pem"), Path(chosen.keys, "server.key"))
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        with https(chosen.ca) as public:
            self.keys = public.get(chosen.public + "/.well-known/jwks.json", timeout=TIMEOUT).content
        self.url = f"https://127.0.0.1:{self.server_port}"
        self.asked, self.is_up, self.released = 0, False, threading.Event()
        self.released.set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        """A caller who gave up is no error."""


class Answer(BaseHTTPRequestHandler):
    """What the stand-in says."""

    def do_GET(self):
        """The key set, or nothing of use."""
        self.server.asked += 1
        self.server.released.wait(60)
        self.send_response(200 if self.server.is_up else 500)
        self.send_header("Content-Length", str(len(self.server.keys)))
        self.end_headers()
        self.wfile.write(self.server.keys)

    def log_message(self, *words):
        """Says nothing."""


class Besieged:
    """A backend whose service is the stand-in, and a session on a device."""

    def __init__(self, world, language, folder):
        self.world, self.language, self.folder = world, language, folder
        self.service, self.key = StandIn(world.chosen), new_key("EC")
        self.backend = Backend(world.chosen, language, folder, service=self.service.url)

    def __enter__(self):
        self.backend.__enter__()
        return self

    def __exit__(self, *error):
        self.service.released.set()
        self.backend.__exit__(*error)
        self.service.shutdown()
        self.service.server_close()

    def me(self, **header):
        """A call as the session's device, with another token each time; `header` is the token's."""
        now = int(time.time())
        token = self.world.sign({
            "iss": self.service.url, "aud": self.world.provider.provider_id, "sub": str(uuid.uuid4()),
            "external_id": "ada", "sid": str(uuid.uuid4()), "iat": now, "auth_time": now, "exp": now + 120,
            "cnf": {"jkt": thumbprint(self.key)}}, **header)
        url = self.backend.url + "/me"
        headers = {"Authorization": f"DPoP {token}", "DPoP": proof(self.key, "GET", url, token)}
        with https(False) as connection:
            return connection.get(url, headers=headers, timeout=3 * TIMEOUT)

    def begins(self):
        """Without any key nobody's token is judged; with the service everybody is let in, soon."""
        equal(self.me().status_code // 100, 5, f"{self.language}: the class of the status while there are no keys")
        equal(self.me().status_code // 100, 5, f"{self.language}: the class of the status, again")
        self.service.is_up = True

    def learns(self):
        """The keys are taken as soon as the service gives them."""
        soon(lambda: self.me().status_code != 503, f"{self.language}: the keys are not taken")
        accepted(self.me())
        self.learnt_at = time.monotonic()
        self.service.is_up = False

    def withstands(self):
        """Tokens with unknown keys make one call in a minute, though it fails, and nobody else waits for it."""
        while time.monotonic() < self.learnt_at + 61:
            time.sleep(0.1)
        before = self.service.asked
        self.service.released.clear()
        with ThreadPoolExecutor(3) as pool:
            try:
                unknown = [pool.submit(self.me, kid=f"unknown {number}") for number in range(3)]
                soon(lambda: self.service.asked > before, f"{self.language}: nobody asks for keys")
                accepted(self.me())
                # PHP's own server answers one request at a time: there it comes after them.
                over = [call for call in unknown if call.done()]
                expect(self.language == "php" or not over, f"{self.language}: a known key waited for unknown ones")
            finally:
                self.service.released.set()
            for call in unknown:
                expect(call.result().status_code in (401, 502, 503), f"{self.language}: {call.result().text}")
        for _ in range(3):
            equal(self.me(kid="unknown").status_code, 401, f"{self.language}: the status with an unknown key")
        accepted(self.me())
        equal(self.service.asked - before, 1, f"{self.language}: how often the service was asked")

    def keeps_its_file(self):
        """A state that is empty or cut off lets nobody in, and is not replaced."""
        state = Path(self.folder, "log.state")
        whole = state.read_bytes()
        for damaged in (b"", whole[:len(whole) // 2], b"null"):
            state.write_bytes(damaged)
            equal(self.me().status_code, 503, f"the status with the state {damaged[:20]}")
            equal(state.read_bytes(), damaged, "the state")
        state.write_bytes(whole)
        accepted(self.me())


def flood(ada, language):
    """One key's proofs fill that key's room, and nobody else's."""
    key = new_key("EC")
    bound = ada.changed(cnf={"jkt": thumbprint(key)}, exp=int(time.time()) + 600)
    url, fields = ada.backend.url + "/me", {"Authorization": f"DPoP {bound}"}
    # A plain connection, since requests would take longer to ask than most backends to answer.
    with contextlib.closing(http.client.HTTPConnection(ada.backend.url.removeprefix("http://"), timeout=TIMEOUT)) as plain:
        for _ in range(200 if language == "php" else 1_000):
            plain.request("GET", "/me", headers={**fields, "DPoP": proof(key, "GET", url, bound)})
            answer = plain.getresponse()
            answer.read()
            equal(answer.status, 200, "the status of a proof")
    answer = ada.me(bound, key=key)
    equal((answer.status_code, answer.json().get("error")), (401, "invalid_dpop_proof"), "the answer to one too many")
    accepted(ada.me())
