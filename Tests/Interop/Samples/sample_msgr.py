"""Walks the messenger's sample as its users do, good and bad, beside a running service."""

import json
import sqlite3
import threading
import uuid
from pathlib import Path

import requests

from Samples import samples
from Shared.checks import accepted, equal, expect, soon, whole_lines
from Shared.client import TIMEOUT

PASSWORD = "correct horse"
ENDPOINT = "arn:aws:sns:us-east-1:123456789012:endpoint/GCM/msgr/"


class World:
    """The messenger, a provider of its own, and two of its users."""

    def __init__(self, chosen):
        self.chosen = chosen
        self.key, self.registration, self.provider = samples.register(chosen, "msgr")
        self.start()

    def start(self, **more):
        self.msgr = samples.Running(
            self.chosen, "msgr", key=self.key, registration=self.registration, scrypt_rounds=samples.ROUNDS, **more)

    def register(self, name):
        return self.msgr.post("/register", Username=name, Password=PASSWORD, DeviceID="phone")

    def sign_in(self, name, device=None, device_id="phone"):
        """The password goes to the messenger alone; the rest is the session's."""
        device = device or samples.certified(self.chosen)
        answer = self.msgr.post("/login", Username=name, Password=PASSWORD, DeviceID=device_id, nonce=device.nonce())
        session = accepted(device.create_session(accepted(answer)["identity_token"]), 201)
        return samples.SignedIn(self.msgr, device, session, self.provider["provider_id"])


def register(world):
    """A name is registered once; what is missing or malformed is 400."""
    for name in ("ada", "ben", "cem"):
        accepted(world.register(name))
    equal(world.register("ADA").status_code, 403, "the status of a taken name")
    fields = {"Username": "dan", "Password": PASSWORD, "DeviceID": "phone"}
    for name in fields:
        equal(world.msgr.post("/register", **{**fields, name: ""}).status_code, 400, f"the status without {name}")
    for name in ("a b", "x" * 33, "а", "../x"):
        equal(world.register(name).status_code, 400, f"the status of {name!r}")
    equal(world.msgr.post("/register", **{**fields, "Password": "short"}).status_code, 400, "the status")
    stored = b"".join(file.read_bytes() for file in world.msgr.place.glob("msgr.db*"))
    expect(PASSWORD.encode() not in stored, "a password is stored")


def log_in(world):
    """A password opens a session at Countersign; ten wrong ones in a row are enough."""
    form = {"Username": "ada", "Password": PASSWORD, "DeviceID": "phone"}
    answer = requests.post(world.msgr.plain + "/login", data=form, timeout=TIMEOUT)
    equal((answer.status_code, answer.json()), (200, {"Username": "ada"}), "the answer to a form")
    world.ada, world.ben = world.sign_in("ada"), world.sign_in("ben")
    equal(world.msgr.post("/login", **{**form, "Username": "nobody"}).status_code, 403, "the status of nobody")
    statuses = [
        world.msgr.post("/login", **{**form, "Username": "cem", "Password": "wrong"}).status_code for _ in range(11)]
    equal(statuses, [403] * 10 + [429], "the statuses of guesses")
    equal(world.msgr.post("/login", **{**form, "Username": "cem"}).status_code, 429, "the status of the right one")
    samples.refuses_strangers(world.msgr, world.chosen, world.ada, world.ben, "/contacts", "POST")


def add(world):
    """Two become contacts when the second one confirms; the first push asks, and asks once."""
    anchor, found = world.ben.notifications()
    equal(found, [], "what is there before")
    equal(accepted(world.ada.post("/contacts")), [], "the contacts")
    for _ in range(2):
        equal(accepted(world.ada.post("/add", AddUser="ben", Message="Hi, I am Ada")), {"state": "requested"}, "add")
    anchor, found = world.ben.notifications(anchor)
    equal([one["data"] for one in found],
          [{"UserFrom": "ada", "Message": "Hi, I am Ada", "AddRequest": "true"}], "the push")
    equal(world.ada.post("/message", UserTo="ben", Message="Too soon").status_code, 403, "the status before")
    equal(accepted(world.ben.post("/add", AddUser="ada")), {"state": "friends"}, "the confirmation")
    for one, other in ((world.ada, "ben"), (world.ben, "ada")):
        equal(accepted(one.post("/contacts")), [other], "the contacts")
        equal(accepted(one.post("/add", AddUser=other)), {"state": "friends"}, "again")
    with sqlite3.connect(world.msgr.place / "msgr.db", timeout=TIMEOUT) as store:
        equal(store.execute("SELECT first, second FROM contacts").fetchall(), [("ada", "ben")], "the pairs")
        equal(store.execute("SELECT COUNT(*) FROM requests").fetchone(), (0,), "the requests left")
    for name, status in (("ada", 400), ("", 400), ("nobody", 404)):
        equal(world.ada.post("/add", AddUser=name).status_code, status, f"the status of {name!r}")


