"""Every page of the console in a real browser without scripts, as each of the roles, over a store whose texts are hostile.

The route table comes from the service's own sources (`--routes`), so no page can be left out.
"""

import argparse
import asyncio
import json
import ssl
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from Console.console import ask, context, place
from Console.console_judges import Look, judge_documents, judge_texts
from Console.console_store import HARMLESS, HOSTILE, ConsoleStore
from Samples.browser import Browser
from Shared.checks import equal, expect
from Shared.client import TIMEOUT

ALL = ("security", "support", "reviewer", "auditor")
TYPED = {"Sec-Fetch-Site": "none"}


class Door:
    """Where the browser finds the console: it shows the certificate of one administrator. A headless browser has nobody
    who chooses one. Every byte passes as it is."""

    def __init__(self, loop, store, role):
        self.store, self.role = store, role
        keys = store.made.directory / "Keys"
        inside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        inside.load_cert_chain(keys / "server.pem", keys / "server.key")
        self.outside = context(store.made, store.of_role(role))
        listening = asyncio.run_coroutine_threadsafe(asyncio.start_server(self.enter, "127.0.0.1", 0, ssl=inside), loop)
        self.address = "https://127.0.0.1:%d" % listening.result(TIMEOUT).sockets[0].getsockname()[1]

    async def enter(self, reader, writer):
        """A connection of the browser."""
        try:
            answers, questions = await asyncio.open_connection(*place(self.store.node), ssl=self.outside)
            await asyncio.gather(self.pass_on(reader, questions), self.pass_on(answers, writer))
        except OSError:
            writer.close()

    @staticmethod
    async def pass_on(source, target):
        """One direction of a connection."""
        try:
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
        except OSError:
            pass
        target.close()


def addresses(store):
    """For each page of the route table the addresses that are opened. `{}` in them is what the values are for."""
    its = store.facts()
    users, devices, cards = its["users"], its["devices"], its["cards"]

    def each(template, values):
        return [template.replace("{}", value) for value in values]

    def search(**values):
        return "/search?" + urllib.parse.urlencode(values)

    return {
        "/": ["/"],
        "/search": [
            "/search", search(external_id=store.word(1)), search(external_id=store.word(2)), search(user=users["ada"]),
            search(session=its["session"]), search(device=devices["ada"]), search(serial=its["serial"])],
        "/users/{}": each("/users/{}", users.values()),
        "/users/{}/end-sessions": each("/users/{}/end-sessions", [users["ada"]]),
        "/users/{}/challenge": each("/users/{}/challenge", [users["ben"]]),
        "/users/{}/export": each("/users/{}/export", [users["cleo"]]),
        "/users/{}/erase": each("/users/{}/erase", [users["dora"]]),
        "/sessions/{}/end": each("/sessions/{}/end", [its["session"]]),
        "/devices/{}": each("/devices/{}", [devices["ada"], devices["cleo"]]),
        "/devices/{}/revoke": each("/devices/{}/revoke", [devices["ada"]]),
        "/bans": ["/bans", "/bans?state=all", "/bans?user=" + users["mallory"]],
        "/bans/new": ["/bans/new", f"/bans/new?kind=user&subject={users['ada']}"],
        "/bans/{}": each("/bans/{}", its["bans"]),
        "/bans/{}/lift": each("/bans/{}/lift", its["bans"][:1]),
        "/acts": ["/acts"],
        "/acts/{}": ["/acts/" + its["act"]],
        "/review": ["/review"],
        "/review/{}": each("/review/{}", cards.values()),
        "/review/{}/next": each("/review/{}/next", [cards["other"]]),
        "/providers": ["/providers"],
        "/providers/{}": ["/providers/test"],
        "/providers/{}/disable": ["/providers/test/disable"],
        "/providers/{}/enable": ["/providers/test/enable"],
        "/outbox": ["/outbox", "/outbox?state=dead", "/outbox?state=sent"],
        "/outbox/retry": ["/outbox/retry"],
        "/outbox/{}/retry": [f"/outbox/{its['outbox']['dead']}/retry"],
        "/outbox/{}/drop": [f"/outbox/{its['outbox']['waiting']}/drop"],
        "/audit": ["/audit", "/audit?event=nothing", "/audit?" + urllib.parse.urlencode({"actor": store.word(2)})],
        "/policies": ["/policies", "/policies?file=bans.yaml"],
        "/nodes": ["/nodes"],
    }


