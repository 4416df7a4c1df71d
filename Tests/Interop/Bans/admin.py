"""The command line of the service, each command a process of its own."""

import json
import subprocess

from Shared.checks import expect


class Admin:
    """The command line, each command a process of its own."""

    def __init__(self, chosen):
        self.program, self.directory = chosen.countersign, chosen.directory

    def command(self, *arguments):
        places = ("keys", "Keys"), ("policies", "Policies"), ("store", "store.db")
        ends = [f"--{name}={'sqlite:' if name == 'store' else ''}{self.directory}/{file}" for name, file in places]
        return [self.program, *arguments, "--json", *ends]

    def run(self, *arguments):
        """The JSON that a command prints."""
        done = subprocess.run(self.command(*arguments), capture_output=True, timeout=60)
        expect(done.returncode == 0, f"{arguments[:2]} ended with {done.returncode}: {done.stderr.decode()}")
        return json.loads(done.stdout)

    def refused(self, *arguments):
        """The exit code and the sentence of a command that was not carried out."""
        done = subprocess.run(self.command(*arguments), capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
        expect(done.returncode != 0, f"{arguments} was carried out")
        return done.returncode, done.stderr.decode()
