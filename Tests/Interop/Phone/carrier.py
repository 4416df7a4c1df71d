"""Amazon SNS as moto plays it, in a process that ends with the test."""

import json
import subprocess
import sys
from pathlib import Path

import requests

from Shared.checks import equal, soon
from Shared.client import TIMEOUT
from Shared.phones import code_of



class Carrier:
    """moto's SNS, with a platform application and endpoints."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("sns_service.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ready = json.loads(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.ready['ports'][0]}"
        self.application = self.ready["live"].rsplit("/", 1)[0].replace(":endpoint/", ":app/")

    def stop(self):
        """Ends it by the end of its input."""
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def seen(self):
        """What moto keeps of texts and endpoints."""
        return requests.get(self.url + "/moto-api/data.json", timeout=TIMEOUT).json()["sns"]

    def code(self, number, earlier=0):
        """The code of the first text to a number, or of the one after some earlier texts."""
        return soon(lambda: [
            code_of({"text": text["message"]}) for text in self.seen()["SMS"] if text["phone_number"] == number
        ][earlier:], f"no text came to {number}")[0]

    def pushes(self, count):
        """What the live endpoint got, once there are so many: what the app reads, and the whole text."""
        def found():
            texts = [
                message for endpoint in self.seen()["PlatformEndpoint"] if endpoint["arn"] == self.ready["live"]
                for message in endpoint["messages"].values()]
            return texts if len(texts) >= count else []

        texts = [text if isinstance(text, str) else json.dumps(text) for text in soon(found, "no push came")]
        equal(len(texts), count, "the number of pushes")
        return [(json.loads(json.loads(text)["APNS"]), text) for text in texts]


def write(path, text):
    """A file that only this account may read."""
    path.write_text(text)
    path.chmod(0o600)
