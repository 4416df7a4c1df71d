"""Several nodes on one PostgreSQL, a carrier of pushes, and users with several devices who call any of the nodes."""

import json
import shutil
import tempfile
import uuid
from pathlib import Path

from Phone.recorder import RecordedCarrier
from Shared import postgresql
from Shared.checks import accepted, equal
from Shared.client import Device
from Shared.installation import Installation

# Whoever may write to each other needs no card here.
OPEN = {
    "authorizations.yaml": "required_level: none\n",
    "streams.yaml": "required_level: none\nwrites_per_minute: 100000\nreads_per_minute: 100000\n",
}


class Cluster:
    """Nodes, their store and the carrier; all of them end with this object."""

    def __init__(self, countersign, policies, nodes, changes=None):
        self.directory = Path(tempfile.mkdtemp(prefix="countersign-", dir="/tmp"))
        # The store runs under an account of its own.
        self.directory.chmod(0o711)
        self.store, self.carrier, self.installation = None, None, None
        try:
            shutil.copytree(policies, self.directory / "Policies")
            self.store = postgresql.Server(self.directory / "store").make().start()
            self.installation = Installation(
                countersign, self.directory / "Policies", self.directory, postgresql.address(self.store))
            self.carrier = RecordedCarrier("APNS", "APNS_VOIP", "GCM")
            self.carrier.write_policies(self.directory / "Policies")
            for name, text in {**OPEN, **(changes or {})}.items():
                (self.directory / "Policies" / name).write_text(text)
            for number in range(nodes):
                self.installation.node(f"node-{number}", environment=self.carrier.environment)
            self.provider = self.installation.provider(self.nodes[0])
        except BaseException:
            self.__exit__(None, None, None)
            raise

    @property
    def nodes(self):
        """The nodes, the first one first."""
        return self.installation.nodes

    def app(self, name):
        """A further app of the provider."""
        made = self.installation.admin("provider", "app", "add", self.provider.slug, "--name", name, "--json")
        return json.loads(made)["app_id"]

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        for node in self.nodes if self.installation else []:
            if error:
                print(f"--- {node.name}\n{node.log.read_text()[-2000:]}")
            if node.process.poll() is None:
                node.kill()
        if self.carrier:
            self.carrier.stop()
        if self.store:
            self.store.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


class UserDevice:
    """A device of a user with a session of an app, on connections of its own to each node."""

    def __init__(self, cluster, user, app, **endpoints):
        self.cluster, self.user, self.app = cluster, user, app
        first = cluster.nodes[0]
        device = Device(first.public, first.client, cluster.installation.authority, "EC")
        accepted(device.certify(), 201)
        self.at = [device] + [device.at(node.public, node.client) for node in cluster.nodes[1:]]
        self.log_in()
        self.endpoints = {name: cluster.carrier.endpoint(platform, uuid.uuid4().hex) for name, platform in endpoints.items()}
        if self.endpoints:
            accepted(self.call(0, "PATCH", "/me", json=self.endpoints))

    def log_in(self):
        """A session, opened on the first node."""
        token = self.cluster.provider.identity_token(self.user.name, self.at[0].nonce())
        session = accepted(self.at[0].create_session(token, self.app), 201)
        self.token, self.user.user_id, self.user.address = session["session_token"], session["user_id"], session["address"]

    def call(self, node, method, path, **arguments):
        """A request in the session, on a node."""
        return self.at[node].call(method, path, self.token, **arguments)

    def close(self):
        """Leaves every connection."""
        for device in self.at:
            device.close()


class User:
    """A user with devices, by their names."""

    def __init__(self, cluster, name, devices):
        """`devices` are the app and the endpoints (`push_endpoint`, `call_endpoint`) of each, by its name."""
        self.name = f"{name}-{uuid.uuid4()}"
        self.user_id, self.address = None, None
        self.devices = {label: UserDevice(cluster, self, app, **ends) for label, (app, ends) in devices.items()}

    def __getitem__(self, label):
        return self.devices[label]

    @property
    def endpoints(self):
        """Where usual pushes to the user go."""
        return [device.endpoints["push_endpoint"] for device in self.devices.values()]


def permit(one, other):
    """One device's user asks the other's for the permission, and gets it; the authorization's id."""
    name = str(uuid.uuid4())
    accepted(one.call(0, "POST", "/authorizations", json={"id": name, "to": other.user.user_id}), 201)
    row = accepted(other.call(0, "POST", f"/authorizations/{name}/approval"))
    equal(row["state"], "APPROVAL", "the state")
    return name


def message(text):
    """A message of one part."""
    return {"id": str(uuid.uuid4()), "parts": [{"type": "text/plain", "body": text}]}


def opened(device, kind, other, node=0):
    """A stream with another user; its path."""
    made = {"id": str(uuid.uuid4()), "kind": kind, "members": [other.user_id]}
    return "/streams/" + accepted(device.call(node, "POST", "/streams", json=made), 201)["id"]


def rang(device, other, node=0):
    """A call of another user, offered; its path."""
    path = opened(device, "call", other, node)
    accepted(device.call(node, "POST", f"{path}/events", json=message("offer")), 201)
    return path
