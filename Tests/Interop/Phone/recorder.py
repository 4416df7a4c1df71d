"""moto's SNS behind a server that keeps every publication with its time: moto itself forgets times and attributes."""

import json
import threading
import time
import urllib.parse
from typing import NamedTuple

import boto3
import requests

from Phone.carrier import Carrier
from Shared import stand_in
from Shared.checks import PATIENCE, soon
from Shared.client import TIMEOUT


class Publication(NamedTuple):
    """A push that moto has taken."""

    at: float
    endpoint: str
    attributes: dict
    parts: dict

    @property
    def platform(self):
        """The platform of its endpoint."""
        return self.endpoint.split("/")[1]

    @property
    def part(self):
        """What its platform is told."""
        return json.loads(self.parts[self.platform])

    @property
    def data(self):
        """What the app reads."""
        if self.platform == "GCM":
            return self.part["fcmV1Message"]["message"]["data"]
        return {name: value for name, value in self.part.items() if name != "aps"}


def publication(form):
    """A form of SNS's call `Publish`, as its Query API has it."""
    attributes = {}
    for number in range(1, 11):
        name = form.get(f"MessageAttributes.entry.{number}.Name")
        if name:
            attributes[name] = form[f"MessageAttributes.entry.{number}.Value.StringValue"]
    parts = json.loads(form["Message"]) if form.get("MessageStructure") == "json" else {}
    return Publication(time.monotonic(), form["TargetArn"], attributes, parts)


class Passing(stand_in.Handler):
    """Passes a request on as it is, signature included, and the answer back."""

    def do_POST(self):
        body = self.body()
        answer = requests.post(self.server.target + self.path, data=body, headers=dict(self.headers), timeout=TIMEOUT)
        form = dict(urllib.parse.parse_qsl(body.decode()))
        if answer.status_code == 200 and "TargetArn" in form:
            self.server.seen.append(publication(form))
        self.answer(answer.status_code, answer.content, answer.headers.get("Content-Type", "text/xml"))


class RecordedCarrier(Carrier):
    """The carrier, its applications of some platforms, and what was published to their endpoints."""

    def __init__(self, *platforms):
        super().__init__()
        self.server = stand_in.start(Passing)
        self.server.target = self.url
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.identifier, self.secret = self.ready["key"]
        self.sns = boto3.client(
            "sns", endpoint_url=self.url, region_name=self.ready["region"], aws_access_key_id=self.identifier,
            aws_secret_access_key=self.secret)
        self.applications = {
            name: self.sns.create_platform_application(Name="app", Platform=name, Attributes={})["PlatformApplicationArn"]
            for name in platforms}

    @property
    def environment(self):
        """The credentials, as variables of the service."""
        return {"AWS_ACCESS_KEY_ID": self.identifier, "AWS_SECRET_ACCESS_KEY": self.secret}

    def write_policies(self, directory):
        """Has a service send pushes here."""
        (directory / "delivery.yaml").write_text(
            f"attempt_timeout: 30s\nsenders:\n  - kind: sns\n    region: {self.ready['region']}\n"
            f"    endpoint: http://127.0.0.1:{self.server.server_address[1]}\n")
        (directory / "phones.yaml").write_text(f"push_applications: {json.dumps(list(self.applications.values()))}\n")

    def endpoint(self, platform, token):
        """A new endpoint of an app on a device."""
        return self.sns.create_platform_endpoint(
            PlatformApplicationArn=self.applications[platform], Token=token)["EndpointArn"]

    def published(self, endpoint, kind=None, since=0.0):
        """What an endpoint got after a moment, of one type if that is given."""
        return [
            one for one in list(self.server.seen)
            if one.endpoint == endpoint and one.at > since and (kind is None or one.data.get("type") == kind)]

    def awaited(self, endpoint, kind, stream, seconds=PATIENCE):
        """The push about a call to an endpoint, as soon as it is there."""
        return soon(
            lambda: next((one for one in self.published(endpoint, kind) if one.data["stream_id"] == stream), None),
            f"no {kind} to {endpoint} in {seconds} s", seconds)

    def stop(self):
        """Ends both."""
        self.server.shutdown()
        super().stop()
