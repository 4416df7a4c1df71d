"""A way to the store that a test can cut: bytes are passed on, held back, or connections reset at random points."""

import random
import re
import socket
import struct
import threading
import time


# The end of a transaction, but not the name of an isolation level, with which one begins.
COMMIT = re.compile(rb"COMMIT(?!TED)")


class Proxy:
    """Listens on loopback and passes connections on to a socket in the file system."""

    def __init__(self, target, seed=1):
        self.target = str(target)
        self.gate = threading.Event()
        self.gate.set()
        self.random = random.Random(seed)
        self.chance = 0.0
        self.commit_delay = 0.0  # seconds that a commit takes longer; a transaction that only reads has nothing to write
        self.resets = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def address(self):
        """Where it listens."""
        return "127.0.0.1:%d" % self.listener.getsockname()[1]

    def hold(self):
        """From now on nothing passes in either direction, and nothing is closed."""
        self.gate.clear()

    def release(self):
        """What was held back goes on its way, as after a break in a network."""
        self.gate.set()

    def accept(self):
        """Takes connections; while the way is cut they wait in the kernel."""
        while True:
            client, _ = self.listener.accept()
            self.gate.wait()
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.target)
            except OSError:
                client.close()
                server.close()
                continue
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self.pass_on, args=(source, target, client, server), daemon=True).start()

    def pass_on(self, source, target, client, server):
        """One direction of a connection."""
        is_reading = False
        try:
            while data := source.recv(65536):
                self.gate.wait()
                if b"BEGIN" in data:
                    is_reading = b"READ ONLY" in data
                # The server's answer to a commit has the word, too.
                if self.commit_delay and source is client and not is_reading and COMMIT.search(data):
                    time.sleep(self.commit_delay)
                if self.random.random() < self.chance:
                    # Before or behind what was said last: the other side has heard it or not.
                    if self.random.random() < 0.5:
                        target.sendall(data)
                    self.resets += 1
                    break
                target.sendall(data)
            self.gate.wait()
        except OSError:
            pass
        self.reset(client, server)

    @staticmethod
    def reset(client, server):
        """Ends a connection at once: the client gets RST."""
        for end in (client, server):
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RD)
            except OSError:
                pass
            end.close()
