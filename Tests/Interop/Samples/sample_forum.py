"""Walks the forum's sample as its users do, good and bad, beside a running service."""

import json
import re
import sqlite3
import subprocess
import tempfile
import time
import uuid

from websockets.exceptions import InvalidStatus

from Providers.events import set_webhook
from Samples import sample_frames
from Samples import samples
from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT
from Samples.forum_world import PNG, Pictures, World, closed, received, until


def session(world):
    """The session at Countersign is the log-in: checked offline, and only on the device that it is bound to."""
    me = accepted(world.ada.call("POST", "/auth/login"))
    equal(me["username"], "ada", "the name")
    for path in ("/whoami", "/auth/whoami"):
        equal(accepted(world.ben.get(path))["username"], "ben", "the name")
    equal(world.ada.post("/auth/login", username="ada", password="x").status_code, 400, "the status with a password")
    samples.refuses_strangers(world.forum, world.chosen, world.ada, world.ben, "/whoami")


def create(world):
    """A forum has a title of its own, and a picture that could be fetched, or an identicon."""
    made = world.make(world.ada, "Träume", description="of all", imageURL=world.picture + "/a.png")
    shown = accepted(world.ben.get(f"/forum/{made['id']}"))["forum"]
    equal((shown["createdBy"], shown["createdTime"]), ("ada", made["createdTime"]), "the creator and the time")
    expect(abs(shown["createdTime"] / 1000 - time.time()) < 600, "the time of the creation")
    image = world.forum.get(f"/forum/{made['id']}/image")
    equal((image.content, image.headers["Content-Type"]), (PNG, "image/png"), "the picture")
    for title, status in (("TRÄUME", 409), ("Tra\u0308ume", 409), ("", 400), ("x" * 256, 400), ("a\u202eb", 400)):
        equal(world.ben.post("/forum", title=title).status_code, status, f"the status of {title[:20]!r}")
    icons = {world.forum.get(f"/forum/{world.make(world.ben, title)['id']}/image").text for title in ("x" * 255, "Y")}
    expect(len(icons) == 2 and all(icon.startswith("<svg") for icon in icons), "identicons")
    for path in ("/page", "/none", "/large.png", "/away"):
        answer = world.ben.post("/forum", title=f"T{path}", imageURL=world.picture + path)
        equal(answer.status_code, 400, f"the status of a picture at {path}")
    expect("/away" in Pictures.asked and Pictures.asked.count("/a.png") == 1, "a redirection was followed")
    for url in ("file:///etc/passwd", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "x", "http://192.168.0.1/"):
        equal(world.ben.post("/forum", title="T", imageURL=url).status_code, 400, f"the status of {url}")


def inside(world):
    """A picture's URL reaches nothing but the public Internet, however the address is written."""
    Pictures.asked.clear()
    with samples.Running(world.chosen, "strict", audience=world.provider.provider_id) as strict:
        ada = samples.SignedIn(strict, world.ada.device, world.ada.session, world.provider.provider_id)
        for host in ("127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0",
                     "169.254.169.254", "10.0.0.1", "[fd00::1]", "[64:ff9b::7f00:1]"):
            answer = ada.post("/forum", title=f"T {host}", imageURL=f"http://{host}/a.png")
            equal(answer.status_code, 400, f"the status of {host}")
        port = world.picture.rpartition(":")[2]
        equal(ada.post("/forum", title="T", imageURL=f"http://127.0.0.1:{port}/a.png").status_code, 400, "the status")
    equal(Pictures.asked, [], "what was fetched")


def paging(world):
    """The newest hundred forums, older ones by paging, newer ones on refresh."""
    with sqlite3.connect(world.forum.place / "forum.db", timeout=TIMEOUT) as store:
        for number in range(120):
            store.execute(
                "INSERT INTO forums (id, title, title_key, description, created_by, created_time) "
                "VALUES (?, ?, ?, '', 'seed', 0)", (uuid.uuid4().bytes, f"Seed {number}", f"seed {number}"))
    newest = accepted(world.ada.get("/forum"))
    equal((len(newest), newest[0]["title"]), (100, "Seed 119"), "the newest hundred")
    by_offset = accepted(world.ada.get("/forum?offset=100&resultSize=10"))
    by_number = accepted(world.ada.get(f"/forum?lessThan={newest[-1]['number']}&resultSize=10"))
    equal(by_offset, by_number, "the older ones")
    equal(by_offset[0]["title"], "Seed 19", "the next older one")
    equal(accepted(world.ada.get(f"/forum?greaterThan={newest[0]['number']}")), [], "what is newer")
    made = world.make(world.ada, "Newer")
    equal(accepted(world.ada.get(f"/forum?greaterThan={newest[0]['number']}")), [made], "what is newer")
    for query in ("resultSize=101", "resultSize=0", "offset=-1", "greaterThan=x", "offset=10001"):
        equal(world.ada.get(f"/forum?{query}").status_code, 400, f"the status of {query}")


