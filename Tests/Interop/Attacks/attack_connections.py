"""Attacks by connections: slow bodies from many networks of one customer, and calls that nobody waits for."""

import threading
import time

import requests

from Attacks.attack_world import OPEN_STREAMS, Beside, attack, percentile, request, share
from Shared.checks import accepted
from Listeners.crowding import HALF, Connection
from Listeners.proxied import Proxy, header

NETWORKS, EACH, SECONDS = 18, 32, 15


class Newcomer(threading.Thread):
    """Somebody else, from another network, on a new connection each time."""

    def __init__(self, target):
        super().__init__()
        self.target, self.stop, self.waits, self.refused = target, threading.Event(), [], 0

    def run(self):
        tls = self.target.tls()
        while not self.stop.is_set():
            start = time.monotonic()
            try:
                connection = Connection(self.target.public, tls, "127.0.0.2")
                self.refused += connection.ask() != 200
                connection.close()
            except OSError:
                self.refused += 1
            self.waits.append(time.monotonic() - start)
            time.sleep(0.05)


@attack(policies={"requests.yaml": (
    "proxied_networks: [127.0.0.1/32]\nmaximum_connections: 512\nconnections_per_address: 64\nconnections_per_56: 128\n"
    "connections_per_48: 256\n")})
def slow_bodies_of_one_56(target):
    """Bodies that come a byte a second, from 18 networks of one /56, on a listener of 512 connections."""
    proxy, held, lost = Proxy(target), [], 0
    newcomer = Newcomer(target)
    newcomer.start()
    for number in range(EACH):
        for network in range(NETWORKS):
            try:
                held.append(proxy.open(target.public, header(f"2001:db8:7:{network:x}::{number + 1:x}")))
                held[-1].sendall(HALF.replace(b"Content-Length: 11", b"Content-Length: 60000"))
            except OSError:
                lost += 1
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for one in list(held):
            try:
                one.sendall(b" ")
            except OSError:
                held.remove(one)
                lost += 1
        time.sleep(1)
    newcomer.stop.set()
    newcomer.join()
    for one in held:
        one.close()
    return (f"{len(held)} of {NETWORKS * EACH} held after {SECONDS} s, {lost} ended; a newcomer waits "
            f"{percentile(newcomer.waits, 0.5):.0f} ms, p99 {percentile(newcomer.waits, 0.99):.0f} ms, "
            f"{share(newcomer.refused, len(newcomer.waits))} refused")


@attack(policies=OPEN_STREAMS)
def calls_without_end(target):
    """One user calls what costs most, on eight connections for ten seconds."""
    person, statuses, lock = target.person(), {}, threading.Lock()
    asked = [request("GET", path, person) for path in ("/sync?anchor=0&wait=0", "/streams", "/me/export")]
    asked.append(request("GET", "/sessions/current", person))
    end = time.monotonic() + 10

    def work():
        connection, count = target.connection(person), 0
        while time.monotonic() < end:
            status = connection.ask(asked[count % len(asked)])
            count += 1
            if status is None:
                connection.close()
                connection = target.connection(person)
            with lock:
                statuses[status] = statuses.get(status, 0) + 1
        connection.close()

    start = target.processor()
    with Beside(target) as beside:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    total = sum(statuses.values())
    return (f"{total / 10:.0f} calls a second, {share(statuses.get(429, 0), total)} refused, "
            f"{(target.processor() - start) / total:.2f} ms of CPU each; {beside}")


@attack(policies=OPEN_STREAMS)
def abandoned_polls(target):
    """Two hundred calls that wait are left by closing their connections; then the same user waits."""
    person = target.person()
    anchor = accepted(person.call("GET", "/sync?anchor=latest&wait=0"))["anchor"]
    asked = request("GET", f"/sync?anchor={anchor}&wait=25", person)
    before = target.memory()
    for _ in range(200):
        connection = target.connection(person)
        connection.tls.sendall(asked)
        connection.close()
    start, refused = time.monotonic(), 0
    with Beside(target) as beside:
        while time.monotonic() < start + 40:
            try:
                answer = person.call("GET", f"/sync?anchor={anchor}&wait=1")
            except requests.RequestException:
                person.device.reconnect()
                continue
            if answer.status_code == 200:
                break
            refused += 1
            time.sleep(0.1)
    return (f"the user's own call may wait after {time.monotonic() - start - 1:.1f} s and {refused} refusals, "
            f"{target.memory() - before:.1f} MiB more; {beside}")
