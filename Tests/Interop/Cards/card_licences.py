"""Licences whose every part agrees with the others: the person's number as the issuer forms it, the version of the year, the
dates in their order. With places to change one thing afterwards, which is what a forger does."""

import datetime

from Cards.card_numbers import DATED, FORMS, filled, number
from Cards.card_people import AMERICAN, names
from Cards.card_places import ISSUERS, OTHERS
from Cards.card_population import ACCENTED, DAY, YEARS, Card

# How often issuers print it: the newer, the more.
WEIGHTS = {1: 2, 2: 2, 3: 4, 4: 4, 5: 3, 6: 3, 7: 3, 8: 18, 9: 26, 10: 34, 11: 3}
HARMLESS = {"number_first", "two_subfiles"}
# Track two of a stripe holds digits only.
STRIPED = [code for code in ISSUERS if set(FORMS.get(code, "A").split()[0]) <= set("09")]


def years(day, count):
    """The same day of another year; the day before where that year has no 29 February."""
    try:
        return day.replace(year=day.year + count)
    except ValueError:
        return day.replace(year=day.year + count, day=28)


class Licence(Card):
    """A licence or identity card, as its issuer would have printed it."""

    def __init__(self, source, code, today, is_clean=False, is_stripe=None, versions=None, ages=(18, 94)):
        super().__init__(source, code, 10, {}, today)
        self.departures &= HARMLESS if is_clean else self.departures - {"two_words", "compound"}
        self.is_stripe = self.is_stripe and not is_clean and code in STRIPED if is_stripe is None else is_stripe
        self.sex = "X" if source.random() < 0.01 and code not in DATED else source.choice("MF")
        people = "french" if code == "QC" and source.random() < 0.8 else source.choice(AMERICAN)
        self.family, self.given, self.middle = names(source, people, self.sex)
        if self.has("accent") and not self.is_stripe:
            self.family = source.choice(ACCENTED)
        if self.has("mononym"):
            # `FNU`: first name unknown.
            self.given, self.middle = source.choice(["", "FNU"]), []
        if self.has("many_middle") and self.middle:
            self.middle += names(source, people, self.sex)[1:2]
        self.birth = today - DAY * source.randrange(ages[0] * 366, ages[1] * 365)
        self.is_limited = source.random() < 0.05
        self.dates(versions)
        self.number = number(source, code, self)
        self.eyes, self.hair = source.choice("BRO BLU GRN HAZ GRY BLK".split()), source.choice("BRO BLK BLN GRY WHI RED".split())
        self.height = source.randrange(60, 70) if self.sex == "F" else source.randrange(64, 77)
        self.weight = source.randrange(100, 260)
        self.kind = source.choice(["DL", "DL", "ID"]) if self.version > 1 else "DL"
        # What a forger changes: elements by their id, elements to add, parts of the header.
        self.changes, self.more, self.second, self.header, self.local = {}, [], None, {}, code[:1]
        self.age_dates = {"DDH": 18, "DDI": 19, "DDJ": 21}
        # Month 99 of a stripe's expiry is the holder's birthday.
        is_birthday = (self.expiry.month, self.expiry.day) == (self.birth.month, self.birth.day)
        self.expiry_month = "99" if is_birthday and source.random() < 0.1 else None
        self.other_postal_code = None

    def dates(self, versions):
        """Issue and expiry, and a version that could be printed on that day."""
        source = self.random
        validity = source.randrange(1, 5) if self.is_limited else source.choice([4, 5, 6, 8, 8, 8, 10])
        if self.is_stripe:
            validity = 5
        self.issue = self.today - DAY * source.randrange(1, min(validity, 8) * 365 - 40)
        versions = versions or YEARS
        self.issue = max(self.issue, years(self.birth, 16) + DAY, datetime.date(YEARS[min(versions)], 1, 1))
        self.expiry = years(self.issue, validity) if self.is_limited or source.random() < 0.3 else years(
            self.birth, self.issue.year + validity - self.birth.year)
        if self.code == "AZ" and source.random() < 0.3 and years(self.birth, 60) > self.today:
            self.expiry = years(self.birth, 65)
        while self.expiry <= self.today:
            self.expiry = years(self.expiry, 1)
        possible = [version for version in versions if YEARS[version] <= self.issue.year]
        self.version = source.choices(possible, [WEIGHTS[version] for version in possible])[0]
        first = datetime.date(YEARS[self.version], 1, 1)
        self.revision = first + DAY * source.randrange((self.issue - first).days + 1)

    @property
    def name(self):
        """The name that the holder signs in with."""
        return f"{'' if self.given == 'FNU' else self.given} {self.family}".strip().title()

    def written(self, year, month, day):
        """A date in the order of the card, which need not exist."""
        if self.is_stripe or self.version == 1 or self.country == "CAN":
            return f"{year:04}{month:02}{day:02}"
        return f"{month:02}{day:02}{year:04}"

    def date(self, day):
        if day == "never":
            return self.random.choice(["99999999", "NONE", "INDEF", "MIL"] if self.country == "USA" else ["99999999", "NONE"])
        return super().date(day)

    def sex_code(self):
        if self.version == 1 and self.sex != "X":
            return self.sex
        return {"M": "1", "F": "2", "X": "9"}[self.sex]

    def height_text(self):
        return f"{round(self.height * 2.54):03} cm" if self.country == "CAN" else f"{self.height:03} in"

    def ages(self):
        """The days on which the holder grows up, on the cards of those who had not when it was issued."""
        if self.version < 3 or not isinstance(self.birth, datetime.date) or not isinstance(self.issue, datetime.date):
            return []
        return [(name, self.date(years(self.birth, age))) for name, age in self.age_dates.items()
                if years(self.birth, age) > self.issue]

    def elements(self):
        address = [self.street, self.city, self.state or "DC", self.written_postal_code()]
        address = [""] * 4 if self.has("no_address") else address
        used, unused = ["DAG", "DAI", "DAJ", "DAK"], ["DAL", "DAN", "DAO", "DAP"]
        country = {"USA": "US", "CAN": "CANADA"}.get(self.stated_country) if self.has("country_word") else None
        found = self.names() + [
            ("DBD", "" if self.has("no_issue") else self.date(self.issue)), ("DBB", self.date(self.birth)),
            ("DBA", self.date("never" if self.has("never") else self.expiry)),
            ("DBC", "" if self.has("no_sex") else self.sex_code()), ("DAU", self.height_text()), ("DAY", self.eyes)]
        found += list(zip(used, [""] * 4)) + list(zip(unused, address)) if self.has("residence") else list(zip(used, address))
        if self.version == 1:
            found += [("DAZ", self.hair), ("DAW", f"{self.weight:03}"), ("DAR", "D"), ("DAS", ""), ("DAT", "")]
        else:
            found += [("DCA", "D" if self.kind == "DL" else ""), ("DCB", "NONE"), ("DCD", "NONE"),
                      ("DCF", self.discriminator()), ("DCG", country or self.stated_country), ("DAZ", self.hair)]
        if self.version >= 4:
            found += [("DDA", "M" if self.has("material") and self.version <= 7 else self.random.choice("FN")),
                      ("DDB", self.date(self.revision)), ("DAW", f"{self.weight:03}")]
            found += [("DDD", "1")] if self.is_limited else []
        found += self.ages()
        if self.version >= 10:
            found += [("DDK", "1")] if self.random.random() < 0.5 else []
            found += [("DDL", "1")] if self.random.random() < 0.1 else []
        found += [("DDM", "N"), ("DDN", "N"), ("DDO", "N")] if self.version >= 11 else []
        found.insert(0 if self.has("number_first") else 2, ("DAQ", self.number))
        found = [(name, self.changes.get(name, value)) for name, value in found]
        here = {name for name, _ in found}
        return found + [change for change in self.changes.items() if change[0] not in here] + self.more

    def discriminator(self):
        return filled(self.random, "9" * self.random.randrange(6, 12) + "*" * self.random.randrange(2, 10))

    def subfile(self, ends="\n"):
        return self.kind + ends.join(self.line(*element) for element in self.elements()) + ends + "\r"

    def barcode(self):
        """The text as bytes. `header` says what of it differs."""
        ends = "|" if self.has("bars") else "\r\n" if self.has("line_ends") else "\t" if self.has("tab") else "\n"
        subfiles = [(self.header.get("kind", self.kind), self.subfile(ends))]
        if self.second:
            subfiles.append((self.second.kind, self.second.subfile(ends)))
        if self.has("two_subfiles") and self.local:
            subfiles.append((f"Z{self.local}", f"Z{self.local}Z{self.local}A01\r"))
        file_type = self.random.choice(["AAMVA", "AMVA "]) if self.has("file_type") else "ANSI "
        issuer = 699999 if self.has("wrong_issuer") else self.issuer
        version = self.header.get("version", self.version)
        text = f"@\n\x1e\r{file_type}{issuer:06}{version:02}" + ("" if version == 1 else "00")
        text += "" if self.has("no_entry_count") else f"{self.header.get('count', len(subfiles)):02}"
        offset = len(text) + 10 * len(subfiles) + (11 if self.has("wrong_offsets") else 0)
        for name, content in subfiles:
            text += f"{name}{self.header.get('offset', offset):04}{self.header.get('length', len(content)):04}"
            offset += len(content)
        text = ("\ufeff" if self.has("mark") else "") + text + "".join(content for _, content in subfiles)
        is_latin = not self.has("mark") and all(ord(letter) < 256 for letter in text)
        return text.encode("latin-1" if is_latin and self.random.random() < 0.5 else "utf-8")

    def stripe(self):
        """The three tracks of a magnetic stripe."""
        city = self.city[:13] + ("^" if len(self.city) < 13 else "")
        given = " ".join([self.given, *self.middle]).strip()
        name = f"{self.family},${given}" if self.code == "BC" else "$".join([self.family, *given.split(" ")])
        month = self.expiry_month or f"{self.expiry:%m}"
        birth = self.birth if isinstance(self.birth, str) else f"{self.birth:%Y%m%d}"
        issuer = 699999 if self.has("wrong_issuer") else self.issuer
        street = self.street.replace("^", " ")
        sex = {"X": "9"}.get(self.sex, self.sex)
        tracks = [
            f"%{self.state or 'DC'}{city}{name}^{street}${self.city} {self.state}  {self.postal_code}^?",
            f";{issuer:06}{self.number}={self.expiry:%y}{month}{birth}=?",
            f"_%0A{self.other_postal_code or self.postal_code:11}{'':16}{sex}183 72{self.hair}{self.eyes}?"]
        return "".join(tracks).encode()

    def text(self):
        return self.stripe() if self.is_stripe else self.barcode()

    @property
    def origin(self):
        return f"{self.code or 'US'} {self.version}" + (" stripe" if self.is_stripe else "")