# Pages that a form leads to and that change nothing: the page with the form, the form's target, and what is typed in.
FORMS = {
    "/search": ("/search", {"trait": "phone", "value": "+14155550123", "reason": "ticket:1"}),
    "/bans/find": ("/bans", {"kind": "phone", "subject": "+14155550123"}),
    "/bans/new": ("/bans/new", {"kind": "user", "subject": "", "reason": "spam", "note": ""}),
    "/providers/{}/token": ("/providers/test", {"identity_token": ""}),
    "/audit/verify": ("/audit", {}),
}
# Pages with every colour of the style sheet: the short walk measures contrast on them alone.
CONTRAST = {"/", "/review/{}", "/bans/new", "/users/{}/erase", "POST /bans/new"}
# Downloads and pages that are none: their status alone is judged.
FILES = {"/audit/lines"}


class Walk:
    """The pages of one store."""

    def __init__(self, browser, store, routes, loop):
        self.browser, self.store, self.routes = browser, store, routes
        self.doors = {role: Door(loop, store, role) for role in ALL}
        self.addresses, self.texts, self.opened = addresses(store), {}, dict.fromkeys(ALL, 0)
        pages = {route["path"] for route in routes if route["kind"] == "page"}
        equal(set(self.addresses) | FILES, pages, "the pages that are opened: give each page of the route table an address")

    def open(self, role, name, act, wanted=200):
        """Has the browser go somewhere, and keeps the page as it came."""
        browser = self.browser
        browser.value("window.former = true")
        act()
        browser.until("!window.former && document.readyState === 'complete'")
        status, text = browser.text()
        equal(status, wanted, f"{role} at {name}: {browser.value('document.body.innerText')[:300]}")
        self.texts[f"{role} {name}"] = text
        self.opened[role] += 1

    def pages(self, role, judge):
        """Every page that a role may open."""
        door = self.doors[role].address
        for route in self.routes:
            path = route["path"]
            if role not in route["roles"] or path in FILES:
                continue
            if route["kind"] == "page":
                for number, address in enumerate(self.addresses[path]):
                    # Devices and certificates are found by the role security alone.
                    hidden = role != "security" and address.startswith(("/search?device=", "/search?serial="))
                    self.open(
                        role, f"{path} {number}", lambda address=address: self.browser.open(door + address),
                        403 if hidden else 200)
                    judge(role, path, address)
            elif path in FORMS:
                before, values = FORMS[path]
                self.browser.open(door + before)
                self.browser.until("document.readyState === 'complete'")
                values = {name: value or self.store.word(0) for name, value in values.items()}
                if "subject" in values and path == "/bans/new":
                    values["subject"] = self.store.facts()["users"]["ada"]
                target = path.replace("{}", "test")
                self.open(role, f"POST {path}", lambda: self.browser.value(f"""(() => {{
                    const form = [...document.forms].find(
                        one => one.method === "post" && one.getAttribute("action") === {json.dumps(target)});
                    for (const [name, value] of Object.entries({json.dumps(values)})) form.elements[name].value = value;
                    form.submit();
                }})()"""))
                judge(role, f"POST {path}", path)
        for address, status in (("/nothing", 404), ("/%zz", 400)):
            self.open(role, f"{address} refused", lambda address=address: self.browser.open(door + address), status)
            judge(role, address, address)


def judge_roles(store, routes):
    """Each role gets what the table of routes gives it, and a page that says so for the rest."""
    paths = addresses(store)
    count = 0
    for route in routes:
        for role in ALL:
            address = paths.get(route["path"], [route["path"].replace("{}", "x")])[0]
            method = "GET" if route["kind"] == "page" else "POST"
            origin = "https://%s:%d" % place(store.node)
            headers = TYPED if method == "GET" else {
                "Sec-Fetch-Site": "same-origin", "Origin": origin, "Content-Type": "application/x-www-form-urlencoded"}
            status, _, text = ask(store.node, store.of_role(role), address, method, headers, None if method == "GET" else "a=b")
            permitted = {200, 303} if method == "GET" else {400}
            wanted = permitted if role in route["roles"] else {403}
            expect(status in wanted, f"{role}: {method} {address} is {status}, not one of {wanted}: {text[:500]}")
            expect(status != 403 or text.startswith("<!doctype html>"), f"{role}: {method} {address} has no page")
            count += 1
    return count