def message(world):
    """A message wakes the other one's device that waits, and comes once; without a contact it is 403."""
    anchor, _ = world.ben.notifications()
    found = []
    waiting = threading.Thread(target=lambda: found.extend(world.ben.notifications(anchor, wait=10)[1]))
    waiting.start()
    draft = {"UserFrom": "ada", "UserTo": "ben", "Message": "Hello ben \"👋\"", "id": str(uuid.uuid4())}
    equal(accepted(world.ada.post("/message", **draft)), {"delivered": True}, "the answer")
    waiting.join(TIMEOUT)
    expect(found, "the waiting device learns nothing")
    equal(found[0]["data"], {"UserFrom": "ada", "Message": draft["Message"]}, "the push")
    equal((found[0]["title"], found[0]["body"]), ("ada", draft["Message"]), "what a lock screen shows")
    accepted(world.ada.post("/message", **draft))
    _, found = world.ben.notifications()
    equal([one["data"]["Message"] for one in found].count(draft["Message"]), 1, "how often it came")
    refused = {403: [{"UserTo": "cem"}, {"UserFrom": "ben"}, {"UserTo": "nobody"}],
               400: [{"UserTo": ""}, {"Message": ""}, {"Message": "x" * 1001}, {"id": "x"}, {"Password": PASSWORD}]}
    for status, changes in refused.items():
        for change in changes:
            answer = world.ada.post("/message", **{**draft, **change})
            equal(answer.status_code, status, f"the status with {str(change)[:40]}")


def absent(world):
    """Somebody who has never signed in gets nothing, and the sender learns it; all devices of one get all."""
    accepted(world.register("eve"))
    accepted(world.ada.post("/add", AddUser="eve"))
    with sqlite3.connect(world.msgr.place / "msgr.db", timeout=TIMEOUT) as store:
        store.execute("INSERT INTO contacts VALUES ('ada', 'eve')")
    equal(accepted(world.ada.post("/message", UserTo="eve", Message="Hello")), {"delivered": False}, "the answer")
    tablet = world.sign_in("ben")
    accepted(world.ada.post("/message", UserTo="ben", Message="To both"))
    for device in (world.ben, tablet):
        _, found = device.notifications()
        equal(found[-1]["data"]["Message"], "To both", "what a device finds")


def pushes(world):
    """Each device that registered its DeviceID gets a push, without a proven number; a signed-out one gets none."""
    accepted(world.register("fay"))
    names = [ENDPOINT + str(uuid.uuid4()) for _ in range(3)]
    devices = [world.sign_in("fay", device_id=name) for name in names]
    for name, device in zip(names, devices):
        changed = accepted(device.device.call("PATCH", "/me", device.session["session_token"], json={"push_endpoint": name}))
        equal((changed["push_endpoint"], changed["assurance"]), (name, "none"), "the endpoint and the level")
    gone = devices.pop()
    equal(gone.device.call("DELETE", "/sessions/current", gone.session["session_token"]).status_code, 204, "the log-out")
    accepted(world.ada.post("/add", AddUser="fay"))
    accepted(devices[0].post("/add", AddUser="ada"))
    accepted(world.ada.post("/message", UserTo="fay", Message="To each phone"))
    texts = Path(world.chosen.directory, "texts.jsonl")

    def pushes():
        lines = [json.loads(line) for line in whole_lines(texts)] if texts.exists() else []
        found = {line["to"]: line["text"] for line in lines if "To each phone" in line.get("text", "")}
        return found if len(found) >= 2 else None

    found = soon(pushes, "not each phone has a push")
    equal(set(found), set(names[:2]), "the devices with a push")
    for text in found.values():
        equal(json.loads(json.loads(text)["APNS"])["Message"], "To each phone", "what the app reads")


def original(world):
    """The original calls, with a password in each, are there only if they are turned on."""
    def call(path, status=200, **fields):
        answer = requests.post(world.msgr.plain + path, data=fields, timeout=TIMEOUT)
        equal(answer.status_code, status, f"the status of {path} {sorted(fields)}")
        return answer.json() if status == 200 else None

    hal, gil = ({"Username": name, "Password": PASSWORD} for name in ("hal", "gil"))
    letter = {"UserFrom": "hal", "Password": PASSWORD, "UserTo": "gil", "Message": "By the original call"}
    for path, fields in (("/contacts", hal), ("/add", {**hal, "AddUser": "gil"}), ("/message", letter)):
        call(path, 404, **fields)
    world.msgr.__exit__(None, None, None)
    world.start(source_protocol="on")
    for name in ("hal", "gil"):
        accepted(world.register(name))
    device = world.sign_in("gil")
    call("/message", 403, **letter)
    equal(call("/add", **hal, AddUser="gil"), {"state": "requested"}, "the request")
    equal(call("/add", **gil, AddUser="hal"), {"state": "friends"}, "the confirmation")
    equal(call("/contacts", **hal), ["gil"], "the contacts")
    equal(call("/message", **letter), {"delivered": True}, "the answer")
    equal(device.notifications()[1][-1]["data"], {"UserFrom": "hal", "Message": letter["Message"]}, "the push")
    for missing in letter:
        call("/message", 400, **{name: value for name, value in letter.items() if name != missing})
    for path, fields in (("/contacts", gil), ("/add", {**gil, "AddUser": "hal"}),
                         ("/message", {**letter, "UserFrom": "gil", "UserTo": "hal"})):
        call(path, 403, **{**fields, "Password": "wrong"})
    for _ in range(7):
        call("/contacts", 403, **{**gil, "Password": "wrong"})
    for path, fields in (("/contacts", gil), ("/login", {**gil, "DeviceID": "phone"})):
        call(path, 429, **fields)
    equal(call("/contacts", **hal), ["gil"], "another user")


def main():
    world = World(samples.parser(__doc__).parse_args())
    try:
        samples.walk([register, log_in, add, message, absent, pushes, original], world)
    finally:
        world.msgr.__exit__(None, None, None)


if __name__ == "__main__":
    main()
