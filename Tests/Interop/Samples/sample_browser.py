"""Reads and writes in the forum's sample with headless Chromium, as people with a phone or without a mouse do."""

import re
import sqlite3
import uuid
from pathlib import Path

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from Providers.events import set_webhook
from Samples import samples
from Samples.browser import Browser
from Samples.forum_world import PNG, World, closed, received
from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT

LONG = "W" * 300
HOSTILE = "</li><script>document.title='taken'</script>"


def exchange(world, ticket, status=200):
    answer = world.forum.post("/ticket", ticket=ticket)
    equal(answer.status_code, status, "the status of an exchange")
    return answer.json() if status == 200 else None


def live(world, forum, ticket):
    return connect(
        f"{world.forum.plain.replace('http', 'ws')}/live/{forum['id']}?ticket={ticket}", open_timeout=TIMEOUT,
        close_timeout=TIMEOUT, compression=None, legacy=True)


def refused(world, forum, ticket):
    """The status with which a WebSocket does not open."""
    try:
        live(world, forum, ticket)
    except InvalidStatus as error:
        return error.response.status_code
    raise AssertionError("it opened")


def tickets(world):
    """A ticket is used once, for one thing, and ends with its session, which ends with the token without events."""
    forum = world.make(world.ada, "Tickets")
    samples.refuses_strangers(world.forum, world.chosen, world.ada, world.ben, "/ticket", "POST")
    token_ends = accepted(world.ada.get("/whoami"))["expiresAt"]
    issued = accepted(world.ada.post("/ticket"), 201)
    equal((issued["path"], issued["expiresAt"]), (f"/#ticket={issued['ticket']}", token_ends), "the ticket")
    equal(refused(world, forum, issued["ticket"]), 403, "the status of a WebSocket with the app's ticket")
    exchange(world, issued["ticket"], 403)
    granted = exchange(world, accepted(world.ada.post("/ticket"), 201)["ticket"])
    equal((granted["user"], granted["expiresAt"]), ("ada", token_ends), "what the page gets")
    exchange(world, granted["socket"], 403)
    granted = exchange(world, granted["ticket"])
    equal(refused(world, {"id": uuid.uuid4()}, "x"), 403, "the status of no ticket")
    socket = live(world, forum, granted["socket"])
    equal(received(socket)["online"], ["ada"], "who is on line")
    equal(refused(world, forum, granted["socket"]), 403, "the status of a used ticket")
    next_one = exchange(world, granted["ticket"])
    equal(refused(world, {"id": uuid.uuid4()}, next_one["socket"]), 404, "the status of an unknown forum")
    equal(world.forum.connection.delete(
        world.forum.plain + "/ticket", json={"ticket": next_one["ticket"]}, timeout=TIMEOUT).status_code, 204, "the end")
    exchange(world, next_one["ticket"], 403)
    socket.close()

    eve = world.sign_in("eve")
    granted = exchange(world, accepted(eve.post("/ticket"), 201)["ticket"])
    waiting = accepted(eve.post("/ticket"), 201)["ticket"]
    socket = live(world, forum, granted["socket"])
    equal(eve.post("/logout").status_code, 204, "the status of the log-out")
    equal(closed(socket), 1008, "the code after the log-out")
    for ticket in (granted["ticket"], waiting):
        exchange(world, ticket, 403)


def avatars(world):
    """A user has initials, or a picture that could be fetched, which nobody else changes."""
    def shown(name):
        answer = world.forum.connection.get(world.forum.plain + "/avatar", params={"user": name}, timeout=TIMEOUT)
        equal(answer.status_code, 200, "the status")
        expect("sandbox" in answer.headers["Content-Security-Policy"], "the policy")
        return answer

    def initials(name):
        return re.search(r">([^<]*)</text>", shown(name).text).group(1)

    for name, letters in (("ada", "A"), ("ben.okafor@example.org", "BO"), ("émile zola", "ÉZ"), ("</text><script>", "TS"),
                          ("..", "?"), ("7of9", "7")):
        equal(initials(name), letters, f"the initials of {name}")
    expect(shown("ada").text != shown("adb").text, "the colours")
    for name in ("", "x" * 257):
        answer = world.forum.connection.get(world.forum.plain + "/avatar", params={"user": name}, timeout=TIMEOUT)
        equal(answer.status_code, 400, "the status")
    put = lambda url: world.ada.call("PUT", "/avatar", json={"imageURL": url}).status_code
    equal(put(world.picture + "/page"), 400, "the status of a page")
    equal(put(world.picture + "/a.png"), 204, "the status of a picture")
    equal((shown("ada").content, shown("ada").headers["Content-Type"]), (PNG, "image/png"), "the picture")
    equal(put(""), 204, "the status of a removal")
    equal(initials("ada"), "A", "the initials")
    samples.refuses_strangers(world.forum, world.chosen, world.ada, world.ben, "/avatar", "PUT")


