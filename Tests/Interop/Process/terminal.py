"""Admin commands at a terminal of 60 columns: no line is longer, and the heading or verdict is coloured; NO_COLOR is kept.
A command that ends much at once asks there."""

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

COLUMNS = 60
ESCAPE = re.compile("\x1b\\[[0-9;]*[mK]")


def read_to_end(master):
    """What the terminal shows until the command has closed it."""
    output = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            return output
        if not part:
            return output
        output += part


def at_terminal(command, **variables):
    """What a command writes to a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "", **variables}
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    output = read_to_end(master)
    assert process.wait(timeout=60) == 0, output
    return output.decode()


def answered(command, answer, status):
    """What a command writes that asks at a terminal, and gets an answer."""
    master, slave = pty.openpty()
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    output = b""
    while b"Type yes to continue." not in output:
        output += os.read(master, 65536)
    os.write(master, answer.encode() + b"\n")
    output += read_to_end(master)
    assert process.wait(timeout=60) == status, output
    return output.decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--countersign", required=True)
    parser.add_argument("--directory", required=True)
    chosen = parser.parse_args()
    place = Path(chosen.directory)
    places = ["--keys", str(place / "Keys"), "--store", f"sqlite:{place / 'store.db'}"]
    for words in (["status"], ["audit", "tail"], ["audit", "verify"], ["provider", "list"], ["device", "list"]):
        shown = at_terminal([chosen.countersign, *words, *places])
        plain = ESCAPE.sub("", shown)
        long = [line for line in plain.splitlines() if len(line) > COLUMNS]
        assert plain.strip() and not long, (words, long)
        without = at_terminal([chosen.countersign, *words, *places], NO_COLOR="1")
        assert "\x1b" not in without, words
    disable = [chosen.countersign, "provider", "disable", "test", *places]
    assert "Nothing was changed." in answered(disable, "no", 1)
    assert "test is disabled" in answered(disable, "yes", 0)
    assert "\x1b[32m" in at_terminal([chosen.countersign, "audit", "verify", *places])


if __name__ == "__main__":
    main()
