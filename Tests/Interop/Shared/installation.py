"""An installation of the service made by a test: keys, a provider, and nodes on one store."""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from Shared.checks import PATIENCE, soon
from Shared.client import TIMEOUT, https, private_pem
from Shared.ports import free_ports
from Shared.provider import Provider


class Installation:
    """Keys, policies and a provider, over a store."""

    def __init__(self, countersign, policies, directory, store):
        self.countersign, self.directory, self.store = countersign, Path(directory), store
        self.policies, self.nodes = policies, []
        self.admin("keys", "init")
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        (self.directory / "provider.pem").write_bytes(key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
        os.chmod(self.write("provider.key", private_pem(key)), 0o600)
        self.key = key
        self.registration = json.loads(self.admin(
            "provider", "add", "--name", "Test", "--slug", "test", "--key", self.directory / "provider.pem", "--json"))

    def write(self, name, data):
        """Writes a file and gives its path."""
        path = self.directory / name
        path.write_bytes(data)
        return path

    @property
    def authority(self):
        """The certificate that all listeners are judged by."""
        return str(self.directory / "Keys/ca.pem")

    @property
    def texts(self):
        """Where the texts of all nodes go."""
        return str(self.directory / "texts.jsonl")

    def places(self, store):
        """The flags that every command takes."""
        return ["--keys", str(self.directory / "Keys"), "--policies", str(self.policies), "--store", store]

    def admin(self, *arguments, wanted=0, store=None):
        """Runs an admin command on the store itself, or by another way to it; fails unless it ends as wanted."""
        done = subprocess.run(
            [self.countersign, *map(str, arguments), *self.places(store or self.store)], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != wanted:
            raise RuntimeError(f"{arguments[:2]}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def provider(self, node):
        """The provider's backend, on a node."""
        with https(self.authority) as session:
            realm = session.get(node.public + "/.well-known/countersign", timeout=TIMEOUT).json()["realm"]
        return Provider(node.public, self.authority, self.registration, self.key, realm)

    def node(self, name, store=None, environment=None, arguments=(), before=()):
        """A node, which is started: with arguments besides its own, and by another command that `before` begins."""
        self.nodes.append(Node(self, name, store or self.store, environment or {}, arguments, before))
        return self.nodes[-1]

    def stop(self):
        """Ends every node as an operator does; each must end well."""
        for node in self.nodes:
            node.ask_to_end()
        for node in self.nodes:
            node.await_end()


class Node:
    """One `countersign serve`."""

    limits = "off"

    def __init__(self, installation, name, store, environment, arguments=(), before=()):
        self.installation, self.name, self.store, self.environment = installation, name, store, environment
        self.arguments = list(arguments) if "--limits" in arguments else ["--limits", self.limits, *arguments]
        self.before = list(before)
        self.log = installation.directory / f"{name}.log"
        self.process, self.identifiers, self.console = None, [], None
        for attempt in range(5):
            self.ports = [f"127.0.0.1:{port}" for port in free_ports(3)]
            try:
                self.start()
                break
            except NotReady as failure:
                # Somebody else may take a port between its choice and the start.
                if attempt == 4 or "Address already in use" not in str(failure):
                    raise

    def start(self):
        """Starts it and waits until it listens; a second start listens where the first did."""
        command = [
            "setpriv", "--pdeathsig", "KILL", "--", *self.before, self.installation.countersign, "serve",
            *self.installation.places(self.store), *self.arguments,
            "--public", self.ports[0], "--client", self.ports[1], "--ops", self.ports[2]]
        environment = {**os.environ, "COUNTERSIGN_TEXTS": self.installation.texts, **self.environment}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=environment)
        self.identifiers.append(self.process.pid)
        readable, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline() if readable else b""
        if not line:
            self.process.kill()
            self.process.wait()
            raise NotReady(self.log.read_text()[-2000:], self.process.returncode)
        ready = json.loads(line)
        self.ports = [ready["public"], ready["client"], ready["ops"]]
        self.console = ready.get("console")

    @property
    def public(self):
        return "https://" + self.ports[0]

    @property
    def client(self):
        return "https://" + self.ports[1]

    @property
    def ops(self):
        return "http://" + self.ports[2]

    def ready(self):
        """The body of `/readyz`; its status must agree with it."""
        answer = requests.get(self.ops + "/readyz", timeout=TIMEOUT)
        body = answer.json()
        if body["ready"] != (answer.status_code == 200):
            raise AssertionError(f"{answer.status_code} with {body}")
        return body

    def wait(self, wanted, seconds=PATIENCE):
        """Waits until it is ready, or is not; how long it took."""
        started = time.monotonic()
        soon(lambda: self.ready()["ready"] is wanted,
             f"{self.name} is still {'not ' if wanted else ''}ready after {seconds} s", seconds)
        return time.monotonic() - started

    def kill(self):
        """Ends it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask_to_end(self):
        """Asks it to end, which nobody else may have done."""
        if self.process.poll() is not None:
            raise AssertionError(f"{self.name} ended by itself: {self.log.read_text()[-2000:]}")
        self.process.terminate()

    def await_end(self):
        """Waits for its end, which must be a good one."""
        if self.process.wait(timeout=PATIENCE) != 0:
            raise AssertionError(f"{self.name} ended with {self.process.returncode}: {self.log.read_text()[-2000:]}")


class NotReady(AssertionError):
    """A node that does not start; `status` is its exit status."""

    def __init__(self, log, status):
        super().__init__(f"exit {status}: {log}")
        self.log, self.status = log, status
