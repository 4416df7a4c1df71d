"""Ports for servers that tests start at a port of their own, and start again there."""

import random
import socket

# Below the ports that the kernel gives to clients, so that no connection takes one while its server is away.
FIRST, LAST = 10_000, 32_000


def free_port(kind=socket.SOCK_STREAM):
    """A port of 127.0.0.1 that nobody has at the moment."""
    for _ in range(1000):
        port = random.randrange(FIRST, LAST)
        with socket.socket(socket.AF_INET, kind) as made:
            try:
                made.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
    raise OSError(f"no port between {FIRST} and {LAST} is free")


def free_ports(count):
    """Different ports that nobody has at the moment."""
    ports = set()
    while len(ports) < count:
        ports.add(free_port())
    return list(ports)
