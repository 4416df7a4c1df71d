"""Installs the package into a fresh Debian that boots with systemd, signs a user in, upgrades, removes, installs again
and purges; then makes the image and runs it. Needs root. Prints what it did.

    python3 package_installed.py --root REPOSITORY --package FILE --image DIRECTORY
"""

import argparse
import base64
import hashlib
import json
import os
import re
import tempfile
import time
from pathlib import Path

from cryptography.hazmat.primitives import serialization

from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT, Device, https, new_key
from Packaging.package_machine import Container, Machine, copied, enter_network, run
from Shared.provider import Provider

PUBLIC, CLIENT = "https://127.0.0.1:8440", "https://127.0.0.1:8441"
# What an installed package may change besides its own files, and what changes by itself while a system runs.
ELSEWHERE = re.compile(
    r"/(proc|sys|dev|run|tmp|root|srv|var/(log|tmp|cache|lib/(dpkg|systemd|apt|private|machines|portables)))(/|$)"
    r"|/etc/((passwd|group|shadow|gshadow|subuid|subgid)-?|machine-id|resolv\.conf|\.pwd\.lock|\.updated|ld\.so\.cache)$"
    r"|/var/\.updated$")
DATA = "/var/lib/countersign"


def say(text):
    """One line of what was done."""
    print(f"- {text}", flush=True)


def paths(root):
    """All files and directories of a root, but for those that change by themselves."""
    found = set()
    for directory, below, names in os.walk(root):
        here = directory.removeprefix(str(root))
        below[:] = [name for name in below if not ELSEWHERE.match(f"{here}/{name}")]
        found.update(f"{here}/{name}" for name in below + names if not ELSEWHERE.match(f"{here}/{name}"))
    return found