def honest(source, index, today):
    """A licence of one of all issuers in turn, departing from the standard as real ones do."""
    codes = list(ISSUERS)
    code = source.choice(list(OTHERS)) if source.random() < 0.01 else codes[index % len(codes)]
    card = Licence(source, code, today)
    if card.version >= 4 and source.random() < 0.03:
        # The issuer does not know whether it cut a name.
        card.changes = {"DDE": "U", "DDF": "U", "DDG": "U"}
    elif card.version >= 4 and code not in DATED and source.random() < 0.004:
        card.family = " ".join(names(source, "spanish", card.sex)[0] for _ in range(8))[:40].strip()
        card.changes = {"DDE": "T"}
    if code in ("MD", "MI") and source.random() < 0.01:
        # Two people of one name and birthday: the issuer counts the second one's number on.
        card.number = f"{card.number[:-3]}{int(card.number[-3:]) % 999 + 1:03}"
    if code in DATED and source.random() < 0.02:
        # The number of before a marriage.
        card.family = names(source, source.choice(AMERICAN), card.sex)[0]
    elif code in ("FL", "MI", "MD", "WI", "NJ", "ON", "QC") and source.random() < 0.1 and not card.is_stripe:
        card.number = f"{card.number[:4]}-{card.number[4:8]}-{card.number[8:]}"
    return card