def reading(world):
    """The page shows forums and messages to everyone, fits a phone and a desk, and a hostile text stays a text."""
    world.talk = world.make(world.ben, "A talk " + LONG[:200], description=LONG, imageURL=world.picture + "/a.png")
    world.make(world.ada, "<img src=x onerror=\"document.title='taken'\">")
    for text in ("Hello", LONG, HOSTILE):
        accepted(world.ben.post(f"/forum/{world.talk['id']}/message", text=text), 201)
    accepted(world.ada.post(f"/forum/{world.talk['id']}/message", link="https://example.org/" + LONG.lower()), 201)
    with Browser() as browser:
        for width, height in ((320, 640), (1280, 800)):
            browser.size(width, height)
            browser.open(world.forum.plain + "/")
            browser.until("document.querySelectorAll('#forums li').length >= 3")
            browser.fits()
            browser.picture(Path(world.chosen.directory, f"forums-{width}.png"))
            browser.open(f"{world.forum.plain}/#{world.talk['id']}")
            browser.until("document.querySelectorAll('#messages li').length === 4")
            browser.fits()
            browser.picture(Path(world.chosen.directory, f"messages-{width}.png"))
            equal(browser.value("document.querySelectorAll('#messages script, #forums strong img').length"), 0, "markup")
            equal(browser.value("document.querySelectorAll('#messages time[datetime], #messages img[src]').length"), 8,
                  "times and pictures of messages")
            expect("taken" not in browser.value("document.title"), "a script of a text has run")
            expect(browser.value("getComputedStyle(document.getElementById('composer')).display") == "none", "the form")
            expect(browser.value("document.getElementById('read-only').offsetHeight > 0"), "no word why")
            browser.until("[...document.images].filter(one => one.src).every(one => one.complete && one.naturalWidth)")
        equal(browser.faults, [], "faults of the page")


def writing(world):
    """With the app's ticket a person writes with the keyboard alone, reads at once, and is out when the session ends."""
    accepted(set_webhook(world.provider, f"{world.forum.plain}/events"))
    dan = world.sign_in("dan")
    # Another user's log-out is an event, so Countersign knows the forum.
    leaving = world.sign_in("fay")
    equal(leaving.device.call("DELETE", "/sessions/current", leaving.session["session_token"]).status_code, 204, "status")

    def lasting():
        issued = accepted(dan.post("/ticket"), 201)
        return issued if issued["expiresAt"] > accepted(dan.get("/whoami"))["expiresAt"] + 3600 else None

    issued = soon(lasting, "no event has arrived")
    with Browser() as browser:
        browser.size(320, 640)
        browser.open(world.forum.plain + issued["path"])
        browser.until("document.getElementById('my-name').textContent === 'dan'")
        expect(issued["ticket"] not in browser.value("location.href"), "the ticket is in the address")
        browser.tab_to(f"one.hash?.toLowerCase() === '#{world.talk['id'].lower()}'")
        browser.press("Enter")
        browser.until("document.activeElement.id === 'title'")
        browser.until("document.getElementById('composer').offsetHeight > 0")
        browser.tab_to("one.id === 'text'")
        browser.type("From a browser 👋")
        browser.press("Enter")
        browser.until("document.querySelector('#messages .own .text')?.textContent === 'From a browser 👋'")
        browser.fits()
        browser.picture(Path(world.chosen.directory, "writing-320.png"))
        accepted(world.ben.post(f"/forum/{world.talk['id']}/message", text="An answer"), 201)
        browser.until("[...document.querySelectorAll('#messages .text')].at(-1).textContent === 'An answer'")
        browser.tab_to("one.id === 'text'")
        browser.type("http://example.org/x")
        browser.press("Enter")
        browser.until("document.querySelectorAll('#messages .own a[href=\"http://example.org/x\"]').length === 1")
        # The link is not followed: the person does not confirm.
        asked = browser.value("""(() => {
            const [asked, real] = [[], window.confirm];
            window.confirm = words => { asked.push(words); return false; };
            document.querySelector('#messages .own a[href^="http:"]').click();
            window.confirm = real;
            return asked;
        })()""")
        expect(len(asked) == 1 and "not encrypted" in asked[0], f"what the page asks before it opens the link: {asked}")
        browser.value("window.isOld = true")
        browser.call("Page.reload")
        browser.until("!window.isOld && document.getElementById('composer').offsetHeight > 0")
        browser.size(1280, 800)
        browser.fits()
        browser.picture(Path(world.chosen.directory, "writing-1280.png"))
        equal(dan.device.call("DELETE", "/sessions/current", dan.session["session_token"]).status_code, 204, "the status")
        browser.until("document.getElementById('status').textContent.startsWith('Signed out')")
        browser.until("document.getElementById('composer').offsetHeight === 0")
        equal(browser.value("sessionStorage.getItem('ticket')"), None, "the ticket that is left")
        equal(browser.faults, [], "faults of the page")
    with sqlite3.connect(world.forum.place / "forum.db", timeout=TIMEOUT) as store:
        found = store.execute("SELECT text, link FROM messages WHERE created_by = 'dan' ORDER BY number").fetchall()
    equal(found, [("From a browser 👋", None), (None, "http://example.org/x")], "what was written")


def main():
    world = World(samples.parser(__doc__).parse_args())
    with world.forum:
        samples.walk([tickets, avatars, reading, writing], world)


if __name__ == "__main__":
    main()
