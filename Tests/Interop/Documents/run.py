"""Runs `.run.sh` in a directory of its own, on free ports: twice to the end of its tour, then stopped; and once with a tour
that fails. Whatever becomes of it, no process is left."""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from Shared.checks import equal, expect, soon
from Shared.client import TIMEOUT, https
from Shared.ports import free_ports


def processes(directory):
    """What runs in the directory: command lines by process id."""
    found = {}
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and Path(os.readlink(process / "cwd")) == directory:
                words = (process / "cmdline").read_bytes().split(b"\0")
                if b"Z" != (process / "stat").read_bytes().rpartition(b")")[2].split()[0]:
                    found[int(process.name)] = b" ".join(words).decode()
        except OSError:
            pass
    return found


class Run:
    """`.run.sh`, started."""

    def __init__(self, root, directory, binaries, ports):
        self.directory, self.ports, self.root, self.binaries = directory, ports, root, binaries
        self.output = directory / "output"
        names = ("COUNTERSIGN_PUBLIC", "COUNTERSIGN_CLIENT", "COUNTERSIGN_OPS", "COUNTERSIGN_CONSOLE")
        variables = dict(zip(names, (f"127.0.0.1:{port}" for port in ports[:3] + ports[4:])))
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                ["bash", root / ".run.sh"], cwd=directory, stdout=output, stderr=subprocess.STDOUT,
                env=os.environ | variables | {"SAMPLE_PROVIDER_PORT": str(ports[3]), "COUNTERSIGN_BIN": binaries})

    def text(self):
        return self.output.read_text()

    def wait_for(self, words):
        """Waits for a text in the output."""
        def is_there():
            if words in self.text():
                return True
            expect(self.process.poll() is None, f"it ended by {self.process.poll()}: {self.text()}")
            return False

        soon(is_there, lambda: f"no {words!r} in {self.text()}")

    def close(self):
        """Ends what a failed test left."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=60)


def samples(run):
    """`.samples.sh` beside it, twice: it answers on all six ports, and stops."""
    choices = random.sample(range(10_000, 31_990), 1000)
    begin = next(port for port in choices if all(is_free(port + more) for more in range(6)))
    for _ in range(2):
        output = run.directory / "samples"
        with output.open("w") as file:
            process = subprocess.Popen(
                ["bash", run.root / ".samples.sh"], cwd=run.directory, stdout=file, stderr=subprocess.STDOUT,
                env=os.environ | {"COUNTERSIGN_PUBLIC": f"127.0.0.1:{run.ports[0]}", "SAMPLES_PORT": str(begin),
                                  "COUNTERSIGN_BIN": run.binaries})
        try:
            def are_up():
                if "The samples are up" in output.read_text():
                    return True
                expect(process.poll() is None, f"it ended by {process.poll()}: {output.read_text()}")
                return False

            soon(are_up, lambda: f"the samples are not up: {output.read_text()}")
            for port in range(begin, begin + 6):
                with socket.create_connection(("127.0.0.1", port), timeout=60):
                    pass
            page = urllib.request.urlopen(f"http://127.0.0.1:{begin}/", timeout=60)
            expect(b"<title>Forum</title>" in page.read(), "the forum's page")
        finally:
            process.send_signal(signal.SIGTERM)
            status = process.wait(timeout=60)
        equal(status, 0, "the exit code of the samples")


def is_free(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def walk(run, number):
    """A start, the whole tour, and a stop."""
    run.wait_for("The service is up")
    public, _, ops, provider, console = run.ports
    text = run.text()
    for words in ("assurance: barcode", "Both may talk", "state: BANNED", "a form of the console", "The token is no longer valid",
                  f"https://127.0.0.1:{public},", f"http://127.0.0.1:{provider}."):
        expect(words in text, f"{words!r} is not in {text}")
    # It stays up after the tour.
    time.sleep(1)
    equal(urllib.request.urlopen(f"http://127.0.0.1:{ops}/readyz", timeout=60).status, 200, "readyz")
    with https(str(run.directory / "Keys" / "ca.pem")) as session:
        equal(session.get(f"https://127.0.0.1:{public}/", timeout=TIMEOUT).status_code, 200, "discovery")
    with socket.create_connection(("127.0.0.1", provider), timeout=60):
        pass
    # As the printed command does it.
    password = json.loads((run.directory / ".run" / "admin.json").read_text())["password"]
    expect(password in text, f"the administrator's password is not in {text}")
    shown = subprocess.run(
        ["curl", "-sS", "--cacert", "Keys/ca.pem", "--cert-type", "P12", "--cert", f".run/admin.p12:{password}", "-H",
         "Sec-Fetch-Site: none", f"https://127.0.0.1:{console}/"],
        cwd=run.directory, capture_output=True, text=True, timeout=60, check=False)
    expect("<h1><bdi>Now</bdi></h1>" in shown.stdout, f"the console: {shown.stdout}{shown.stderr}")
    running = " ".join(processes(run.directory).values())
    expect("countersign serve" in running and "sample-provider" in running, f"running: {running}")
    if number == 1:
        samples(run)
    run.process.send_signal(signal.SIGTERM)
    equal(run.process.wait(timeout=60), 0, f"the exit code of run {number}")
    equal(processes(run.directory), {}, "what is left running")
    print(f"run {number}: {len(text.splitlines())} lines")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--binaries", required=True)
    chosen = parser.parse_args()
    # Who starts this may have signals blocked, which a shell cannot undo.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    directory = Path(tempfile.mkdtemp(prefix="countersign-run-")).resolve()
    runs = []
    try:
        shutil.copytree(chosen.root / "Policies", directory / "Policies")
        for number in (1, 2):
            runs.append(Run(chosen.root, directory, chosen.binaries, free_ports(5)))
            walk(runs[-1], number)
        # The same programs, but the tour fails.
        failing = directory / "bin"
        failing.mkdir()
        (failing / "sample-provider").symlink_to(Path(chosen.binaries, "sample-provider"))
        (failing / "countersign").write_text(
            f'#!/bin/sh\n[ "$1" = tour ] && exit 7\nexec "{chosen.binaries}/countersign" "$@"\n')
        (failing / "countersign").chmod(0o755)
        runs.append(Run(chosen.root, directory, str(failing), free_ports(5)))
        equal(runs[-1].process.wait(timeout=60), 7, "the exit code after a tour that fails")
        expect("The service is up" not in runs[-1].text(), runs[-1].text())
        equal(processes(directory), {}, "what a failed tour leaves running")
        print("a tour that fails: exit code 7")
    finally:
        for run in runs:
            run.close()
        for pid in processes(directory):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
