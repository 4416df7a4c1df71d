"""A machine and a container for `package_installed.py`: Debian booted with systemd, and an image that runc starts."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from Shared.checks import PATIENCE, expect, soon

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive"}
NEW_NETWORK = 0x40000000  # CLONE_NEWNET


def run(*command, wanted=0, **named):
    """What a program wrote; fails unless it ends as wanted."""
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        text=True, timeout=600, check=False, **named)
    words = " ".join(map(str, command))
    expect(done.returncode == wanted, f"{words} ended with {done.returncode}: {done.stdout[-3000:]}")
    return done.stdout


def enter_network(process):
    """From now on connections of this process are made in that one's network."""
    with open(f"/proc/{process}/ns/net", "rb") as network:
        if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), "setns")


@contextlib.contextmanager
def copied(root):
    """A copy of a root, which is removed at the end."""
    directory = tempfile.mkdtemp(prefix="countersign-machine-", dir="/var/tmp")
    try:
        run("cp", "-a", root, f"{directory}/root")
        yield Path(directory, "root")
    finally:
        shutil.rmtree(directory)


class Machine:
    """A root that is booted with its own systemd, network and processes."""

    def __init__(self, root):
        self.root = root
        # Its parts of /run are not left on this machine.
        script = 'mkdir -p /run/systemd/nspawn && mount -t tmpfs tmpfs /run/systemd/nspawn && exec "$@"'
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh",
             "setpriv", "--pdeathsig", "KILL", "systemd-nspawn", "--quiet", "--register=no", "--keep-unit",
             "--private-network", "--console=pipe", "--directory", root, "--boot"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

        def is_up():
            expect(self.process.poll() is None, "the machine ended")
            return self.state() in ("running", "degraded")

        soon(is_up, "the machine does not boot")

    def state(self):
        """What its systemd says of itself."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        if not children:
            return "without a process"
        self.leader = int(children[0])
        done = subprocess.run(
            self.inside("systemctl", "is-system-running"), capture_output=True, text=True, timeout=60, check=False)
        return done.stdout.strip()

    def inside(self, *command):
        """The command, as one that is given in the machine."""
        namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"]
        words = ["env", "-i", *(f"{name}={value}" for name, value in ENVIRONMENT.items()), *map(str, command)]
        return ["nsenter", "--target", str(self.leader), *namespaces, "--", *words]

    def run(self, *command, wanted=0):
        """Runs a command in it as root."""
        return run(*self.inside(*command), wanted=wanted)

    def countersign(self, *command):
        """Gives a command as the installation's page says it: in its directory, as its account."""
        return self.run("runuser", "-u", "countersign", "--", "env", "-C", "/etc/countersign", "countersign", *command)

    def show(self, *properties):
        """What systemd says of the service."""
        lines = self.run("systemctl", "show", "countersign", "-p", ",".join(properties)).splitlines()
        values = dict(line.split("=", 1) for line in lines)
        return [values[name] for name in properties]

    def stop(self):
        """Turns it off. Where nspawn ended before the init of the machine, that ends too."""
        init = os.pidfd_open(self.leader)
        self.process.send_signal(signal.SIGRTMIN + 4)
        self.process.communicate(timeout=PATIENCE)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(init, signal.SIGKILL)
        os.close(init)


class Container:
    """An image that runc runs with a read-only root, a volume, and a network of its own."""

    def __init__(self, bundle, volume, files):
        """`files` are mounted read-only, by their places in the container."""
        self.bundle, self.state = Path(bundle), f"{bundle}-state"
        self.configuration = json.loads((self.bundle / "config.json").read_text())
        self.configuration["root"]["readonly"] = True
        self.configuration["process"]["terminal"] = False
        self.configuration["process"]["rlimits"] = []
        self.configuration["mounts"] += [
            {"destination": place, "type": "bind", "source": str(file), "options": ["bind", "ro"]}
            for place, file in files.items()] + [
            {"destination": "/var/lib/countersign", "type": "bind", "source": str(volume), "options": ["bind", "rw"]},
            {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777"]}]
        self.arguments = self.configuration["process"]["args"]
        self.environment = self.configuration["process"]["env"]

    def prepare(self, arguments, environment):
        """Writes what is to be run: the image's entry point with arguments, or with those of the image."""
        process = self.configuration["process"]
        process["args"] = [self.arguments[0], *arguments] if arguments else self.arguments
        process["env"] = self.environment + [f"{name}={value}" for name, value in environment.items()]
        (self.bundle / "config.json").write_text(json.dumps(self.configuration))

    def once(self, *arguments):
        """Runs a command to its end."""
        self.prepare(arguments, {})
        return run("runc", "--root", self.state, "run", "--bundle", self.bundle, "once")

    def start(self, environment, log):
        """Runs what the image runs; the process that it became."""
        self.prepare((), environment)
        file = self.bundle / "pid"
        with open(log, "wb") as output:
            subprocess.run(
                ["runc", "--root", self.state, "run", "--bundle", self.bundle, "--detach", "--pid-file", file,
                 "service"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=True, timeout=PATIENCE)
        return int(file.read_text())

    def execute(self, *command, wanted=0):
        """Runs a command beside it."""
        return run("runc", "--root", self.state, "exec", "service", *command, wanted=wanted)

    def is_ready(self):
        """Whether the image's probe says so."""
        probe = ["runc", "--root", self.state, "exec", "service", "/usr/lib/countersign/probe", "/readyz"]
        return subprocess.run(probe, capture_output=True, timeout=PATIENCE, check=False).returncode == 0

    def stop(self):
        """Asks it to end, and waits."""
        run("runc", "--root", self.state, "kill", "service", "TERM")
        soon(lambda: json.loads(run("runc", "--root", self.state, "state", "service"))["status"] == "stopped",
             "the container does not stop")
        run("runc", "--root", self.state, "delete", "service")
