"""Devices that find each other for a call: STUN by the service, TURN by coturn with credentials of the service.

    python3 calls.py … --countersign FILE --directory DIRECTORY

`--directory` holds `Keys`, `Policies`, `store.db` and `texts.jsonl`; the service and coturn are started and stopped here.
Judges are coturn's tools, aioice, and two network namespaces if this process may make them.
"""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import aioice
from aioice import stun

from Shared import options
from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT
from Shared.ports import free_port
from Addresses.contacts import Person

COOKIE = 0x2112A442
SECRET = "a-secret-that-coturn-shares"


@contextlib.contextmanager
def serving(chosen, *more, within=()):
    """The service on the directory's files; what its ready line says."""
    directory = Path(chosen.directory)
    with open(directory / "log", "ab") as log:
        process = subprocess.Popen(
            [*within, chosen.countersign, "serve", "--keys", directory / "Keys", "--policies", directory / "Policies",
             "--store", f"sqlite:{directory}/store.db", "--texts", directory / "texts.jsonl", *more],
            env={**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"},
            stdout=subprocess.PIPE, stderr=log)
    try:
        line = process.stdout.readline()
        expect(line, "the service did not start: " + (directory / "log").read_text()[-2000:])
        yield json.loads(line)
    finally:
        process.send_signal(signal.SIGTERM)
        equal(process.wait(timeout=60), 0, "how the service ended")


def address(text):
    """Host and port of ADDR:PORT."""
    host, port = text.rsplit(":", 1)
    return host, int(port)


def request(body=b"", kind=1, transaction=None):
    """A Binding Request."""
    return struct.pack("!HHI", kind, len(body), COOKIE) + (transaction or secrets.token_bytes(12)) + body


def asks(server, datagram, wait=TIMEOUT):
    """The answer to a datagram, and the port that it was sent from; `None` if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.settimeout(wait)
        made.bind(("127.0.0.1", 0))
        made.sendto(datagram, server)
        try:
            return made.recv(4096), made.getsockname()[1]
        except TimeoutError:
            return None, made.getsockname()[1]


def judge_stun(server):
    """Requests, what is malformed, and what is not understood, as aioice reads the answers."""
    transaction = secrets.token_bytes(12)
    answer, port = asks(server, request(transaction=transaction))
    message = stun.parse_message(answer)
    equal((message.message_class, message.transaction_id), (stun.Class.RESPONSE, transaction), "the answer")
    equal(message.attributes["XOR-MAPPED-ADDRESS"], ("127.0.0.1", port), "the address")
    expect(len(answer) + 28 <= 1.5 * 48, "the answer is large")
    whole = stun.Message(stun.Method.BINDING, stun.Class.REQUEST)
    whole.attributes["USERNAME"] = "someone"
    whole.add_message_integrity(b"any")
    answer, _ = asks(server, bytes(whole))
    expect("FINGERPRINT" in stun.parse_message(answer).attributes, "the fingerprint is not answered")
    answer, _ = asks(server, request(struct.pack("!HHI", 0x0003, 4, 2)))
    equal(stun.parse_message(answer).attributes["ERROR-CODE"][0], 420, "CHANGE-REQUEST")
    for datagram in (b"", b"x", request()[:19], request() + b"\0", request(kind=0x0101), request(kind=0x0003),
                     request(b"\0\6\0\x09abcd"), bytes(20), os.urandom(1200)):
        equal(asks(server, datagram, wait=0.2)[0], None, f"the answer to {datagram[:24]!r}")
    # Whoever asks without end is not answered without end.
    time.sleep(1.1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flood:
        flood.settimeout(0.5)
        for _ in range(200):
            flood.sendto(request(), server)
        answered = 0
        with contextlib.suppress(TimeoutError):
            while flood.recv(100):
                answered += 1
    expect(20 <= answered <= 60, f"{answered} of 200 requests at once were answered")
    time.sleep(1.1)
    host, port = server
    done = subprocess.run(
        ["turnutils_stunclient", "-p", str(port), host], capture_output=True, text=True, timeout=60)
    expect("UDP reflexive addr: 127.0.0.1:" in done.stdout, done.stdout + done.stderr)


def judge_turn(chosen, service, port):
    """Credentials of the service open coturn, and nothing else does."""
    chosen.public, chosen.client = "https://" + service["public"], "https://" + service["client"]
    person = Person(chosen, f"caller-{secrets.token_hex(8)}")
    found = accepted(person.call("GET", "/calls/servers"))
    stun_server, turn_server = found["ice_servers"]
    equal(stun_server, {"urls": ["stun:stun.example:3478"]}, "the STUN server")
    username, credential = turn_server["username"], turn_server["credential"]
    expect(re.fullmatch(rf"\d{{10}}:{person.user}", username), username)
    made = base64.b64encode(hmac.new(SECRET.encode(), username.encode(), hashlib.sha1).digest()).decode()
    equal(credential, made, "the credential")

    def relays(user, password):
        done = subprocess.run(
            ["turnutils_uclient", "-y", "-m", "1", "-n", "2", "-l", "16", "-u", user, "-w", password, "-p", str(port),
             "127.0.0.1"], capture_output=True, text=True, timeout=60)
        return done.returncode == 0 and "Total lost packets 0 " in done.stdout, done

    good, done = relays(username, credential)
    expect(good, done.stdout + done.stderr)
    expect(not relays(username, "wrong")[0], "a wrong credential relays")
    late = f"{int(username.split(':')[0]) + 86400}:{person.user}"
    expect(not relays(late, credential)[0], "credentials can be prolonged")


@contextlib.contextmanager
def coturn(directory, port):
    """A TURN server with the shared secret."""
    with open(Path(directory) / "turn.log", "ab") as log:
        process = subprocess.Popen(
            ["turnserver", "-n", "--listening-port", str(port), "--listening-ip", "127.0.0.1", "--relay-ip",
             "127.0.0.1", "--allow-loopback-peers", "--cli-password", secrets.token_hex(16), "--no-cli", "--no-tls",
             "--no-dtls", "--lt-cred-mech", "--use-auth-secret", "--static-auth-secret", SECRET, "--realm", "test",
             "--pidfile", str(Path(directory) / "turn.pid"), "--db", str(Path(directory) / "turn.db")],
            stdout=log, stderr=log)
    try:
        def answers():
            expect(process.poll() is None, "coturn ended")
            return asks(("127.0.0.1", port), request(), wait=0.3)[0]

        soon(answers, "coturn does not answer")
        yield
    finally:
        # coturn waits for its threads, for as long as it likes.
        process.kill()
        process.wait(timeout=60)


async def connect(server):
    """Two agents of ICE that learn their addresses from the service, and talk."""
    one = aioice.Connection(ice_controlling=True, stun_server=server)
    other = aioice.Connection(ice_controlling=False, stun_server=server)
    for agent in (one, other):
        await agent.gather_candidates()
    for agent, peer in ((one, other), (other, one)):
        for candidate in peer.local_candidates:
            await agent.add_remote_candidate(candidate)
        await agent.add_remote_candidate(None)
        agent.remote_username, agent.remote_password = peer.local_username, peer.local_password
    await asyncio.gather(one.connect(), other.connect())
    await one.send(b"hello")
    equal(await other.recv(), b"hello", "what came over ICE")
    await asyncio.gather(one.close(), other.close())


def run(*command):
    """A command that must succeed."""
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def judge_namespaces(chosen):
    """A device behind an address translation learns its outer address from the service in another namespace."""
    # Off loopback texts do not go into a file. None is sent here.
    (Path(chosen.directory) / "Policies" / "delivery.yaml").write_text("senders: [{kind: sns}]\n")
    name = "cs" + secrets.token_hex(3)
    inner, outer = name + "i", name + "o"
    for space in (inner, outer):
        run("ip", "netns", "add", space)
    try:
        run("ip", "link", "add", inner, "netns", inner, "type", "veth", "peer", "name", outer, "netns", outer)
        for space, host in ((inner, "192.0.2.2/24"), (outer, "192.0.2.1/24")):
            run("ip", "-n", space, "addr", "add", host, "dev", space)
            for link in (space, "lo"):
                run("ip", "-n", space, "link", "set", link, "up")
        within = ("ip", "netns", "exec", outer)
        with serving(
                chosen, "--public", "127.0.0.1:0", "--client", "127.0.0.1:0", "--ops", "127.0.0.1:0", "--stun",
                "192.0.2.1:0", "--realm", "calls.example", "--base-url", "https://calls.example", "--client-url",
                "https://calls.example:8441", within=within) as service:
            host, port = address(service["stun"])
            done = subprocess.run(
                ["ip", "netns", "exec", inner, sys.executable, __file__, "ask", host, str(port)],
                capture_output=True, text=True, timeout=60)
            expect(done.returncode == 0, done.stdout + done.stderr)
            learned = json.loads(done.stdout)
            equal((learned["mapped"][0], learned["talked"]), ("192.0.2.2", True), "what the inner side learned")
    finally:
        for space in (inner, outer):
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


def ask(host, port):
    """The inner side: its address as the service sees it, and two agents that talk."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.settimeout(TIMEOUT)
        made.sendto(request(), (host, int(port)))
        mapped = stun.parse_message(made.recv(4096)).attributes["XOR-MAPPED-ADDRESS"]
    asyncio.run(connect((host, int(port))))
    print(json.dumps({"mapped": mapped, "talked": True}))


def main():
    """The whole walk."""
    parser = options.parser(__doc__)
    for name in ("countersign", "directory"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    directory, port = Path(chosen.directory), free_port(socket.SOCK_DGRAM)
    chosen.texts = directory / "texts.jsonl"
    secret = directory / "Keys" / "turn.secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    (directory / "Policies" / "calls.yaml").write_text(
        f'stun_urls: ["stun:stun.example:3478"]\nturn_urls: ["turn:127.0.0.1:{port}"]\n')
    free = ("--public", "127.0.0.1:0", "--client", "127.0.0.1:0", "--ops", "127.0.0.1:0")
    with serving(chosen, *free, "--stun", "127.0.0.1:0") as service, coturn(directory, port):
        server = address(service["stun"])
        judge_stun(server)
        judge_turn(chosen, service, port)
        time.sleep(1.1)
        asyncio.run(connect(server))
    if os.geteuid() == 0 and subprocess.run(["ip", "netns", "list"], capture_output=True, check=False).returncode == 0:
        judge_namespaces(chosen)
        print("calls: with namespaces")
    print("calls: STUN and TURN hold")


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"]:
        ask(*sys.argv[2:4])
    else:
        main()