def digest(directory):
    """The content of the files of a directory."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(directory).iterdir())}


class User:
    """A device with a session, which is looked at again later."""

    def __init__(self, authority, registration, key):
        with https(authority) as session:
            realm = session.get(PUBLIC + "/.well-known/countersign", timeout=TIMEOUT).json()["realm"]
        provider = Provider(PUBLIC, authority, registration, key, realm)
        self.device = Device(PUBLIC, CLIENT, authority, "EC")
        accepted(self.device.certify(), 201)
        body = accepted(self.device.create_session(provider.identity_token("user", self.device.nonce())), 201)
        self.token, self.user_id = body["session_token"], body["user_id"]
        self.returns()

    def returns(self):
        """The session goes on, on a new connection."""
        self.device.reconnect()
        equal(accepted(self.device.current(self.token), 200)["user_id"], self.user_id, "the session's user")


def provider_key(folder):
    """A provider's key pair; its public half is written into a folder."""
    key = new_key("RSA")
    path = Path(folder, "provider.pem")
    path.write_bytes(key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    path.chmod(0o644)
    return key


def confined(machine):
    """The service runs as its own account, without rights, on a file system that it cannot write."""
    pid, user, deny = machine.show("MainPID", "User", "MemoryDenyWriteExecute")
    status = dict(re.findall(r"^(\w+):\s+(.*)$", machine.run("cat", f"/proc/{pid}/status"), re.MULTILINE))
    number = machine.run("id", "-u", "countersign").strip()
    equal([user, deny, set(status["Uid"].split())], ["countersign", "yes", {number}], "account and memory")
    zero = "0" * 16
    equal([status[name] for name in ("CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp")],
          [zero, zero, zero, "1", "2"], "the rights")
    for place, ends in (("/etc", 1), ("/usr/bin", 1), ("/var/lib", 1), (DATA, 0)):
        machine.run("nsenter", "--target", pid, "--mount", "--", "touch", f"{place}/written", wanted=ends)
    machine.run("rm", f"{DATA}/written")
    open_files = machine.run("find", DATA, "-perm", "/077").split()
    # Certificates are for everybody; their directory is not.
    expect(all(path.endswith(".pem") for path in open_files), f"others may read {open_files}")
    equal(machine.run("find", DATA, "!", "-user", "countersign"), "", "files of others")
    exposure = machine.run("systemd-analyze", "security", "countersign").strip().splitlines()[-1]
    say(f"it runs as uid {number}, without capabilities, root read-only; {exposure.strip('→ ')}")
    return pid


def installed(machine, package):
    """From the installation to the first session."""
    machine.run("dpkg", "--install", package)
    equal(machine.run("systemctl", "is-enabled", "countersign").strip(), "enabled", "the unit")
    equal(machine.run("systemctl", "is-active", "countersign", wanted=3).strip(), "inactive", "the service")
    say("installed; enabled, and not started")
    machine.run("systemctl", "start", "countersign", wanted=1)
    journal = machine.run("journalctl", "-u", "countersign", "-o", "cat")
    expect("keys init" in journal, f"the journal does not name the mend: {journal}")
    machine.run("systemctl", "stop", "countersign")
    machine.run("systemctl", "reset-failed", "countersign")
    say("a start without keys fails, and the journal names `keys init`")
    machine.countersign("keys", "init")
    machine.countersign("policy", "check")
    key = provider_key(machine.root / "srv")
    registration = json.loads(machine.countersign(
        "provider", "add", "--name", "Test", "--slug", "test", "--key", "/srv/provider.pem", "--json"))
    started = time.monotonic()
    machine.run("systemctl", "start", "countersign")
    enter_network(machine.leader)
    user = User(str(machine.root / f"{DATA[1:]}/keys/ca.pem"), registration, key)
    say(f"keys made, provider added, started in {time.monotonic() - started:.1f} s, a user is signed in")
    machine.run("/usr/lib/countersign/probe", "/readyz")
    return user


def upgraded(machine, package, user, pid):
    """The package over itself: another process, the same data, the administrator's changes kept."""
    etc = machine.root / "etc/countersign"
    changed = [etc / "countersign.yaml", etc / "policies/sessions.yaml"]
    for file in changed:
        file.write_text(file.read_text() + "# The administrator was here.\n")
    machine.run("systemctl", "reload", "countersign")
    equal(machine.show("MainPID", "ActiveState"), [pid, "active"], "the service after a reload")
    keys = digest(machine.root / f"{DATA[1:]}/keys")
    machine.run("dpkg", "--install", package)
    now, state = machine.show("MainPID", "ActiveState")
    expect(now != pid and state == "active", f"the service is {state} as {now}, it was {pid}")
    equal(digest(machine.root / f"{DATA[1:]}/keys"), keys, "the keys")
    for file in changed:
        expect(file.read_text().endswith("administrator was here.\n"), f"{file} was changed")
    user.returns()
    say("reloaded; upgraded over itself: a new process, keys, changed files and the user's session are kept")


def removed(machine, package, user, before):
    """Removed: the data stays, and is found again; purged: nothing but the data is left."""
    machine.run("dpkg", "--remove", "countersign")
    equal(machine.run("find", "/proc", "-maxdepth", "1", "-user", "countersign"), "", "the account's processes")
    left = paths(machine.root) - before
    # As Debian's other packages do it: the link by which it is enabled, and a mask over it, until the purge.
    links = {f"/etc/systemd/system/{place}countersign.service" for place in ("", "multi-user.target.wants/")}
    equal({path for path in left if not path.startswith((DATA, "/etc/countersign"))}, links, "what the removal left")
    say("removed: options, policies and data are left")
    machine.run("dpkg", "--install", package)
    machine.run("systemctl", "start", "countersign")
    user.returns()
    say("installed again: it finds its data, the user's session goes on")
    machine.run("dpkg", "--purge", "countersign")
    left = paths(machine.root) - before
    equal({path for path in left if not path.startswith(DATA)}, set(), "what the purge left")
    expect(f"{DATA}/countersign.db" in left and f"{DATA}/keys/ca.key" in left, f"only {left} is left")
    equal(before - paths(machine.root), set(), "what the purge took besides")
    say(f"purged: nothing but {DATA} and the account is left")


def contained(chosen, base):
    """The image, run with a read-only root."""
    run("bash", chosen.root / "Sources/Packaging/image.sh", base, chosen.package, chosen.image)
    version = run("dpkg-deb", "-f", chosen.package, "Version").strip()
    with tempfile.TemporaryDirectory(prefix="countersign-image-", dir="/var/tmp") as directory:
        bundle, volume = Path(directory, "bundle"), Path(directory, "volume")
        run("umoci", "unpack", "--image", f"{chosen.image}:{version}", bundle)
        volume.mkdir()
        os.chown(volume, 10001, 10001)
        # Off loopback no file takes the texts.
        delivery = Path(directory, "delivery.yaml")
        delivery.write_text("senders:\n  - kind: webhook\n    url: https://texts.example/\n")
        container = Container(bundle, volume, {"/etc/countersign/policies/delivery.yaml": delivery})
        equal(container.configuration["process"]["user"]["uid"], 10001, "the image's user")
        container.once("keys", "init")
        secret = volume / "keys/webhook.secret"
        secret.write_text(f"whsec_{base64.b64encode(bytes(32)).decode()}\n")
        secret.chmod(0o600)
        os.chown(secret, 10001, 10001)
        key = provider_key(volume)
        registration = json.loads(container.once(
            "provider", "add", "--name", "Test", "--slug", "test", "--key", f"{DATA}/provider.pem", "--json"))
        process = container.start(
            {"COUNTERSIGN_REALM": "auth.example", "COUNTERSIGN_BASE_URL": PUBLIC, "COUNTERSIGN_CLIENT_URL": CLIENT},
            Path(directory, "log"))
        soon(container.is_ready, lambda: f"not ready: {Path(directory, 'log').read_text()[-2000:]}")
        enter_network(process)
        User(str(volume / "keys/ca.pem"), registration, key)
        container.execute("/usr/lib/countersign/probe")
        container.execute("touch", "/etc/written", wanted=1)
        container.stop()
        size = sum(path.stat().st_size for path in chosen.image.rglob("*") if path.is_file()) / 1e6
        say(f"image of {size:.0f} MB: run as 10001 with a read-only root, ready by its probe, a user is signed in")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("root", "package", "image"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    parser.add_argument(
        "--roots", type=Path, default=Path("/var/tmp/countersign-roots"), help="where fresh systems are kept")
    chosen = parser.parse_args()
    depends = run("dpkg-deb", "-f", chosen.package, "Depends")
    names = [entry.split()[0] for entry in depends.split(",")]
    base, bootable = chosen.roots / "base", chosen.roots / "bootable"
    for root, packages in ((base, names), (bootable, names + ["systemd-sysv"])):
        run("bash", chosen.root / "Sources/Packaging/root.sh", root, *packages)
    with copied(bootable) as root:
        machine = Machine(root)
        try:
            before = paths(root)
            say(f"a fresh Debian {(root / 'etc/debian_version').read_text().strip()} booted, {len(before)} files")
            run("cp", chosen.package, root / "srv/countersign.deb")
            user = installed(machine, "/srv/countersign.deb")
            upgraded(machine, "/srv/countersign.deb", user, confined(machine))
            removed(machine, "/srv/countersign.deb", user, before)
        finally:
            machine.stop()
    contained(chosen, base)


if __name__ == "__main__":
    main()
