"""Starts the examples for haproxy, nginx and Prometheus around a node, each as it stands but for its addresses.

Of the two nodes that the examples name one is away. Through haproxy and nginx clients are told apart by the PROXY header,
and a user signs in. Prometheus reads the metrics and raises the alert for the node that is away.
"""

import argparse
import contextlib
import csv
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import requests

from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT
from Shared.installation import Installation, Node
from Shared.ports import free_port
from Listeners.proxied import Proxy


class BalancedNode(Node):
    """A node as it runs behind a balancer: with limits, and TLS for the probes."""

    limits = "on"

    def __init__(self, installation):
        super().__init__(installation, "node", installation.store, {"COUNTERSIGN_OPS_TLS": "on"})


# The statuses of certification for clients behind a balancer that names them.
NAMED = [("127.0.0.5", 201), ("127.0.0.5", 201), ("127.0.0.5", 429), ("127.0.0.6", 201)]


@contextlib.contextmanager
def installation(chosen):
    """A node whose policies let an address certify twice an hour, and list its balancer."""
    with tempfile.TemporaryDirectory(prefix="countersign-") as directory:
        policies = Path(directory, "Policies")
        shutil.copytree(chosen.root / "Policies", policies)
        policies.joinpath("requests.yaml").write_text("proxied_networks: [127.0.0.1/32]\n")
        policies.joinpath("certification.yaml").write_text("per_hour_per_address: 2\n")
        made = Installation(chosen.countersign, policies, directory, f"sqlite:{directory}/store.db")
        shutil.copy(made.authority, Path(directory, "countersign-ca.pem"))
        made.nodes.append(BalancedNode(made))
        yield made, Path(directory)
        made.stop()


def adapted(example, node, replaced):
    """The example with other addresses; each must be in it, and none may be left."""
    text = example.read_text()
    ports = dict(zip(("8440", "8441", "8442"), (address.rsplit(":", 1)[1] for address in node.ports)))
    for usual, port in ports.items():
        replaced |= {rf"\b10\.0\.0\.12:{usual}": f"127.0.0.1:{port}", rf"\b10\.0\.0\.11:{usual}": f"127.0.0.9:{port}"}
        if not re.search(rf"^[^#]*\b10\.0\.0\.12:{usual}", text, re.MULTILINE):
            for host in (11, 12):
                del replaced[rf"\b10\.0\.0\.{host}:{usual}"]
    for usual, here in replaced.items():
        text, count = re.subn(usual, here, text)
        expect(count, f"{example.name} has no {usual}")
    expect("10.0.0." not in re.sub("#.*", "", text), f"an address is left in {text}")
    return text


@contextlib.contextmanager
def running(*command, port):
    """A program that listens on a port; it is stopped at the end, which must be a good one."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=output)
        try:
            def said():
                output.seek(0)
                return f"{command} says {output.read()}"

            def listens():
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT).close()
                    return True
                expect(process.poll() is None, said())
                return False

            soon(listens, said)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=TIMEOUT)


def walk(made, ports, wanted):
    """Certifies devices from several addresses through the balancer, whose statuses are wanted; one signs a user in."""
    balancer = SimpleNamespace(
        public=f"https://127.0.0.1:{ports[0]}", client=f"https://127.0.0.1:{ports[1]}", ca=made.authority)
    proxy, devices = Proxy(balancer), []
    for origin, status in wanted:
        got, device = proxy.certify(b"", origin=origin)
        equal(got, status, f"the status for {origin}")
        devices.append(device)
    device, provider = devices[0], made.provider(balancer)
    token = accepted(device.create_session(provider.identity_token("user", device.nonce())), 201)["session_token"]
    for _ in range(3):
        device.reconnect()
        accepted(device.current(token), 200)


def haproxy(chosen):
    """Both listeners behind haproxy, which names each client."""
    with installation(chosen) as (made, directory):
        node, ports = made.nodes[0], (free_port(), free_port())
        text = adapted(chosen.examples / "haproxy.cfg", node, {
            r"bind :443\b": f"bind 127.0.0.1:{ports[0]}", r"bind :8441\b": f"bind 127.0.0.1:{ports[1]}",
            r"port 8442\b": "port " + node.ports[2].rsplit(":", 1)[1], "ca-base /etc/haproxy": f"ca-base {directory}",
            "maxconn 40000": f"maxconn 1000\n    stats socket {directory}/haproxy.socket"})
        file = made.write("haproxy.cfg", text.encode())
        subprocess.run(["haproxy", "-c", "-q", "-f", file], check=True, timeout=60)
        with running("haproxy", "-db", "-f", file, port=ports[0]):
            walk(made, ports, NAMED)
            soon(lambda: checked(directory / "haproxy.socket") == {("one", "L4CON"), ("two", "L7OK")},
                 lambda: f"the health checks say {checked(directory / 'haproxy.socket')}")
        print("haproxy: clients are told apart, and a user is signed in")
        prometheus(chosen, made, directory)


def checked(path):
    """What haproxy's health checks found, by server."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(b"show stat\n")
        lines = connection.makefile().read().removeprefix("# ").splitlines()
    rows = csv.DictReader(lines)
    return {(row["svname"], row["check_status"].lstrip("* ")) for row in rows if row["svname"] in ("one", "two")}


