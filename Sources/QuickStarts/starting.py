"""Starts the quick starts and the service, for `hello.py` and the tests."""

import json
import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

PLACE = Path(__file__).resolve().parent
JARS = ":".join(f"/usr/share/java/jackson-{part}.jar" for part in ("databind", "core", "annotations"))
# The commands that compile and start each, also with its own TLS. {build} is the folder of the compiled files.
LANGUAGES = {
    "python": ([], [sys.executable, "backend.py"], [sys.executable, "mutual_tls.py"]),
    "node": ([], ["node", "backend.mjs"], None),
    "go": (
        ["/usr/bin/go", "build", "-o", "{build}/backend", "."], ["{build}/backend"], ["{build}/backend", "mutual-tls"]),
    "java": (
        ["javac", "-d", "{build}", "-cp", JARS, "-sourcepath", ".", "Backend.java"],
        ["java", "-cp", JARS + ":{build}", "Backend"], None),
    "ruby": ([], ["ruby", "backend.rb"], None),
    "php": ([], ["php", "backend.php"], None),
}
# Debian's Go libraries are in a GOPATH, so nothing is downloaded.
SETTINGS = {
    "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "", "GOTOOLCHAIN": "local",
    "PYTHONDONTWRITEBYTECODE": "1"}


def command(words, build):
    """A command's words, with the folder of the compiled files."""
    return [word.replace("{build}", str(build)) for word in words]


def compile_backend(language, build):
    """Compiles a quick start, if its language is compiled."""
    words = command(LANGUAGES[language][0], build)
    if words:
        subprocess.run(words, cwd=PLACE / language, env={**os.environ, **SETTINGS}, check=True)


def free_port():
    """A port that is free at the moment, below those that the kernel gives to clients until the server has it."""
    for _ in range(1000):
        try:
            with socket.create_server(("127.0.0.1", random.randrange(10_000, 32_000))) as server:
                return server.getsockname()[1]
        except OSError:
            pass  # another one is tried
    raise OSError("no port between 10000 and 32000 is free")


def listens(port):
    """Whether a process of this machine accepts connections at the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Started:
    """A process that ends with this object."""

    def __init__(self, words, log, ready, **more):
        """Waits up to 20 s until `ready` returns true."""
        self.log = Path(log)
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(words, stdout=output, stderr=output, **more)
        deadline = time.monotonic() + 20
        while not ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.end()
                raise SystemExit(f"{words[0]} did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.02)

    def end(self):
        """Stops it, and waits for its end."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.end()


def backend(language, build, port, settings, log, tls=False):
    """A quick start on a port, with its settings in environment variables."""
    scheme = "https" if tls else "http"
    variables = {"PORT": str(port), "ORIGIN": f"{scheme}://127.0.0.1:{port}", "STATE": f"{log}.state", **settings}
    return Started(
        command(LANGUAGES[language][2 if tls else 1], build), log, lambda: listens(port),
        cwd=PLACE / language, env={**os.environ, **SETTINGS, **variables})


def service(countersign, policies, folder):
    """Starts Countersign on free ports, with keys and a store in the folder, and returns its URLs."""
    def run(*words):
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return done.stdout

    run(countersign, "keys", "init")
    run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "provider.key")
    run("openssl", "pkey", "-in", "provider.key", "-pubout", "-out", "provider.pem")
    Path(folder, "provider.json").write_text(run(
        countersign, "provider", "add", "--name", "Hello", "--slug", "hello", "--key", "provider.pem", "--policies",
        policies, "--json"))
    output = Path(folder, "service.log")
    started = Started(
        [countersign, "serve", "--policies", policies, "--public", "127.0.0.1:0", "--client", "127.0.0.1:0",
         "--ops", "127.0.0.1:0", "--loopback-urls"], output, lambda: '"ready":true' in output.read_text(), cwd=folder)
    ready = next(line for line in output.read_text().splitlines() if '"ready":true' in line)
    return started, json.loads(ready)