def pictures(walk, directory):
    """Small pictures of some pages, for the documents."""
    walk.browser.size(960, 600)
    chosen = {
        "now": "/", "user": walk.addresses["/users/{}"][0], "card": walk.addresses["/review/{}"][1],
        "ban": walk.addresses["/bans/{}"][0]}
    for name, address in chosen.items():
        walk.open("security", f"picture {name}", lambda address=address: walk.browser.open(
            walk.doors["security"].address + address))
        walk.browser.picture(Path(directory, f"console-{name}.png"))


def walk(chosen, routes, hostile, harmless, loop, lap):
    """What all judges say."""
    directory = Path(chosen.directory)
    lap(f"two stores, {hostile.filled} texts replaced in each")
    lap(f"{judge_roles(hostile, routes)} answers as the table of roles says")
    with Browser("--ignore-certificate-errors") as browser:
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        look = Look(browser)
        plain = Walk(browser, harmless, routes, loop)
        for role in ALL if chosen.whole else ALL[:1]:
            plain.pages(role, lambda *_: None)
        lap(f"pages of harmless texts: {plain.opened}")
        pages = Walk(browser, hostile, routes, loop)
        judged = set()

        def judge(role, path, address):
            """Judges what the browser shows: in the short walk each page once, and the start page as every role. Roles
            differ in navigation and links only."""
            if not chosen.whole and path in judged and path != "/":
                return
            judged.add(path)
            try:
                look.widths()
                look.keys()
                look.size(1280)
                for scheme in ("light", "dark") if chosen.whole else (["light", "dark"][len(judged) % 2],):
                    look.media(prefers_color_scheme=scheme)
                    look.rules_hold(chosen.whole or path in CONTRAST)
                look.media()
            except AssertionError as failure:
                faults.append(f"{role} {address}: {failure}")

        faults = []
        for role in ALL:
            pages.pages(role, judge)
        lap(f"pages of hostile texts: {pages.opened}, of them {len(judged)} judged, {look.rules} rules of axe"
            f" passed, {look.reached} elements by Tab")
        expect(not faults, "\n".join(faults))
        equal(browser.faults, [], "what the browser complains of")
        if chosen.pictures:
            pictures(plain, chosen.pictures)
    harmless_texts = {name: text for name, text in plain.texts.items() if " picture " not in name}
    judge_texts({name: text for name, text in pages.texts.items() if chosen.whole or name in harmless_texts}, harmless_texts)
    lap(f"{len(harmless_texts)} pages parsed: no text makes an element or an attribute")
    judge_documents(pages.texts, directory / "pages")
    lap(f"{len(pages.texts)} pages without an error of HTML")


def main():
    """Both stores, one after the other in the same browser."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("countersign", "policies", "directory", "routes"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--whole", action="store_true", help="judge every page as every role, in light and dark")
    parser.add_argument("--pictures", help="a directory for pictures of pages, of the harmless store")
    chosen = parser.parse_args()
    routes = json.loads(Path(chosen.routes).read_text())
    began = time.monotonic()

    def lap(what):
        print(f"{time.monotonic() - began:6.1f} s: {what}", flush=True)

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    directory = Path(chosen.directory)
    # A node ends with the thread that started it, so these threads stay.
    both = ThreadPoolExecutor(2)
    hostile, harmless = both.map(
        lambda one: ConsoleStore(chosen, directory / one[0], one[1]), (("hostile", HOSTILE), ("harmless", HARMLESS)))
    try:
        walk(chosen, routes, hostile, harmless, loop, lap)
        for store in (hostile, harmless):
            store.made.stop()
    finally:
        for store in (hostile, harmless):
            store.node.kill()


if __name__ == "__main__":
    main()
