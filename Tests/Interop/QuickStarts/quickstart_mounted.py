"""The quick starts' modules in other servers: under a router that shortens paths, and with plain maps of headers."""

import os
import re
import sys

from Shared.checks import accepted, equal
from Shared.client import https
from QuickStarts.quickstart_backend import FOLDER, Backend, proof, starting

# Where each serves the session of a request.
PATHS = {"python": ["/api/me"], "node": ["/api/me", "/plain/me"]}


def example(language):
    """The block of the language's page that shows another framework."""
    text = (FOLDER / language / "README.md").read_text()
    return re.search(rf"## For your own backend\n.*?```{language}\n(.*?)```", text, re.S).group(1)


class Mounted(Backend):
    """A server with the modules of a quick start, without its `backend` file."""

    def __init__(self, chosen, language, folder, settings):
        port = starting.free_port()
        self.url, self.connection, self.authority = f"http://127.0.0.1:{port}", https(False), None
        variables = {
            "PORT": str(port), "ORIGIN": self.url, "SERVICE": chosen.public, "CA": chosen.ca,
            "QUICKSTART": str(FOLDER / language), "PYTHONPATH": str(FOLDER / language), **settings}
        if language == "python":
            with open(f"{folder}/app.py", "w") as file:
                file.write(example(language))
            words = [sys.executable, "-m", "flask", "--app", "app", "run", "--port", str(port)]
        else:
            words = ["node", os.path.join(os.path.dirname(__file__), "quickstart_routers.mjs")]
        self.process = starting.Started(
            words, f"{folder}/mounted.log", lambda: starting.listens(port), cwd=folder,
            env={**os.environ, **starting.SETTINGS, **variables})


def mounted(world, language, folder, ada):
    """A proof is for the path that the device sent, not for what a router left of it, and there is one."""
    with Mounted(world.chosen, language, folder, world.other_key) as server:
        for path in PATHS[language]:
            shown = proof(ada.device.key, "GET", server.url + path, ada.token)
            equal(accepted(server.call("GET", path, ada.token, shown))["external_id"], "ada", f"the user of {path}")
            equal(server.call("GET", path, ada.token, shown).status_code, 401, f"the status of a replay at {path}")
            short = proof(ada.device.key, "GET", server.url + "/me", ada.token)
            equal(server.call("GET", path, ada.token, short).status_code, 401, f"the status of another path at {path}")
            pair = [proof(ada.device.key, "GET", server.url + path, ada.token) for _ in range(2)]
            equal(server.status_with(path, ada.token, pair), 401, f"the status of two proofs at {path}")
            equal(server.call("GET", path).status_code, 401, f"the status of no token at {path}")