def nginx(chosen):
    """Both listeners behind nginx, which names each client too."""
    with installation(chosen) as (made, directory):
        ports = (free_port(), free_port())
        text = adapted(chosen.examples / "nginx.conf", made.nodes[0], {
            r"listen 443\b": f"listen 127.0.0.1:{ports[0]}", r"listen 8441\b": f"listen 127.0.0.1:{ports[1]}",
            "/var/log/nginx": str(directory), "/run/": f"{directory}/",
            r"\bmodules/": "/usr/lib/nginx/modules/",
            "nofile 80000": "nofile 2000", "connections 40000": "connections 1000"})
        file = made.write("nginx.conf", text.encode())
        command = ["nginx", "-p", directory, "-c", file, "-e", directory / "errors", "-g", "daemon off;"]
        with running(*command, port=ports[0]):
            walk(made, ports, NAMED)
        print("nginx: clients are told apart, and a user is signed in")


def prometheus(chosen, made, directory):
    """A server that reads a node which is there and one which is not."""
    port, node = free_port(), made.nodes[0]
    text = adapted(chosen.examples / "prometheus.yml", node, {"scrape_interval: 15s": "scrape_interval: 1s"})
    shutil.copy(chosen.examples.parent / "monitoring/alerts.yml", directory)
    file = made.write("prometheus.yml", text.encode())
    subprocess.run(["promtool", "check", "config", file], check=True, timeout=60, stdout=subprocess.DEVNULL)
    here = f"http://127.0.0.1:{port}/api/v1/"

    def ask(query):
        answer = requests.get(here + "query", params={"query": query}, timeout=TIMEOUT)
        if answer.status_code == 503:  # it is about to start
            return []
        return [float(result["value"][1]) for result in answer.json()["data"]["result"]]

    with running("prometheus", f"--config.file={file}", f"--storage.tsdb.path={directory}/tsdb",
                 f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn", port=port):
        soon(lambda: sorted(ask("up")) == [0, 1] and ask("countersign_store_view_age_seconds"),
             lambda: f"Prometheus says up is {ask('up')}")
        expect(ask("countersign_certificates_issued_total") == [3], "the issued certificates are not there")
        groups = requests.get(here + "rules", timeout=TIMEOUT).json()["data"]["groups"]
        expect(all(rule["health"] != "err" for group in groups for rule in group["rules"]), f"a rule fails: {groups}")
    print("Prometheus: one node is up, one is not")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("root", "countersign"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    chosen = parser.parse_args()
    chosen.examples = chosen.root / "Sources/Packaging/examples"
    haproxy(chosen)
    nginx(chosen)


if __name__ == "__main__":
    main()
