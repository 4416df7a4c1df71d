"""Walks the reading service's sample as its staff and volunteers do, good and bad, beside a running service."""

import csv
import datetime
import io
import sqlite3
import subprocess
import time
import uuid
from pathlib import Path

from Samples import samples
from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT

PASSWORD = "a long enough one"
COLUMNS = "username,groups,name,area_code,number,street,city,zip,state"
VERA = 'vera@example.org,"readers; listeners","Vera ""V"" Reader",916,452-8271,"1238 S Street, Apt 2",Sacramento,95811,ca'
LOU = "lou@example.org,listeners,=Lou,530,5550123,1 Main Street,Davis,95616,CA"


class World:
    """The reading service, and what staff do on its machine."""

    def __init__(self, chosen, **more):
        self.chosen = chosen
        self.archive, self.uploads = (Path(chosen.directory) / name for name in ("recordings", "uploads"))
        self.places = {"recordings": self.archive, "uploads": self.uploads, **more}
        self.key, self.registration, self.provider = samples.register(chosen, "reader")
        self.codes = {}
        self.start()

    def start(self, **more):
        self.reader = samples.Running(
            self.chosen, "reader", key=self.key, registration=self.registration,
            scrypt_rounds=samples.ROUNDS, **{**self.places, **more})

    def staff(self, command, status=0, **more):
        """What a command prints, as records; of one that fails, its errors."""
        words = [self.chosen.sample, command]
        usual = {"store": self.reader.place / "reader.db", "service": self.chosen.public, "ca": self.chosen.ca,
                 "key": self.key, "registration": self.registration}
        for name, value in {**usual, **more}.items():
            words += [f"--{name}", str(value)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        equal(done.returncode, status, f"the exit code of {command}: {done.stderr}")
        return list(csv.DictReader(io.StringIO(done.stdout))) if status == 0 else done.stderr

    def provision(self, *lines, status=0, columns=COLUMNS):
        file = self.reader.place / "people.csv"
        file.write_text("\r\n".join([columns, *lines]) + "\r\n")
        return self.staff("provision", status, csv=file)

    def set_password(self, name, code, password=PASSWORD):
        return self.reader.post("/password", username=f"{name}@example.org", code=code, password=password)

    def log_in(self, name, nonce="x", password=PASSWORD):
        return self.reader.post("/login", username=f"{name}@example.org", password=password, nonce=nonce)

    def sign_in(self, name, password=PASSWORD):
        device = samples.certified(self.chosen)
        token = accepted(self.log_in(name, device.nonce(), password))["identity_token"]
        session = accepted(device.create_session(token), 201)
        return samples.SignedIn(self.reader, device, session, self.provider["provider_id"])


def provision(world):
    """Staff take people in before their first sign-in, all of a file or none; nobody signs up."""
    equal(world.reader.post("/register", username="a@example.org", password=PASSWORD).status_code, 403, "the status")
    for lines, words in [
            ([VERA, LOU.replace("95616", "9561")], "record 3: zip"), ([LOU.replace("listeners", "staff")], "groups"),
            ([LOU, LOU], "twice"), ([LOU + ",x"], "10 fields"), (['"' + LOU], "quote"),
            ([LOU.replace("lou@", "lou")], "username"), ([LOU.replace("530", "130")], "area_code")]:
        expect(words in world.provision(*lines, status=2), f"no {words!r}")
    expect("columns" in world.provision("a,b", status=2, columns="a,b"), "no columns")
    equal(world.log_in("vera").status_code, 403, "the status before")
    issued = world.provision(VERA, LOU)
    equal([one["username"] for one in issued], ["vera@example.org", "lou@example.org"], "who is new")
    world.codes = {one["username"].partition("@")[0]: one["code"] for one in issued}
    equal(world.provision(VERA), [], "who is new the second time")
    equal(world.staff("changes"), [], "the changes")


def passwords(world):
    """A code sets a password once; a wrong one is counted, and the fifth is the last."""
    equal(world.log_in("vera").status_code, 403, "the status without a password")
    equal(world.set_password("vera", world.codes["vera"], "short").status_code, 400, "the status of a short one")
    equal(world.set_password("vera", "0" * 20).status_code, 403, "the status of a wrong code")
    equal(world.set_password("lou", world.codes["vera"]).status_code, 403, "the status of another's code")
    accepted(world.set_password("vera", world.codes["vera"]))
    equal(world.set_password("vera", world.codes["vera"]).status_code, 403, "the status of a used code")
    accepted(world.set_password("lou", world.codes["lou"]))
    world.vera, world.lou = world.sign_in("vera"), world.sign_in("lou")
    samples.refuses_strangers(world.reader, world.chosen, world.vera, world.lou, "/me")
    stored = b"".join(file.read_bytes() for file in world.reader.place.glob("reader.db*"))
    expect(PASSWORD.encode() not in stored and world.codes["vera"].encode() not in stored, "it is stored")
    code = world.staff("reset", username="lou@example.org")[0]["code"]
    statuses = [world.set_password("lou", "1" * 20).status_code for _ in range(5)]
    equal(statuses, [403] * 5, "the statuses of guesses")
    equal(world.set_password("lou", code).status_code, 403, "the status of the right code, too late")


def personal(world):
    """A volunteer changes an address, not a group; every change is kept with its time and who made it."""
    me = accepted(world.vera.get("/me"))
    equal((me["groups"], me["name"], me["number"], me["state"]),
          ({"listeners": True, "readers": True}, 'Vera "V" Reader', "4528271", "CA"), "the data")
    changed = accepted(world.vera.call("PATCH", "/me", json={"street": "2 Oak Street", "zip": "95811-1234"}))
    equal({**me, "street": "2 Oak Street", "zip": "95811-1234", "timestamp": changed["timestamp"]}, changed, "the data")
    expect(me["timestamp"] <= changed["timestamp"] <= time.time() and uuid.UUID(me["id"]), "the time of the last change")
    accepted(world.vera.call("PATCH", "/me", json={"street": "2 Oak Street"}))
    for field, value, status in (("groups", "readers", 403), ("username", "x@example.org", 403), ("zip", "1", 400),
                                 ("hash", "x", 403), ("street", "", 400)):
        equal(world.vera.call("PATCH", "/me", json={field: value}).status_code, status, f"the status of {field}")
    world.provision(VERA.replace("Sacramento", "Roseville"))
    kept = {one["field"]: one for one in world.staff("changes", username="vera@example.org")}
    equal(kept["city"]["before"] + ">" + kept["city"]["after"], "Sacramento>Roseville", "staff's change")
    equal((kept["zip"]["before"], kept["zip"]["after"], kept["zip"]["by"]),
          ("95811", "95811-1234", "vera@example.org"), "the user's own change")
    expect(kept["city"]["by"].startswith("staff "), kept["city"]["by"])
    at = datetime.datetime.fromisoformat(kept["zip"]["time"].replace("Z", "+00:00"))
    expect(abs(at.timestamp() - time.time()) < 600, "the time of the change")
    equal([one["field"] for one in accepted(world.vera.get("/me/changes"))].count("street"), 2, "the changes of street")
    equal(accepted(world.lou.get("/me/changes"))[0]["field"], "password", "another's changes")


def names(world):
    """A user name changes by its person or by staff, with its history, and never becomes another person's."""
    def rename(name, password=PASSWORD):
        return world.vera.call("PUT", "/me/username", json={"username": name, "password": password})

    def by_staff(*lines, status=0, columns="username,new_username"):
        file = world.reader.place / "names.csv"
        file.write_text("\n".join([columns, *lines]))
        return world.staff("rename", status, csv=file)

    for name, status in (("lou@example.org", 409), ("vera", 400), ("", 400), ("v\u0435ra@example.org", 400)):
        equal(rename(name).status_code, status, f"the status of {name!r}")
    equal(rename("vera.new@example.org", "x" * 12).status_code, 403, "the status of a wrong password")
    equal(accepted(rename("Vera.New@example.org"))["username"], "vera.new@example.org", "the new name")
    equal([world.log_in(name).status_code for name in ("vera", "vera.new")], [403, 200], "the log-ins")
    newest = accepted(world.vera.get("/me/changes"))[0]
    equal([newest[one] for one in ("field", "before", "after", "by", "username")],
          ["username", "vera@example.org", "vera.new@example.org", "vera@example.org", "vera.new@example.org"],
          "the history")
    expect("or did" in world.provision(VERA, status=2), "the former name became a new person's")
    for lines, words in ((["vera@example.org,x@example.org"], "unknown username"),
                         (["vera.new@example.org,y@example.org", "lou@example.org,vera.new@example.org"], "or did"),
                         (["lou@example.org,lou"], "record 2: username")):
        expect(words in by_staff(*lines, status=2), f"no {words!r}")
    expect("columns" in by_staff("a,b", status=2, columns="username,name"), "no columns")
    equal(accepted(world.vera.get("/me"))["username"], "vera.new@example.org", "the name after a file that was refused")
    equal(by_staff("vera.new@example.org,VERA@example.org"),
          [{"username": "vera.new@example.org", "new_username": "vera@example.org"}], "what staff see")
    newest = world.staff("changes", username="vera@example.org")[0]
    expect(newest["by"].startswith("staff "), newest["by"])
    equal([world.log_in(name).status_code for name in ("vera", "vera.new")], [200, 403], "the log-ins")
    equal(accepted(world.vera.get("/me"))["username"], "vera@example.org", "the session's person")


def kept(world):
    """A kept sign-in skips the log-in view: on a new connection the same session opens everything."""
    again = samples.SignedIn(world.reader, world.vera.device, world.vera.session, world.provider["provider_id"])
    again.device.reconnect()
    equal(accepted(again.get("/me"))["username"], "vera@example.org", "the user")


def timer(world):
    """The timer is submitted each minute, with each article and at the end, and nothing counts twice."""
    path = f"/sessions/{(session := str(uuid.uuid4()))}"
    equal(world.lou.post("/sessions", id=session).status_code, 403, "the status for a listener")
    equal(world.vera.get("/sessions/current").status_code, 404, "the status before")
    for _ in range(2):
        equal(accepted(world.vera.post("/sessions", id=session), 201)["seconds"], 0, "the time at the start")

    def submit(seconds):
        return accepted(world.vera.call("PUT", path + "/time", json={"seconds": seconds}))["seconds"]

    equal([submit(60), submit(60), submit(30)], [60, 60, 60], "the time, sent twice and late")
    expect(submit(80_000) <= 180, "the timer runs ahead of the clock")
    article = {"id": str(uuid.uuid4()), "title": "The weather", "seconds": 100}
    for _ in range(2):
        equal(accepted(world.vera.post(path + "/articles", **article), 201)["articles"], 1, "the articles")
    equal(world.vera.call("PUT", path + "/time", json={"seconds": -1}).status_code, 400, "the status of less than 0")
    # Two hours ago, as if they had passed.
    with sqlite3.connect(world.reader.place / "reader.db", timeout=TIMEOUT) as store:
        store.execute("UPDATE sessions SET started_at = started_at - 5400 WHERE id = ?", (session,))
    for _ in range(2):
        equal(accepted(world.vera.post(path + "/end", seconds=5400))["seconds"], 5400, "the time at the end")
    ended = accepted(world.vera.post(path + "/end", seconds=5400))
    equal(accepted(world.vera.post(path + "/end", seconds=5460)), ended, "the end again, of a timer that ran on")
    equal(world.vera.call("PUT", path + "/time", json={"seconds": 5401}).status_code, 409, "the status after the end")
    late = {**article, "id": str(uuid.uuid4())}
    equal(world.vera.post(path + "/articles", **late).status_code, 409, "the status of an article after the end")
    equal(accepted(world.vera.post(path + "/articles", **article), 201)["articles"], 1, "a repeated article")
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    accepted(world.vera.post("/sessions", id=first), 201)
    accepted(world.vera.call("PUT", f"/sessions/{first}/time", json={"seconds": 60}))
    other = world.vera.post("/sessions", id=second)
    equal((other.status_code, other.json()["running"]["id"]), (409, first), "the answer to a second start")
    equal(other.json()["running"], accepted(world.vera.get("/sessions/current")), "the session that runs")
    equal(accepted(world.vera.post(f"/sessions/{first}/end", seconds=60))["seconds"], 60, "its time")
    accepted(world.vera.post("/sessions", id=second), 201)
    equal(accepted(world.vera.get("/sessions/current"))["id"], second, "the session that runs")
    equal(world.vera.call("PUT", f"/sessions/{first}/time", json={"seconds": 61}).status_code, 409, "the one before")
    taken = world.vera.post(f"/sessions/{second}/articles", **article)
    equal(taken.status_code, 409, "the status of another session's article")


def report(world):
    """Statistics of a month for the volunteer, and a report of all hours for the grantor."""
    month = accepted(world.vera.get("/statistics"))["month"]
    with sqlite3.connect(world.reader.place / "reader.db", timeout=TIMEOUT) as store:
        # On the first day of a month some of it may lie in the month before: all of it is moved to one moment.
        begin = int(datetime.datetime(2025, 3, 1, 7, 59, 59, tzinfo=datetime.timezone.utc).timestamp())
        store.execute("UPDATE sessions SET started_at = ?", (begin,))
    found = accepted(world.vera.get("/statistics?month=2025-02"))
    equal(found, {"month": "2025-02", "sessions": 3, "articles": 1, "seconds": 5460}, "the statistics")
    equal(accepted(world.vera.get(f"/statistics?month={month}"))["sessions"], 0, "another month")
    equal(accepted(world.lou.get("/statistics?month=2025-02"))["sessions"], 0, "another's")
    for wrong in ("2025-13", "x", "2025-2"):
        equal(world.vera.get(f"/statistics?month={wrong}").status_code, 400, f"the status of {wrong}")
    world.provision(VERA.replace('"Vera ""V"" Reader"', "=1+1"))
    rows = world.staff("report", month="2025-02")
    equal([(row["name"], row["sessions"], row["articles"], row["hours"]) for row in rows],
          [("'=1+1", "3", "1", "1.52"), ("all", "3", "1", "1.52")], "the report")
    equal(world.staff("report", month="2025-02", zone="UTC")[0]["hours"], "0.00", "the hours in UTC")


def reset(world):
    """Staff's reset takes the password away and ends the sessions; a new code gives both back."""
    code = world.staff("reset", username="VERA@example.org")[0]["code"]
    equal(world.log_in("vera").status_code, 403, "the status of the old password")
    form = {**samples.EXCHANGE, "subject_token": world.vera.session["session_token"],
            "audience": world.provider["provider_id"]}
    equal(world.vera.device.call("POST", "/token", data=form).status_code, 400, "the status of an exchange")
    accepted(world.set_password("vera", code, PASSWORD + "!"))
    again = world.sign_in("vera", PASSWORD + "!")
    equal(accepted(again.get("/me"))["username"], "vera@example.org", "the user")
    expect("unknown username" in world.staff("reset", 2, username="nobody@example.org"), "no reason")


def commands(world):
    """A command creates no store and prints plain words, whatever it is given."""
    nowhere, empty, text = (world.reader.place / name for name in ("nowhere.db", "empty.db", "text.db"))
    empty.touch()
    text.write_text("no store " * 500)
    for command in ("provision", "reset", "changes", "report"):
        for store, words in ((nowhere, "There is no store at"), (empty, "not a store of this version"),
                             (text, "cannot be used")):
            printed = world.staff(command, 1, store=store, csv=world.reader.place / "people.csv", username="a@b.org")
            expect(words in printed and str(store) in printed, printed)
    expect(not nowhere.exists() and not empty.stat().st_size, "a command has made a store")
    for status, words, command, more in (
            (2, "The commands are", "provide", {}), (1, "--csv: /nowhere.csv cannot be read", "provision", {"csv": "/nowhere.csv"}),
            (2, "--csv is missing", "provision", {}), (1, "form 2026-11", "report", {"month": "x"}),
            (1, "--key: /nowhere.pem cannot be read", "reset", {"username": "vera@example.org", "key": "/nowhere.pem"}),
            (1, "not a P-256 private key", "reset", {"username": "vera@example.org", "key": text}),
            (1, "countersign provider add", "reset", {"username": "vera@example.org", "registration": text}),
            (1, "cannot be reached", "reset", {"username": "vera@example.org", "service": "https://127.0.0.1:1"})):
        printed = world.staff(command, status, **more)
        expect(words in printed and printed.count("\n") == 1, printed)
        expect(not any(raw in printed for raw in ("NSCocoa", "Error(", "Domain=", "Optional(")), printed)


def main():
    world = World(samples.parser(__doc__).parse_args())
    with world.reader:
        samples.walk([provision, passwords, personal, names, kept, timer, report, commands, reset], world)


if __name__ == "__main__":
    main()
