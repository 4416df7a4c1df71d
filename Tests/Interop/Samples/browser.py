"""A headless Chromium that the tests drive by the Chrome DevTools Protocol, as a person does: with keys and a look."""

import base64
import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import requests
from websockets.sync.client import connect

from Shared.checks import expect, soon
from Shared.client import TIMEOUT

# What is wider than the window, and would have to be scrolled to.
WIDE = """[...document.querySelectorAll("body *")].filter(one => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth + 0.5 && !one.closest(".skip");
}).map(one => `${one.tagName} ${one.id} ${one.className} ${one.getBoundingClientRect().right}`)"""
KEYS = {"Tab": 9, "Enter": 13}


class Browser:
    """One window, which ends with this object."""

    def __init__(self, *arguments):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ["chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
             f"--user-data-dir={self.profile.name}", *arguments, "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        file = Path(self.profile.name, "DevToolsActivePort")
        soon(lambda: file.exists() and "\n" in file.read_text(), "the browser does not listen")
        port = file.read_text().split()[0]
        targets = requests.get(f"http://127.0.0.1:{port}/json/list", timeout=TIMEOUT).json()
        page = next(one for one in targets if one["type"] == "page")
        self.socket = connect(page["webSocketDebuggerUrl"], max_size=None, compression=None, open_timeout=TIMEOUT)
        self.number, self.faults, self.document = 0, [], None
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The command is a script that starts the browser: a signal to its process would end the script alone.
        try:
            self.call("Browser.close")
            self.process.wait(timeout=TIMEOUT)
        finally:
            self.socket.close()
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.profile.cleanup()

    def call(self, method, **parameters):
        """A command's result. Faults of the page that arrive meanwhile are kept."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        for _ in range(10_000):
            found = json.loads(self.socket.recv(timeout=TIMEOUT))
            if found.get("id") == self.number:
                expect("error" not in found, f"{method}: {found}")
                return found["result"]
            if found["method"] == "Runtime.exceptionThrown":
                self.faults.append(found["params"]["exceptionDetails"].get("exception", {}).get("description"))
            if found["method"] == "Network.responseReceived" and found["params"]["type"] == "Document":
                self.document = found["params"]
            if found["method"] == "Log.entryAdded" and "Content Security Policy" in found["params"]["entry"]["text"]:
                self.faults.append(found["params"]["entry"]["text"])
        raise AssertionError(f"no answer to {method}")

    def open(self, url):
        self.call("Page.navigate", url=url)

    def text(self):
        """The status of the page, and its text as it came."""
        body = self.call("Network.getResponseBody", requestId=self.document["requestId"])
        text = base64.b64decode(body["body"]).decode() if body["base64Encoded"] else body["body"]
        return self.document["response"]["status"], text

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def evaluated(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)

    def value(self, expression):
        """What an expression is in the page."""
        found = self.evaluated(expression)
        expect("exceptionDetails" not in found, f"{expression}: {found}")
        return found["result"].get("value")

    def until(self, expression):
        """Waits until an expression is true, as long as it may take. A page that is being loaded has no elements."""
        soon(lambda: self.evaluated(f"Boolean({expression})")["result"].get("value") is True,
             lambda: f"never {expression}: {self.value('document.body.innerText')[:2000]}")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            more = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key], **more)

    def tab_to(self, condition):
        """Presses Tab until the focused element satisfies a condition; a person without a mouse gets there likewise."""
        for _ in range(200):
            if self.value(f"(one => Boolean({condition}))(document.activeElement)"):
                return
            self.press("Tab")
        raise AssertionError(f"Tab does not reach {condition}")

    def picture(self, file):
        """A screenshot of the window."""
        Path(file).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def fits(self):
        """Nothing is wider than the window."""
        expect(self.value("document.documentElement.scrollWidth <= innerWidth"), f"it overflows: {self.value(WIDE)}")
        expect(self.value(WIDE) == [], f"it overflows: {self.value(WIDE)}")
