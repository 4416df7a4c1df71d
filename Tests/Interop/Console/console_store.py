"""A store with something on every page of the console: its texts come from a list of words, hostile or harmless."""

import json
import re
import shutil
import sqlite3
import time
import urllib.parse
import uuid
from pathlib import Path

from Console.console import Administrator, ask, place
from Shared import specimen
from Shared.checks import accepted, equal, expect
from Shared.client import Device
from Shared.installation import Installation
from Shared.phones import begin, check, new_number, wait_for_texts

HARMLESS = ["plain"]
# A quote and a combining mark are one character to Swift, but not to a browser. U+0000 is missing: no store takes it.
HOSTILE = [
    '"\u0301 onfocus=alert(1) autofocus x="', "</td></tr></table><script>alert(1)</script>",
    "<\u0301img src=x onerror=alert(1)>", "\u202eevil\u202c \u2066left\u2069 \u2067right", "a\x01\x1b\x1f\x7f\x85<b>",
    "'\u20d0><svg onload=alert(1)>", "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd \u0645\u0631\u062d\u0628\u0627",
    "W" * 240, "&#60;script&#62; &lt;b&gt;", "e" + "\u0301\u0302\u0303\u0304" * 40, "]]><!-- --><title>x</title>",
]
# What the service writes itself and reads again: ids, words of its own, numbers and URLs that it made or checked. Each
# other text is replaced, so a new column is either here or on the pages with a hostile text.
CLOSED = re.compile(r"""
    .*[.](id|(?!external).*_id|kind|state|status|scope|role|act|assurance|level|suspended|attestation|origin|algorithm|.*_algorithms?|
    subject_form|checks|.*_status|deduplication_key|lease|fingerprints|log_position|holder)
    |certificates[.](serial|replaces|revocation_reason)|recent_certifications[.].*|change_log.*|schema_.*|sqlite_.*
    |providers[.](slug|issuer|audience|avatar_hosts)|issuers[.]issuer|bans[.]reason|ban_holds[.]part|sessions[.]end_reason
    |waiting_acts[.](subject|content)|generations[.].*|store_settings[.].*|maintenance_tasks[.].*|key_fingerprints[.].*
    |rates[.].*|phone_.*|spent_identifiers[.].*|outbox[.](owner|subject)|event_streams[.]events|permission_cuts[.].*
    |audit_(head|checkpoints|anchors)[.].*|authorizations[.].*|cuts[.].*|sign_ins[.](code|reason)
    """, re.VERBOSE)
# Texts that no row of these few users has by itself.
ADDED = [
    ("providers", "account"), ("audit_entries", "reason"), ("audit_entries", "detail"), ("outbox", "reason"),
    ("event_streams", "status_reason"),
]
ROLES = {"lena": "security", "otto": "security", "sam": "support", "rita": "reviewer", "audrey": "auditor"}