def messages(world):
    """Messages are texts and links, sent once however often they come, older ones by paging."""
    path = f"/forum/{world.make(world.ada, 'Messages')['id']}/message"
    draft = {"id": str(uuid.uuid4()), "text": "once"}
    first = accepted(world.ada.post(path, **draft), 201)
    equal(accepted(world.ada.post(path, **draft), 201), first, "the same message again")
    equal(world.ada.post(path, **{**draft, "text": "other"}).status_code, 409, "the status of another text")
    equal(world.ben.post(path, **draft).status_code, 409, "the status of another's id")
    link = accepted(world.ben.post(path, link="https://example.org/?q=1"), 201)
    equal((link["link"], link.get("text")), ("https://example.org/?q=1", None), "the link")
    for wrong in ({"link": "javascript:alert(1)"}, {"link": "https://a@b/"}, {"text": " "}, {}, {"text": "x" * 4001},
                  {"text": "a", "link": "https://example.org"}):
        equal(world.ada.post(path, **wrong).status_code, 400, f"the status of {str(wrong)[:60]}")
    for number in range(5):
        accepted(world.ben.post(path, text=str(number)), 201)
    found = accepted(world.ada.get(f"{path}?resultSize=3"))
    equal([one["text"] for one in found], ["4", "3", "2"], "the newest")
    older = accepted(world.ada.get(f"{path}?lessThan={found[-1]['number']}"))
    equal([one.get("text") or one["link"] for one in older], ["1", "0", link["link"], "once"], "the older ones")
    equal(world.ada.get(f"/forum/{uuid.uuid4()}/message").status_code, 404, "the status of an unknown forum")


def live(world):
    """Messages and who is on line come over WebSockets, which `websockets` judges."""
    forum = world.make(world.ada, "Live")
    ada, greeting = world.joined(world.ada, forum)
    equal((greeting["type"], greeting["online"], greeting["latest"]), ("welcome", ["ada"], 0), "the greeting")
    ben, greeting = world.joined(world.ben, forum)
    equal(greeting["online"], ["ada", "ben"], "who is on line")
    event = received(ada)
    equal((event["type"], event["user"], event["online"]), ("online", "ben", True), "who has come")
    ada.send(json.dumps({"text": "häı 👋"}))
    for socket in (ada, ben):
        equal(until(socket, "message")["message"]["text"], "häı 👋", "the message")
    accepted(world.ada.post(f"/forum/{forum['id']}/message", link="https://example.org/"), 201)
    equal(until(ben, "message")["message"]["link"], "https://example.org/", "the link")
    ben.send(["{\"text\": ", "\"in two ", "frames\"}"])
    equal(until(ada, "message")["message"]["link"], "https://example.org/", "the link")
    equal(until(ada, "message")["message"]["text"], "in two frames", "the message")
    for wrong in ("no JSON", json.dumps({"text": ""}), json.dumps({"link": "data:,x"})):
        ben.send(wrong)
        expect(until(ben, "error")["message"], "no reason")
    expect(ben.ping().wait(TIMEOUT), "a ping is not answered")
    equal(accepted(world.ada.get(f"/forum/{forum['id']}"))["online"], ["ada", "ben"], "who is on line")
    ben.close()
    event = until(ada, "online")
    equal((event["user"], event["online"]), ("ben", False), "who has left")
    ada.close()


def admission(world):
    """A WebSocket opens only to its subscriber, on the subscriber's device, and while the token lives."""
    forum = world.make(world.ada, "Admission")
    made = accepted(world.ada.post("/subscription", forum=forum["id"]), 201)
    equal(accepted(world.ada.post("/subscription", forum=forum["id"]), 201), made, "the subscription again")
    expect(made in accepted(world.ada.get("/subscription")), "the subscription is not listed")

    def status(person, subscription, token=None):
        try:
            world.socket(person, subscription, token)
        except InvalidStatus as refused:
            return refused.response.status_code
        raise AssertionError("it opened")

    equal(status(world.ben, made["id"]), 404, "the status for another user")
    equal(status(world.ben, made["id"], world.ada.token), 401, "the status on another device")
    equal(status(world.ada, uuid.uuid4()), 404, "the status of no subscription")
    equal(world.ada.get(f"/websocket/{made['id']}").status_code, 426, "the status without an upgrade")
    _, signed = samples.hostile_tokens(world.chosen, world.ada.token)
    brief = world.socket(world.ada, made["id"], signed(exp=int(time.time()) + 3))
    received(brief)
    equal(closed(brief), 1008, "the code when the token ends")
    open_ones = [world.socket(world.ada, made["id"]) for _ in range(8)]
    for socket in open_ones:
        received(socket)
    equal(status(world.ada, made["id"]), 429, "the status of a ninth")
    equal(world.ada.call("DELETE", f"/subscription/{made['id']}").status_code, 204, "the status")
    equal([closed(socket) for socket in open_ones], [1008] * 8, "the codes when the subscription ends")
    equal(world.ada.call("DELETE", f"/subscription/{made['id']}").status_code, 404, "the status of a second end")


