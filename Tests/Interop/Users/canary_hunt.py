"""The search for what must not be found: each secret in every spelling."""

import base64
import hashlib
import os
import subprocess
import tempfile

from Shared.checks import equal, expect


def spellings(text):
    """The byte strings under which a text may lie somewhere."""
    found = set()
    for form in {text, text.lower(), text.upper(), text.title()}:
        for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
            raw = form.encode(encoding)
            found |= {raw, raw.hex().encode(), raw.hex().upper().encode()}
            # Base64 depends on how many bytes stand before: all three ways, without what the neighbours decide.
            for before in range(3):
                coded = base64.b64encode(b"\0" * before + raw)
                inner = coded[(0, 2, 3)[before]:len(coded) - (0, 3, 2)[(before + len(raw)) % 3]]
                found |= {inner, inner.translate(bytes.maketrans(b"+/", b"-_"))}
    return {spelling for spelling in found if len(spelling) >= 7}


def card_canaries(card):
    """What a card says that occurs nowhere else."""
    year, month, day = card["birth"]
    texts = [card[name] for name in ("family", "given", "middle", "street", "city", "postal_code", "number")]
    texts += [card["street"].split(" ", 1)[1], f"{card['postal_code'][:5]}-{card['postal_code'][5:]}"]
    return texts + [f"{year}-{month:02}-{day:02}", f"{month:02}{day:02}{year}", f"{year}{month:02}{day:02}"]


class Hunt:
    """The canaries, and what is searched for them."""

    def __init__(self):
        self.canaries, self.searched, self.known, self.forms = {}, 0, set(), tempfile.NamedTemporaryFile()

    def add(self, *texts):
        """Looks for these from now on."""
        for text in texts:
            self.canaries[text] = spellings(text)
        self.forms.seek(0)
        self.forms.write(b"\n".join(form for forms in self.canaries.values() for form in forms))
        self.forms.truncate()
        self.forms.flush()

    def lines(self, data):
        """How many lines of some bytes contain a canary. grep looks for all forms at once, Python for one at a time."""
        command = ["grep", "--count", "--text", "--fixed-strings", "--file", self.forms.name]
        result = subprocess.run(command, input=data, capture_output=True, env={**os.environ, "LC_ALL": "C"}, timeout=60)
        expect(result.returncode in (0, 1), f"grep failed: {result.stderr[:300]}")
        return int(result.stdout)

    def search(self, place, data):
        """Fails where a canary is in some bytes; what was found is named by its place, not cut out.

        A file is come across open and by its name, and again after the next step: the same bytes are searched once.
        """
        known = hashlib.sha256(data).digest(), len(self.canaries)
        if known in self.known:
            return
        self.known.add(known)
        self.searched += len(data)
        if not self.lines(data):
            return
        for text, forms in self.canaries.items():
            for form in forms:
                expect(form not in data, f"{text!r} stands in {place}, as {form[:60]!r}")
        expect(False, f"grep finds a canary in {place}")

    def control(self):
        """The search finds what it is made to find."""
        every = []
        for text in self.canaries:
            raw = text.title().encode()
            for data in (
                    b"x" + raw + b"y", text.encode("utf-16-le"), raw.hex().encode(), base64.b64encode(b"ab" + raw),
                    base64.urlsafe_b64encode(b"abcd" + raw + b"more"), base64.b64encode(raw)):
                expect(any(form in data for form in self.canaries[text]), f"{text!r} is not found in {data!r}")
                every.append(data)
        # UTF-16 has zero bytes and no line feeds.
        equal(self.lines(b"\n".join(every)), len(every), "the lines in which grep finds a canary")
