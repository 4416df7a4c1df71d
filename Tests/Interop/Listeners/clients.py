"""Clients as people have them: each certifies, takes nonces and looks at a session, over every protocol that it speaks.

Their scripts are in `clients/`; each says the protocols that it really spoke.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from Shared import options
from Shared.checks import accepted, equal, expect
from Shared.client import Device

PLACE = Path(__file__).parent / "clients"
BOTH = ["HTTP/1.1", "HTTP/2"]


def tool(name):
    """A program of the machine, or of the tests' own environment."""
    found = shutil.which(name, path=os.environ["PATH"] + ":" + sysconfig.get_path("scripts"))
    expect(found, f"{name} is missing: `make test` installs it")
    return found


def java_variables(world):
    """The world as the environment of a program without a JSON reader."""
    shown = {f"WORLD_{name.upper()}": value for name, value in world.items() if isinstance(value, str)}
    for version, csr in zip(("HTTP_1_1", "HTTP_2"), world["csrs"]):
        shown[f"WORLD_CSR_{version}"] = json.dumps(csr)[1:-1]
    return shown


def clients():
    """Name, command, protocols."""
    for name, protocols in (
            ("httpx", BOTH), ("aiohttp", BOTH[:1]), ("requests", BOTH[:1]), ("curl", BOTH)):
        yield name, [sys.executable, str(PLACE / f"{name}_client.py")], protocols
    yield "node https", [tool("node"), str(PLACE / "node_https.mjs")], BOTH[:1]
    yield "node http2", [tool("node"), str(PLACE / "node_http2.mjs")], BOTH[1:]
    # The distribution's Go, and the present one.
    for go in ("/usr/bin/go", str(Path(sysconfig.get_path("scripts")) / "go")):
        expect(os.access(go, os.X_OK), f"{go} is missing: `make test` installs it")
        version = subprocess.run([go, "version"], capture_output=True, text=True, check=True).stdout.split()[2]
        yield version, [go, "run", str(PLACE / "go" / "main.go")], ["HTTP/1.1", "HTTP/2.0"]
    yield "java", [tool("java"), str(PLACE / "Client.java")], BOTH


def main():
    chosen = options.parser(__doc__).parse_args()
    provider = options.provider(chosen)
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)
    opened = accepted(device.create_session(provider.identity_token("user", device.nonce())), 201)
    failed = []
    for name, command, protocols in clients():
        # Two new keys for each client, to certify by itself.
        csrs = [Device(chosen.public, chosen.client, chosen.ca, "EC").pkcs10() for _ in range(2)]
        world = {
            "public": chosen.public, "client": chosen.client, "ca": chosen.ca, "certificate": device.files[0],
            "key": device.files[1], "token": opened["session_token"], "user_id": opened["user_id"], "csrs": csrs,
        }
        file = device.write("world.json", json.dumps(world).encode())
        started = time.monotonic()
        # A Go that compiles outside a module must not look for one above; nothing is fetched.
        environment = {**os.environ, **java_variables(world), "GO111MODULE": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local"}
        try:
            done = subprocess.run(
                [*command, file], capture_output=True, text=True, env=environment, timeout=240, check=False)
            spoken, errors = done.stdout.split(), done.stderr
        except subprocess.TimeoutExpired as late:
            spoken, errors = [], str(late)
        print(f"{name}: {' and '.join(spoken)}, {time.monotonic() - started:.1f} s")
        if spoken != protocols:
            failed.append(f"{name} spoke {spoken}, not {protocols}: {errors[-1500:]}")
    equal(failed, [], "clients that were not served")


if __name__ == "__main__":
    main()