class ConsoleStore:
    """An installation with its facts, and a running console."""

    def __init__(self, chosen, directory, words):
        self.words = words
        directory = Path(directory)
        directory.mkdir()
        policies = directory / "Policies"
        shutil.copytree(chosen.policies, policies)
        bans = policies / "bans.yaml"
        bans.write_text(bans.read_text().replace("four_eyes_over: 0", "four_eyes_over: 1"))
        self.made = Installation(chosen.countersign, policies, directory, f"sqlite:{directory}/store.db")
        self.administrators = {name: Administrator(self.made, name, role) for name, role in ROLES.items()}
        self.node = self.made.node("a", arguments=("--console", "127.0.0.1:0"))
        self.provider = self.made.provider(self.node)
        self.people, self.cards = {}, {}
        self.seed()
        self.node.ask_to_end()
        self.node.await_end()
        with sqlite3.connect(directory / "store.db") as store:
            self.add_rows(store)
            self.fill(store)
        store.close()
        self.node.start()

    def of_role(self, role):
        """The certificate of an administrator."""
        return next(self.administrators[name].certificate for name, its in ROLES.items() if its == role)

    # Facts

    def person(self, name):
        """A user with a session on a device."""
        device = Device(self.node.public, self.node.client, self.made.authority, "EC")
        accepted(device.certify(), 201)
        claims = {"display_name": self.words[-1][:60]}
        session = accepted(device.create_session(self.provider.identity_token(name, device.nonce(), **claims)), 201)
        self.people[name] = device, session["session_token"], session["user_id"], session["session_id"]

    def prove(self, name):
        """Proves a telephone number."""
        device, token, *_ = self.people[name]
        number = new_number()
        started = accepted(begin(device, token, number), 202)
        [code] = wait_for_texts(self.made.texts, number)
        accepted(check(device, token, started["id"], code))

    def card(self, name, **values):
        """Shows a card; its id."""
        device, token, *_ = self.people[name]
        answer = device.call("POST", "/identity-cards", token, json={"aamva": specimen.aamva(**values)})
        expect(answer.status_code in (200, 201, 202), f"{name}: {answer.text}")
        return answer.json()["id"]

    def seed(self):
        """What users, providers and administrators do."""
        for name in ("ada", "ben", "cleo", "dora", "mallory"):
            self.person(name)
        for name in ("ada", "ben", "cleo", "dora"):
            self.prove(name)
        # A name with signs of HTML is a name that a card can have.
        family = "SAMPLER" if self.words is HARMLESS else "</TD><B ONFOCUS=X\"'&"
        known = {"family": family, "city": family[:20], "street": family[:20]}
        self.card("ada", number="T64235781", **known)
        # Another person's, and one that two users show: both wait for a reviewer.
        self.cards["other"] = self.card("ada", number="T64235782", birth=(1977, 7, 7), **{**known, "family": "X" + family})
        self.cards["shared"] = self.card("ben", number="T22235789", postal_code="902108216", **known)
        self.cards["again"] = self.card("cleo", number="T22235789", postal_code="902108216", **known)
        self.cards["refused"] = self.card("dora", number="T33235789", postal_code="902108216", **known)
        note = "\n".join(word for word in self.words if word.isprintable())
        self.made.admin("review", "reject", self.cards["refused"], "--reason", note.replace("\n", " ")[:200])
        self.made.admin("ban", "add", "--user", "test/mallory", "--reason", "spam", "--note", note[:900], "--yes")
        self.made.admin("ban", "add", "--phone", "+14155550123", "--reason", "fraud", "--for", "30d", "--yes")
        self.made.admin("ban", "add", "--user", "test/dora", "--reason", "abuse", "--scope", "messaging", "--yes")
        self.made.admin("ban", "lift", "--user", "test/dora", "--note", note[:900])
        self.made.admin("device", "revoke", self.people["cleo"][0].device_id, "--reason", "superseded", "--yes")
        for name in ("ada", "ben"):
            self.people[name][0].create_session("no token")
        self.act("lena", "/providers/test/disable", reason="ticket:4711", sure="yes")

    def act(self, name, path, **values):
        """Sends the form of a page, as its administrator would."""
        certificate = self.administrators[name].certificate
        status, _, text = ask(self.node, certificate, path)
        equal(status, 200, path)
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', text))
        host, port = place(self.node)
        headers = {
            "Sec-Fetch-Site": "same-origin", "Origin": f"https://{host}:{port}",
            "Content-Type": "application/x-www-form-urlencoded"}
        status, _, text = ask(
            self.node, certificate, path, "POST", headers, urllib.parse.urlencode({**hidden, **values}))
        equal(status, 303, f"{path}: {text}")

    # Texts

    def add_rows(self, store):
        """Rows that come from receivers which fail, and from attested devices. They are new: maintenance deletes old ones."""
        provider, now = self.provider.provider_id, time.time_ns() // 1_000_000
        for number in range(2):
            store.execute(
                "INSERT INTO event_streams (id, provider_id, push_url, approved_url, description, algorithm, subject_form,"
                " status, status_reason, created_at, holds, failures) VALUES (?, ?, ?, ?, 'x', 'RS256', 'iss_sub', ?, 'x',"
                " ?, 0, 3)",
                (str(uuid.uuid4()), provider, "https://x.example", "https://x.example", ["enabled", "paused"][number],
                 now))
        [(stream,)] = store.execute("SELECT id FROM event_streams WHERE status = 'enabled'").fetchall()
        for state, ended in (("waiting", None), ("dead", now), ("dropped", now)):
            identifier = str(uuid.uuid4())
            store.execute(
                "INSERT INTO outbox (id, kind, owner, subject, user_id, deduplication_key, payload, created_at, expires_at,"
                " due_at, tries, state, reason, ended_at) VALUES (?, 'provider_event', ?, ?, ?, ?, x'', ?, ?, ?, 3, ?, 'x', ?)",
                (identifier, provider, stream, self.people["ada"][2], identifier, now, 2 * now, 2 * now, state, ended))
        store.execute("UPDATE certificates SET attestation = 'app_attest'")

    def fill(self, store):
        """Replaces every text that is not a word of the service's own."""
        tables = [name for name, in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = [
            (table, row[1]) for table in tables for row in store.execute(f"PRAGMA table_info({table})")
            if row[2] == "TEXT" and not CLOSED.fullmatch(f"{table}.{row[1]}")]
        self.filled = 0
        for table, column in columns:
            where = "" if (table, column) in ADDED else f" WHERE {column} IS NOT NULL"
            for (row,) in store.execute(f"SELECT rowid FROM {table}{where}").fetchall():
                store.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (self.word(row), row))
                self.filled += 1

    def word(self, row):
        """A text that no other row of its column has."""
        return f"{self.words[row % len(self.words)]}{row}"

    def facts(self):
        """What addresses of pages name."""
        with sqlite3.connect(f"file:{self.made.directory}/store.db?mode=ro", uri=True) as store:
            def column(query):
                return [value for value, in store.execute(query)]
            return json.loads(json.dumps({
                "users": {name: person[2] for name, person in self.people.items()},
                "devices": {name: person[0].device_id for name, person in self.people.items()},
                "session": self.people["ada"][3],
                "external": column("SELECT external_id FROM users ORDER BY rowid"),
                "serial": column("SELECT serial FROM certificates ORDER BY rowid")[0],
                "bans": column("SELECT id FROM bans ORDER BY rowid"),
                "act": column("SELECT id FROM waiting_acts")[0],
                "outbox": dict(store.execute("SELECT state, id FROM outbox WHERE kind = 'provider_event'")),
                "cards": self.cards,
            }))
