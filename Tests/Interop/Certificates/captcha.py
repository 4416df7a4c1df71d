"""Puts a siteverify endpoint of its own behind the captcha's gate, and lets it answer well, badly and not at all.

The word that a device sends as its captcha tells the endpoint what to do.
"""

import concurrent.futures
import http.server
import json
import os
import signal
import threading
import time
import urllib.parse
from pathlib import Path

from Shared import options
from Shared.checks import accepted, equal, expect, refused, soon
from Shared.client import TIMEOUT, Device, https

SECRET = "correct horse & battery=staple+1%"
ASKED = []


class SiteVerify(http.server.BaseHTTPRequestHandler):
    """The endpoint."""

    def log_message(self, *_):
        """Says nothing."""

    def reply(self, status, body, **headers):
        """One answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        """Reads the form and does as the captcha says."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        form = urllib.parse.parse_qs(body.decode("ascii"), strict_parsing=True)
        ASKED.append((self.path, self.headers["Content-Type"], form))
        word = form["response"][0]
        try:
            self.answer(word)
        except OSError:
            pass  # the service has hung up

    def answer(self, word):
        """What each word stands for."""
        if word == "hang":
            time.sleep(8)
        elif word == "drip":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            for _ in range(20):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.5)
        elif word == "500":
            self.reply(500, b'{"success":true}')
        elif word == "garbage":
            self.reply(200, b"<html>not today</html>")
        elif word == "no verdict":
            self.reply(200, b'{"success":"true"}')
        elif word == "twice":
            self.reply(200, b'{"success":false,"success":true}')
        elif word == "huge":
            self.reply(200, b'{"success":true,"x":"' + b"a" * 1_000_000 + b'"}')
        elif word == "redirect":
            self.reply(307, b"", Location="/elsewhere")
        else:
            self.reply(200, json.dumps({"success": word == "solved é&="}).encode())


def certify(chosen, word=None):
    """A new device's request with a captcha, and how long the answer took."""
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    started = time.monotonic()
    answer = device.certify(**({"captcha": word} if word else {}))
    return answer, time.monotonic() - started


def reload(chosen, url, secret):
    """Puts the gate in force and waits until the service says so."""
    Path(chosen.policies, "certification.yaml").write_text(
        f"gate: captcha\ncaptcha_url: {url}\ncaptcha_secret_file: {secret}\n")
    os.kill(int(chosen.pid), signal.SIGHUP)
    with https(chosen.ca) as public:
        soon(lambda: public.get(chosen.public + "/.well-known/countersign", timeout=TIMEOUT).json()[
            "certification_gate"] == "captcha", "the policy was not reloaded")


def main():
    parser = options.parser(__doc__)
    for name in ("policies", "pid"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SiteVerify)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    secret = Path(chosen.policies).parent / "captcha.secret"
    secret.touch(mode=0o600)
    secret.write_text(SECRET + "\n")
    reload(chosen, f"http://127.0.0.1:{endpoint.server_port}/siteverify", secret)

    accepted(certify(chosen, "solved é&=")[0], 201)
    path, media_type, form = ASKED[-1]
    equal(path, "/siteverify", "the path")
    equal(media_type, "application/x-www-form-urlencoded", "the media type")
    equal(form, {"secret": [SECRET], "response": ["solved é&="]}, "the form")
    refused(certify(chosen, "wrong")[0], 422, "invalid_csr", "gate")
    before = len(ASKED)
    refused(certify(chosen)[0], 422, "invalid_csr", "gate")
    refused(certify(chosen, "a" * 5000)[0], 422, "invalid_csr", "gate")
    equal(len(ASKED), before, "the questions about captchas that are none")

    words = ["500", "garbage", "no verdict", "twice", "huge", "redirect", "hang", "drip"]
    with concurrent.futures.ThreadPoolExecutor(len(words)) as pool:
        for word, (answer, seconds) in zip(words, pool.map(lambda word: certify(chosen, word), words)):
            refused(answer, 503, "unavailable")
            expect("Retry-After" in answer.headers, f"{word}: no Retry-After")
            expect(seconds < 7, f"{word} took {seconds:.1f} s")
    expect(all(path == "/siteverify" for path, _, _ in ASKED), "a redirect was followed")

    secret.chmod(0o644)
    refused(certify(chosen, "solved é&=")[0], 503, "unavailable")
    secret.chmod(0o600)
    accepted(certify(chosen, "solved é&=")[0], 201)
    endpoint.shutdown()
    endpoint.server_close()
    refused(certify(chosen, "solved é&=")[0], 503, "unavailable")
    print("the captcha's gate holds")


if __name__ == "__main__":
    main()
