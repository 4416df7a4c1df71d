"""What attacks share: a service of its own for each, what it uses meanwhile, and how long others wait beside it."""

import json
import shutil
import ssl
import tempfile
import uuid
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cryptography.hazmat.primitives import serialization

from Shared import options
from Shared import postgresql
from Shared.client import new_key
from Listeners.crowding import Connection
from Requests.fuzz_costs import processor
from Messaging.herald_client import Person
from Listeners.hoard import Honest, percentile, resident
from Shared.installation import Installation
from Shared.provider import Provider
from Shared.proxy import Proxy

ATTACKS = {}
# `streams.yaml` for users without a number, who need nobody's consent for a conversation.
OPEN_STREAMS = {"streams.yaml": "conversation_requires: provider\nrequired_level: none\n"}


@dataclass
class Attack:
    """A function that attacks a target and gives its figure, and the service that it needs."""

    run: callable
    policies: dict
    arguments: list
    limits: str
    is_postgresql: bool
    prepare: callable


def attack(policies=None, arguments=(), limits="on", is_postgresql=False, prepare=None):
    """Adds an attack under the function's name; `prepare` gives further policies, the command that starts the service and
    variables of its environment."""

    def add(function):
        ATTACKS[function.__name__] = Attack(function, policies or {}, list(arguments), limits, is_postgresql, prepare)
        return function
    return add


class Target:
    """A started service. It has the members that other scripts take from their options."""

    def __init__(self, chosen, wanted):
        self.directory = Path(tempfile.mkdtemp(prefix="countersign-attack-", dir="/tmp"))
        # PostgreSQL's account reaches its own directory in it.
        self.directory.chmod(0o711)
        self.last, self.server, self.way, self.installation = [], None, None, None
        try:
            self.start(chosen, wanted)
        except BaseException:
            self.close()
            raise

    def start(self, chosen, wanted):
        policies = self.directory / "Policies"
        shutil.copytree(Path(chosen.root, "Policies"), policies)
        more, before, environment = wanted.prepare(self) if wanted.prepare else ({}, (), {})
        for name, text in {**wanted.policies, **more}.items():
            (policies / name).write_text(text)
        store = f"sqlite:{self.directory}/store.db"
        if wanted.is_postgresql:
            self.server = postgresql.Server(self.directory / "primary").make().start()
            self.way = Proxy(self.server.directory / ".s.PGSQL.5432")
            store = postgresql.address(self.server)
        self.installation = Installation(chosen.countersign, policies, self.directory, store)
        self.node = self.installation.node(
            "a", postgresql.address(self.way.address) if self.way else None, environment,
            arguments=["--limits", wanted.limits, *wanted.arguments], before=before)
        self.pid = self.node.process.pid
        self.public, self.client, self.ops = self.node.public, self.node.client, self.node.ops
        self.ca = self.authority = self.installation.authority
        self.provider = str(self.installation.write("provider.json", json.dumps(self.installation.registration).encode()))
        self.provider_key = str(self.directory / "provider.key")

    @cached_property
    def backend(self):
        """The provider's."""
        return options.provider(self)

    def other_provider(self):
        """A second provider, which the node knows within a second."""
        key = new_key("EC")
        path = self.installation.write("other.pem", key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
        registration = json.loads(self.installation.admin(
            "provider", "add", "--name", "Other", "--slug", "other", "--key", path, "--alg", "ES256", "--json"))
        return Provider(self.public, self.ca, registration, key, self.backend.realm)

    def person(self, name="user", provider=None):
        """A user on a device of its own."""
        return Person(self, provider or self.backend, name)

    def tls(self, person=None):
        """A client's context, with the certificate of a person's device."""
        made = ssl.create_default_context(cafile=self.ca)
        if person:
            made.load_cert_chain(*person.device.files)
        return made

    def connection(self, person=None, source="127.0.0.1"):
        """A connection of HTTP/1.1, to the client listener where it is a person's."""
        return Connection(self.client if person else self.public, self.tls(person), source)

    def processor(self):
        """The service's processor time so far, milliseconds."""
        return processor(self.pid) / 1e6

    def memory(self):
        """What the service holds, MiB."""
        return resident(self.pid)

    def close(self):
        """Ends what was started, and removes it."""
        for node in self.installation.nodes if self.installation else []:
            if node.process.poll() is None:
                node.kill()
        if self.server:
            self.server.stop()
        for act in self.last:
            act()
        shutil.rmtree(self.directory, ignore_errors=True)


class Beside:
    """A client that asks for what costs least while an attack goes on."""

    def __init__(self, target):
        self.honest = Honest(target)

    def __enter__(self):
        self.honest.start()
        return self

    def __exit__(self, *_):
        self.honest.stop.set()
        self.honest.join()

    def __str__(self):
        waits, errors = self.honest.waits, self.honest.errors
        return (f"others wait {percentile(waits, 0.5):.1f} ms, p99 {percentile(waits, 0.99):.1f} ms, "
                f"{share(len(errors), len(waits))} refused")


def share(part, whole):
    """A part in percent."""
    return f"{100 * part / whole if whole else 0:.1f} %"


def request(method, path, person=None, body=None, **fields):
    """The bytes of a request of HTTP/1.1."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    if person:
        lines.append(f'Authorization: Layer session-token="{person.token}"')
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def new_id():
    return str(uuid.uuid4())
