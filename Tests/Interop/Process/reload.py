"""Reloads policies by SIGHUP, good and bad ones, and disables a provider under a running service."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from Shared import options
from Shared.checks import accepted, equal, expect, refused, soon, whole_lines
from Shared.client import Device


def idle_lifetime(device, session):
    """What the service says of its idle clock."""
    return accepted(device.current(session))["idle_ttl"]


def logged(chosen, message):
    """How many lines of the log have this message."""
    lines = [json.loads(line) for line in whole_lines(Path(chosen.directory, "log"))]
    return [line for line in lines if line.get("message") == message]


def reload(chosen, text, message):
    """Writes a policy, sends the signal, and waits for what the log says of it; the line."""
    Path(chosen.directory, "Policies", "sessions.yaml").write_text(text)
    before = len(logged(chosen, message))
    os.kill(chosen.pid, signal.SIGHUP)
    return soon(lambda: logged(chosen, message)[before:], f"the log does not say that {message}")[-1]


def ended(chosen, count):
    """The line with which the log ends a reload, once there are so many."""
    return soon(
        lambda: logged(chosen, "the reload has ended")[count - 1:], f"the log does not end {count} reloads")[-1]


def admin(chosen, *arguments):
    """An admin command, as a process of its own."""
    subprocess.run(
        [chosen.countersign, *arguments, "--store", f"sqlite:{chosen.directory}/store.db"], check=True,
        capture_output=True, timeout=60)


def main():
    parser = options.parser(__doc__)
    for name in ("countersign", "directory"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--pid", required=True, type=int)
    chosen = parser.parse_args()
    provider = options.provider(chosen)
    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(device.certify(), 201)

    def log_in():
        return accepted(device.create_session(provider.identity_token("user", device.nonce())), 201)["session_token"]

    session = log_in()
    equal(idle_lifetime(device, session), 3600, "the default")
    reload(chosen, "idle_lifetime: 10m\nper_user_and_device: 1\n", "the policies were reloaded")
    line = ended(chosen, 1)
    equal((line["level"], line["failed"]), ("info", "nothing"), "the end of a good reload")
    for name in ("/*.yaml", "wrapping.key", "phone-code.key", "server.pem"):
        expect(name in line["read_again"], f"the log does not say that {name} was read again: {line}")
    for name in ("nonce.key", "service.key", "access-token.key", "ca.pem"):
        expect(name in line["read_at_start_only"], f"the log does not say that {name} was left alone: {line}")
    equal(idle_lifetime(device, session), 600, "the reloaded value")
    for bad in ("idle_lifetime: 5m\nidle_lifetmie: 5m\n", "idle_lifetime: soon\n", "idle_lifetime: [\n"):
        line = reload(chosen, bad, "the policies were not reloaded")
        expect("sessions.yaml" in json.dumps(line), f"the log does not name the file: {line}")
        equal(idle_lifetime(device, session), 600, "the value after a bad file")
    line = ended(chosen, 4)
    equal(line["level"], "warning", "the end of a bad reload")
    expect("/*.yaml" in line["failed"] and "wrapping.key" in line["read_again"], f"the end of a bad reload: {line}")
    reload(chosen, "idle_lifetime: 20m\n", "the policies were reloaded")
    equal(idle_lifetime(device, session), 1200, "the value after the file was mended")

    # Disabled: within a second of the command's end nothing of the provider's counts.
    admin(chosen, "provider", "disable", provider.slug, "--yes")
    done = time.monotonic()
    while device.current(session).status_code == 200:
        expect(time.monotonic() - done < 1, "a session of the disabled provider lives on")
    print(f"ended {time.monotonic() - done:.3f} s after the command")
    refused(device.current(session), 401, "session_destroyed")
    time.sleep(max(0, 1 - (time.monotonic() - done)))
    refused(provider.record(), 401, "provider_token_invalid")
    token = provider.identity_token("user", device.nonce())
    refused(device.create_session(token), 422, "invalid_identity_token")
    admin(chosen, "provider", "enable", provider.slug)
    time.sleep(1)
    refused(device.current(session), 401, "session_destroyed")
    accepted(provider.record())
    accepted(device.current(log_in()))


if __name__ == "__main__":
    main()