def frames(world):
    """Frames that no client may send close the connection with the code of RFC 6455, which `wsproto` judges."""
    forum = world.make(world.ben, "Frames")
    made = accepted(world.ben.post("/subscription", forum=forum["id"]), 201)
    place = world.forum.device.removeprefix("https://")
    for name, data, code in sample_frames.HOSTILE:
        found = sample_frames.sent(
            place, world.tls(world.ben), f"/websocket/{made['id']}", f"Bearer {world.ben.token}", data)
        equal(found, code, f"the code of {name}")


def log_out(world):
    """A log-out closes the session's WebSockets and refuses its token, not a later one."""
    ada = world.sign_in("ada")
    socket, _ = world.joined(ada, world.make(ada, "Leaving"))
    equal(ada.call("POST", "/auth/logout").status_code, 204, "the status")
    equal(closed(socket), 1008, "the code")
    equal(ada.get("/whoami").status_code, 401, "the status of the token")
    equal(accepted(world.ada.get("/whoami"))["username"], "ada", "another session of the user")
    time.sleep(1.1)  # a token names whole seconds
    ada.token = ada.exchanged()
    equal(accepted(ada.call("POST", "/auth/login"))["username"], "ada", "a later token")


def revoked(world):
    """A log-out at Countersign closes the session's WebSockets at once, as its event says, and no other session's."""
    forum = world.make(world.ada, "Revoked")
    url = f"{world.forum.plain}/events"
    for wrong in ("", "x.y.z", world.ada.token):
        answer = world.forum.connection.post(url, data=wrong, timeout=TIMEOUT)
        equal((answer.status_code, answer.json()["err"]), (400, "invalid_request"), f"the answer to {wrong[:9]!r}")
    accepted(set_webhook(world.provider, url))
    leaving, staying = world.sign_in("cem"), world.sign_in("cem")
    sockets = [world.joined(person, forum)[0] for person in (leaving, staying)]
    began = time.monotonic()
    ended = leaving.device.call("DELETE", "/sessions/current", leaving.session["session_token"])
    equal(ended.status_code, 204, "the status")
    equal(closed(sockets[0]), 1008, "the code")
    # The token of the socket has more than a minute left.
    expect(time.monotonic() - began < 30, "it closed with its token")
    equal(leaving.get("/whoami").status_code, 401, "the status of the token")
    equal(accepted(staying.get("/whoami"))["username"], "cem", "another session of the user")
    sockets[1].send(json.dumps({"text": "still here"}))
    equal(until(sockets[1], "message")["message"]["text"], "still here", "the other session's message")
    accepted(world.provider.end_sessions("cem"), 204)
    equal(closed(sockets[1]), 1008, "the code when the provider ends all")
    equal(staying.get("/whoami").status_code, 401, "the status of the token")
    equal(accepted(world.sign_in("cem").get("/whoami"))["username"], "cem", "a new session")


def page(world):
    """The page shows forums and messages to anybody in headless Chromium; a hostile text stays a text."""
    title = "<img src=x onerror=\"document.title='taken'\">"
    forum = world.make(world.ada, title, imageURL=world.picture + "/a.png")
    path = f"/forum/{forum['id']}/message"
    accepted(world.ada.post(path, text="</li><script>document.title='taken'</script>"), 201)
    accepted(world.ada.post(path, link="https://example.org/page"), 201)
    for method in ("post", "put", "delete"):
        answer = getattr(world.forum.connection, method)(world.forum.plain + path, json={"text": "x"}, timeout=TIMEOUT)
        expect(answer.status_code in (404, 405), f"{method}: {answer.status_code}")
    policy = world.forum.get("/").headers["Content-Security-Policy"]
    expect("default-src 'none'" in policy and "unsafe" not in policy, policy)
    with tempfile.TemporaryDirectory() as profile:
        dom = subprocess.run(
            ["chromium-headless-shell", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
             "--virtual-time-budget=4000", "--timeout=20000", "--dump-dom", f"{world.forum.plain}/#{forum['id']}"],
            check=True, capture_output=True, text=True, timeout=60).stdout
    expect("<title>taken</title>" not in dom, "a script of a text has run")
    expect("&lt;img src=x onerror=" in dom and "&lt;/li&gt;&lt;script&gt;" in dom, dom[:3000])
    expect(re.search(r'<a [^>]*href="https://example.org/page"[^>]*>https://example.org/page</a>', dom), "the link")
    equal(len(re.findall(r"<li[ >]", dom)), 100 + 2 + 1, "the rows of forums, messages and members on line")
    for wanted in (f'src="/forum/{forum["id"]}/image"', 'src="/avatar?user=ada"', "No member is on line."):
        expect(wanted in dom, dom[:3000])


def main():
    world = World(samples.parser(__doc__).parse_args())
    with world.forum:
        samples.walk(
            [session, create, inside, paging, messages, live, admission, frames, log_out, revoked, page], world)


if __name__ == "__main__":
    main()
