"""Three database servers, each with etcd, Patroni and PostgreSQL, configured by the examples of the package.

Each server has a loopback address of its own, so the examples change in addresses and directories only.
"""

import json
import os
import pwd
import random
import re
import signal
import subprocess
import time
from pathlib import Path

from Shared import postgresql
from Shared.checks import expect, soon

EXAMPLES = Path(__file__).resolve().parents[3] / "Sources/Packaging/examples"
COUNT = 3
PASSWORD = "a password of a test"


def adapted(name, replaced):
    """An example with other addresses and directories. Each must be in it, and none may be left."""
    text = (EXAMPLES / name).read_text()
    for usual, here in replaced.items():
        text, count = re.subn(usual, str(here), text)
        expect(count, f"{name} has no {usual}")
    left = re.search(r"^[^#\n]*(?:10\.20\.0\.|\.example|/etc/|/var/|/run/).*", text, re.MULTILINE)
    expect(not left, f"{name} still has {left and left[0]}")
    return text


class Member:
    """One of the servers."""

    def __init__(self, cluster, number):
        self.cluster, self.number, self.name = cluster, number, f"db{number}"
        self.address = cluster.address(number)
        self.directory = cluster.directory / self.name
        self.data = self.directory / "data"
        self.etcd = self.patroni = None
        cluster.make(self.directory)
        self.configure()

    def configure(self):
        """Writes the configuration of its programs."""
        here = self.directory
        # This server's own addresses come first, then those of all.
        own = {r"10\.20\.0\.1\b": self.address}
        others = {r"\bdb(\d)\.example": rf"{self.cluster.net}.\g<1>"}
        self.write("etcd.conf", adapted("etcd.conf", own | {
            "ETCD_NAME=db1": f"ETCD_NAME={self.name}",
            r"(ADVERTISE\w+URLS=https://)db1\.example": rf"\g<1>{self.address}",
            "/var/lib/etcd/countersign": here / "etcd", "/etc/etcd": here} | others))
        # Without root the test's own account is not that of the database's superuser.
        self.write("patroni.yml", adapted("patroni.yml", own | {
            "name: db1": f"name: {self.name}", r"connect_address: db1\.example": f"connect_address: {self.address}",
            r"10\.20\.0\.0/24": "127.0.0.0/8", "/var/lib/postgresql/15/countersign": self.data,
            "/usr/lib/postgresql/15/bin": postgresql.programs(), "/var/lib/postgresql": here, "/etc/patroni": here,
            "/run/postgresql": here, "postgres peer": "postgres peer" if self.cluster.account else "postgres trust",
            "pgbackrest --stanza": f"pgbackrest --config={here}/pgbackrest.conf --stanza"} | others))
        self.write("pgbackrest.conf", self.cluster.backup_configuration(here, self.data))

    def write(self, name, text):
        """Writes a file that only the servers' account reads."""
        path = self.directory / name
        path.write_text(text)
        path.chmod(0o600)
        self.cluster.own(path)

    def begin(self, log, command, environment=None):
        """Starts a program under the account of the servers. It ends with this process."""
        with open(self.directory / log, "ab") as output:
            return subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *command], cwd="/", stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"} | (environment or {}),
                **self.cluster.account)

    def start_etcd(self):
        """Starts etcd with the variables of its file."""
        lines = (self.directory / "etcd.conf").read_text().splitlines()
        variables = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        self.etcd = self.begin("etcd.log", ["etcd"], variables)

    def start_patroni(self):
        """Starts Patroni, which starts PostgreSQL."""
        self.patroni = self.begin("patroni.log", ["patroni", str(self.directory / "patroni.yml")])

    def query(self, sql, database="countersign"):
        """What a statement gives, by the server's own socket."""
        done = self.cluster.run(
            postgresql.programs() / "psql", "-h", self.directory, "-U", "postgres", "-d", database, "-qAtXc", sql,
            check=False)
        if done.returncode:
            raise ConnectionError(done.stderr)
        return done.stdout.strip()

    def is_primary(self):
        """Whether it takes writes now."""
        try:
            return self.query("SELECT NOT pg_is_in_recovery()", "postgres") == "t"
        except ConnectionError:
            return False

    def backup(self, *arguments):
        """Runs pgBackRest with this server's configuration."""
        return self.cluster.run(
            "pgbackrest", f"--config={self.directory}/pgbackrest.conf", "--stanza=countersign", *arguments).stdout

    def kill(self):
        """Ends Patroni and PostgreSQL as a power cut would. Etcd goes on, because two of three are needed."""
        lock = (self.data / "postmaster.pid").read_text().splitlines()
        server = int(lock[0])
        family = [server, *children(server)]
        self.patroni.send_signal(signal.SIGKILL)
        for process in family:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.patroni.wait()
        for process in family:
            reap(process)

    def stop(self):
        """Ends all of its programs."""
        for process in (self.patroni, self.etcd):
            if process and process.poll() is None:
                process.terminate()
                try:
                    process.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def children(parent):
    """The processes that a process has started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(status.read_text().rsplit(")", 1)[1].split()[1]) == parent:
                found.append(int(status.parent.name))
        except OSError:
            pass
    return found


def reap(process):
    """In a namespace of process numbers this program is the parent of processes without one."""
    try:
        os.waitpid(process, 0)
    except ChildProcessError:
        pass


class DatabaseCluster:
    """The servers, and the certificates and the repository of backups that they share."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.net = f"127.{random.randrange(1, 255)}.{random.randrange(1, 255)}"
        self.account = {}
        if os.getuid() == 0:
            account = pwd.getpwnam(postgresql.ACCOUNT)
            self.account = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self.repository = self.directory / "repository"
        self.make(self.repository)
        self.members = [Member(self, number) for number in range(1, COUNT + 1)]
        self.certify()

    def address(self, number):
        """The address of a server."""
        return f"{self.net}.{number}"

    def make(self, path):
        """Makes a directory of the servers' account."""
        path.mkdir(mode=0o700)
        self.own(path)

    def own(self, path):
        """Gives a file to the servers' account."""
        if self.account:
            os.chown(path, self.account["user"], self.account["group"])

    def run(self, *command, check=True):
        """Runs a program under the servers' account, to its end."""
        done = subprocess.run(
            list(map(str, command)), cwd="/", env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False, **self.account)
        expect(not check or done.returncode == 0, f"{command[:4]} says {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def backup_configuration(self, here, data):
        """The example for pgBackRest, for a server whose files are in a directory."""
        return adapted("pgbackrest.conf", {
            "/var/lib/pgbackrest": self.repository, "/var/log/pgbackrest": here, "=/tmp/pgbackrest": f"={here}/lock",
            "/var/spool/pgbackrest": here / "spool", "/var/lib/postgresql/15/countersign": data,
            "/run/postgresql": here})

    def certify(self):
        """Makes an authority, and a certificate that all servers use, in both directions of TLS."""
        ca, key = self.directory / "databases.pem", self.directory / "databases.key"
        usual = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        subprocess.run([*usual, "-subj", "/CN=Databases", "-keyout", key, "-out", ca], check=True, capture_output=True)
        ca.chmod(0o644)
        names = ",".join(f"IP:{address}" for address in ["127.0.0.1", *map(self.address, range(1, COUNT + 1))])
        made = [self.directory / "db.key", self.directory / "db.pem"]
        subprocess.run(
            [*usual, "-CA", ca, "-CAkey", key, "-subj", "/CN=database", "-addext", f"subjectAltName={names}",
             "-addext", "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=serverAuth,clientAuth",
             "-keyout", made[0], "-out", made[1]], check=True, capture_output=True)
        for member in self.members:
            for file in (*made, ca):
                member.write("ca.pem" if file == ca else file.name, file.read_text())

    def start(self):
        """Starts all servers, and creates the service's database."""
        for member in self.members:
            member.start_etcd()
        for member in self.members:
            member.start_patroni()
            soon(lambda: self.primary() is not None, "no server became the primary")
        primary = self.primary()
        soon(lambda: self.standbys(primary) == [0, 1], "there are not one synchronous standby and another one")
        primary.query(f"CREATE ROLE countersign LOGIN PASSWORD '{PASSWORD}'", "postgres")
        primary.query(
            "CREATE DATABASE countersign OWNER countersign ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0", "postgres")
        return self

    def primary(self):
        """The server that takes writes, if there is one."""
        running = [member for member in self.members if member.patroni and member.patroni.poll() is None]
        found = [member for member in running if member.is_primary()]
        expect(len(found) < 2, f"there are {len(found)} primaries")
        return found[0] if found else None

    @staticmethod
    def standbys(primary):
        """The priorities of the standbys that follow a primary: 1 is synchronous, 0 is not."""
        rows = primary.query(
            "SELECT sync_priority FROM pg_stat_replication WHERE state = 'streaming' ORDER BY 1", "postgres")
        return [int(row) for row in rows.split()]

    def rows(self, sql):
        """All rows of a query on the primary, as dictionaries."""
        return json.loads(self.primary().query(f"SELECT coalesce(json_agg(row_to_json(r)), '[]') FROM ({sql}) r"))

    def store(self):
        """The address of the service's store."""
        hosts = ",".join(f"{member.address}:5432" for member in self.members)
        authority = self.directory / "databases.pem"
        return f"postgresql://countersign@{hosts}/countersign?sslmode=verify-full&sslrootcert={authority}"

    def password_file(self):
        """A file with the password of the service's account."""
        path = self.directory / "pgpass"
        path.write_text(f"*:*:*:countersign:{PASSWORD}\n")
        path.chmod(0o600)
        return path

    def await_primary(self, other_than, began, seconds):
        """Waits for another server's promotion. Gives it, and how many seconds after a moment it was the primary."""
        while True:
            for member in self.members:
                if member is not other_than and member.is_primary():
                    return member, time.monotonic() - began
            expect(time.monotonic() < began + seconds, f"no server was promoted within {seconds} s")
            time.sleep(0.05)

    def stop(self):
        """Ends all servers."""
        for member in self.members:
            if member.patroni and member.patroni.poll() is None:
                member.patroni.terminate()
        for member in self.members:
            member.stop()
