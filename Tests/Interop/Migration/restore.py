"""A store that is backed up under a running service and restored later. `before` signs people in, backs up, and then
takes things away; `after`, behind the restore and a new start, asks what must not have come back."""

import json
import shlex
import stat
import subprocess
from pathlib import Path

from Shared import options
from Audit.audit import Commands
from Shared.checks import accepted, equal, expect, refused
from Shared.client import Device
from Migration.load import device as kept_device


def state(chosen):
    """Where the first part leaves what the second needs."""
    return Path(chosen.directory, "restore.json")


def exported(device, token):
    """`GET /me/export` with what a banned user was given."""
    return device.call("GET", "/me/export", headers={"Authorization": f'Layer export-token="{token}"'})


def before(chosen, commands, provider):
    """Acts before and after the backup."""
    device, stolen = kept_device(chosen), Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(stolen.certify(), 201)

    def log_in(name):
        return accepted(device.create_session(provider.identity_token(name, device.nonce())), 201)

    alice, gone = log_in("alice"), log_in("gone")
    frank, grace = log_in("frank"), log_in("grace")
    commands.run("ban", "add", "--user", frank["user_id"], "--reason", "spam")
    backup = str(Path(chosen.directory, "backup.db"))
    if chosen.dump:
        subprocess.run([*shlex.split(chosen.dump), backup], check=True, timeout=60)
    else:
        equal(commands.json("store", "backup", backup)["backup"], backup, "backup")
        equal(stat.S_IMODE(Path(backup).stat().st_mode), 0o600, "the backup's mode")
        commands.run("store", "backup", backup, status=1)
    # What happens after it: an erasure, a theft, a session, nonces on their way.
    commands.run("user", "erase", gone["user_id"], "--reason", "user_request", "--yes")
    serial = format(stolen.certificate.serial_number, "x")
    revoked = commands.json("device", "revoke", stolen.device_id, "--reason", "keyCompromise")
    equal((len(revoked["revoked"]), revoked["crl_rebuilt"]), (1, True), "revoked")
    commands.run("device", "revoke", stolen.device_id, status=1)
    later = log_in("later")
    # Bans and a lift; one of the banned is known to no backup.
    commands.run("ban", "lift", "--user", frank["user_id"], "--note", "a mistake")
    for user in (grace, log_in("late")):
        commands.run("ban", "add", "--user", user["user_id"], "--reason", "spam")
    told = refused(device.create_session(provider.identity_token("grace", device.nonce())), 403, "user_banned")
    accepted(exported(device, told["export_token"]))
    used, unused = device.nonce(), device.nonce()
    accepted(device.create_session(provider.identity_token("alice", used)), 201)
    # A store in use is not replaced.
    how = ("--in-place", "--lost") if chosen.dump else (backup,)
    commands.run("store", "restore", *how, "--yes", status=1)
    accepted(device.current(alice["session_token"]))
    state(chosen).write_text(json.dumps({
        "alice": alice, "later": later, "gone": gone["user_id"], "used": used, "unused": unused, "serial": serial,
        "backup": backup, "export_token": told["export_token"]}))


def restore(chosen, commands):
    """The restore, with the service stopped."""
    left = json.loads(state(chosen).read_text())
    # A server's own tools have put the dump into another database.
    how = ("--in-place", "--replaced", chosen.replaced) if chosen.replaced else (left["backup"],)
    commands.run("store", "restore", *how, status=1)  # --yes is missing
    report = commands.json("store", "restore", *how, "--yes", "--reason", "ticket:9")
    equal(
        (report["users_erased_again"], report["certificates_revoked_again"], report["providers_disabled_again"]),
        (1, 1, 0), "replayed")
    equal(report["bans_again"], 3, "bans and lifts replayed")
    expect(report["sessions_ended"] >= 2, "the backup's sessions ended")
    expect(chosen.replaced or Path(report["replaced"]).exists(), "the replaced store is kept")


def after(chosen, commands, provider):
    """What the restored service says."""
    left, device = json.loads(state(chosen).read_text()), kept_device(chosen)
    for name in ("alice", "later"):
        refused(device.current(left[name]["session_token"]), 401, "session_destroyed")
    for name in ("used", "unused"):
        answer = device.create_session(provider.identity_token("alice", left[name]))
        equal(answer.json().get("reason"), "nonce_unknown", f"a nonce that was {name}")
    again = accepted(device.create_session(provider.identity_token("alice", device.nonce())), 201)
    equal(again["user_id"], left["alice"]["user_id"], "alice is who she was")
    # Who was banned since the backup stays so, who was lifted is free; export tokens of before open nothing.
    sign_in = lambda name: device.create_session(provider.identity_token(name, device.nonce()))
    refused(exported(device, left["export_token"]), 401, "session_required")
    for name in ("grace", "late"):
        told = refused(sign_in(name), 403, "user_banned", "spam")
        equal(accepted(exported(device, told["export_token"]))["address"], f"{provider.slug}/{name}", "the export")
    accepted(sign_in("frank"), 201)
    shown = commands.json("certificate", "show", left["serial"])
    equal(shown["revocation_reason"], "keyCompromise", "the stolen device's certificate")
    if not chosen.store:
        check = commands.json("store", "check")
        equal((check["valid"], check["defects"]), (True, []), "check")
    entries = commands.json("audit", "tail", "--limit", "100")
    restored = [entry for entry in entries if entry["event"] == "store_restored"]
    equal([entry["reason"] for entry in restored], ["ticket:9"], "the restore's reason")
    erased = [entry["subject"] for entry in entries if entry["event"] == "user_erased"]
    equal(erased, [f"user {left['gone']}"], "the erasure")


def main():
    parser = options.parser(__doc__)
    parser.add_argument("what", choices=("before", "restore", "after"))
    for name in ("countersign", "directory", "identity"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--store", help="a store that is no file")
    parser.add_argument("--dump", help="what makes a backup of such a store, when the backup's path is added")
    parser.add_argument("--replaced", help="the address of the store that was replaced by such a store")
    chosen = parser.parse_args()
    commands = Commands(chosen)
    if chosen.what == "restore":
        return restore(chosen, commands)
    provider = options.provider(chosen)
    {"before": before, "after": after}[chosen.what](chosen, commands, provider)


if __name__ == "__main__":
    main()
