"""Writes invented people's cards as barcodes hold them, in the shapes that real ones have, for the reader to be judged by:

    card_population.py --seed 1 --count 10000 --contradicting 2000 --today 2026-11-21

One card a line, parts between tabs: `consistent` or what it contradicts itself by, jurisdiction and version, how it departs
from the standard, the account's display name (empty where there is none), the text in base64. It shares no code and no
table with the reader.
"""

import argparse
import base64
import datetime
import random

from Cards.card_numbers import DATED, any_digits, number
from Cards.card_places import ISSUERS, MILITARY, OTHERS, towns

GIVEN = "JAMES MARY ROBERT LINDA DAVID SARAH WEI PRIYA OMAR AISHA CHLOE NOAH OLGA DIEGO YUKI AMARA IVAN INGRID HUGO LEILA".split()
FAMILY = "BAKER NGUYEN GARCIA OKAFOR KOWALSKI COHEN SILVA ANDERSSON PATEL MURPHY TANAKA ROSSI DUBOIS HANSEN KHAN LOPEZ".split()
ACCENTED = ["GAGNÉ", "LÉVESQUE", "BÉDARD", "CÔTÉ"]
NOISE = ["\x80", "\x85", "\x9f", "\xa0", "\xad", "\xa0\xa0"]
DAY = datetime.timedelta(days=1)
# The year from which a version of the standard could be printed.
YEARS = {1: 2000, 2: 2003, 3: 2005, 4: 2009, 5: 2010, 6: 2011, 7: 2012, 8: 2013, 9: 2016, 10: 2020, 11: 2025}

# How often a card departs from the standard, independent of each other. What real samples are known for comes first: a
# third and more have offsets that point nowhere; the rest are single cards among some hundred, and layouts of whole states.
SHARES = {
    "wrong_offsets": 0.36, "file_type": 0.05, "no_entry_count": 0.03, "bars": 0.03, "line_ends": 0.05, "mark": 0.02,
    "commas": 0.06, "no_zeros": 0.02, "other_order": 0.04, "wrong_issuer": 0.008, "noise": 0.04, "number_first": 0.3,
    "none": 0.2, "other_state": 0.04, "military": 0.01, "residence": 0.02, "ten_digits": 0.04, "blanks_zero": 0.02,
    "odd_postal_code": 0.01, "no_address": 0.02, "no_sex": 0.02, "no_issue": 0.02, "many_middle": 0.06, "two_words": 0.06,
    "compound": 0.06, "no_commas": 0.3, "beside": 0.2, "material": 0.3, "never": 0.01, "mononym": 0.01, "accent": 0.02,
    "country_word": 0.04, "tab": 0.005, "two_subfiles": 0.2,
}


class Card:
    """One person's card: what it says, and how it is written."""

    def __init__(self, source, code, version, layouts, today):
        self.random, self.code, self.version, self.today = source, code, version, today
        self.issuer, self.country, _ = (ISSUERS | OTHERS)[code]
        self.departures = {name for name, share in SHARES.items() if source.random() < share}
        self.is_stripe = code == "BC" and source.random() < 0.5 or source.random() < 0.003
        self.empty = layouts.get(code, set()) | ({"DBC"} if "no_sex" in self.departures else set())
        self.family, self.given = source.choice(FAMILY), source.choice(GIVEN)
        self.middle = [source.choice(GIVEN)] if source.random() < 0.7 else []
        self.suffix = source.choice(["JR", "SR", "III"]) if source.random() < 0.04 else ""
        if self.has("accent") and version > 1 and not self.is_stripe:
            self.family = source.choice(ACCENTED)
        if self.has("many_middle"):
            self.middle = source.sample(GIVEN, 2)
        if self.has("two_words"):
            self.given += " " + source.choice(GIVEN)
        if self.has("compound"):
            self.family += source.choice([" ", "-"]) + source.choice(FAMILY)
        if self.has("mononym"):
            self.given, self.middle, self.suffix = "", [], ""
        self.sex = source.choice("MFX")
        self.birth = today - DAY * source.randrange(18 * 366, 95 * 365)
        self.issue = max(
            today - DAY * source.randrange(1, 7 * 365), self.birth + DAY * 16 * 366, datetime.date(YEARS[version], 1, 1))
        self.expiry = today + DAY * source.randrange(0, 8 * 365)
        self.number = any_digits(source, source.choice([7, 8, 9, 12])) if self.is_stripe else number(source, code, self)
        if code not in DATED and not self.is_stripe and source.random() < 0.1:
            # A form that is newer than every list of forms.
            self.number = source.choice("ABCDEFGHJKLMNPRSTW") + self.number
        self.place()
        self.stated_country = self.country

    def has(self, departure):
        return departure in self.departures

    def place(self):
        """Where the holder lives: mostly where the card comes from."""
        self.state, pick = self.code, self.random.choice
        if self.has("other_state") or self.code == "":
            self.state = pick([code for code, issuer in ISSUERS.items() if issuer[1] == self.country] or [self.code])
        self.city, self.postal_code = pick(towns(self.state))
        if self.has("military") and self.country == "USA":
            self.state = pick(list(MILITARY))
            self.city, self.postal_code = MILITARY[self.state].split()
        self.street = f"{self.random.randrange(1, 9999)} {pick(['MAIN ST', 'OAK AVE APT 4', '3RD ST NW', 'COUNTY RD 12'])}"

    def date(self, day):
        """A date as the version and country write it, or as the card does instead."""
        year_first = (self.version == 1 or self.country == "CAN") != self.has("other_order")
        if day == "never":
            return self.random.choice(["99999999", "NONE"])
        if isinstance(day, str):
            return day
        if self.has("no_zeros"):
            return f"{day.year}-{day.month}-{day.day}" if year_first else f"{day.month:d}{day.day:02}{day.year}"
        return f"{day:%Y%m%d}" if year_first else f"{day:%m%d%Y}"

    def written_postal_code(self):
        code = self.postal_code
        if not code[0].isdigit():
            return self.random.choice([code, f"{code[:3]} {code[3:]}", code + "     "])
        if self.has("odd_postal_code"):
            return code[:4]
        if self.has("ten_digits"):
            return code + "00000"
        if self.has("blanks_zero"):
            return code + "    0"
        return code + self.random.choice(["", "0000", "-1234", "1234", "0000  "])

    def names(self):
        none = "NONE" if self.has("none") else ""
        if self.version == 1:
            if self.has("no_commas"):
                return [("DAA", " ".join(filter(None, [self.given, *self.middle, self.family, self.suffix])))]
            return [("DAA", ",".join([self.family, self.given, " ".join(self.middle), self.suffix]).rstrip(","))]
        suffix = [("DCU", self.suffix or none)] if self.suffix or none else []
        if self.version < 4:
            if self.has("beside"):
                return [("DCS", self.family), ("DCT", self.given), ("DAD", ",".join(self.middle))] + suffix
            return [("DCS", self.family), ("DCT", ",".join(filter(None, [self.given, *self.middle])) or "NONE")] + suffix
        return [("DCS", self.family), ("DDE", "N"), ("DAC", self.given or "NONE"), ("DDF", "N"),
                ("DAD", ",".join(self.middle) or none), ("DDG", "N")] + suffix

    def elements(self):
        address = [self.street, self.city, self.state or "DC", self.written_postal_code()]
        if self.has("no_address"):
            address = ["", "", "", ""]
        mailing, residence = ["DAG", "DAI", "DAJ", "DAK"], ["DAL", "DAN", "DAO", "DAP"]
        pairs = list(zip(mailing, address))
        if self.has("residence"):
            pairs = list(zip(mailing, [""] * 4)) + list(zip(residence, address))
        country = {"USA": "US", "CAN": "CANADA"}.get(self.stated_country) if self.has("country_word") else None
        found = self.names() + [
            ("DBD", "" if self.has("no_issue") else self.date(self.issue)), ("DBB", self.date(self.birth)),
            ("DBA", self.date("never" if self.has("never") else self.expiry)), ("DBC", {"M": "1", "F": "2", "X": "9"}[self.sex]),
            ("DAU", "070 in"), ("DAY", "BRO")] + pairs
        found += [("DAR", "D"), ("DAS", ""), ("DAT", "")] if self.version == 1 else [
            ("DCA", "D"), ("DCB", "NONE"), ("DCD", "NONE"), ("DCF", "83D9BN217QO983B1"),
            ("DCG", country or self.stated_country)]
        if self.version >= 4:
            found += [("DDA", "M" if self.has("material") and self.version <= 7 else "F"), ("DDB", "08292017")]
        if self.version >= 10:
            found += [("DDK", "1"), ("DDL", "1")]
        if self.version >= 11:
            found += [("DDM", "N"), ("DDN", "N"), ("DDO", "N")]
        found.insert(0 if self.has("number_first") else 2, ("DAQ", self.number))
        return [(name, "" if name in self.empty else value) for name, value in found]

    def line(self, name, value):
        if self.has("commas") and name in ("DCS", "DAC", "DAI"):
            value += ","
        if not self.has("noise"):
            return name + value
        pick = self.random.choice
        return pick(["", pick(NOISE)]) + name + value + pick(["", pick(NOISE)])

    def barcode(self):
        """The text as bytes."""
        ends = "|" if self.has("bars") else "\r\n" if self.has("line_ends") else "\t" if self.has("tab") else "\n"
        kind = self.random.choice(["DL", "DL", "ID"]) if self.version > 1 else "DL"
        primary = kind + ends.join(self.line(*element) for element in self.elements()) + ends + "\r"
        subfiles = [(kind, primary)]
        if self.has("two_subfiles") and self.code:
            subfiles.append(("Z" + self.code[0], f"Z{self.code[0]}Z{self.code[0]}A01\r"))
        issuer = 699999 if self.has("wrong_issuer") else self.issuer
        file_type = self.random.choice(["AAMVA", "AMVA "]) if self.has("file_type") else "ANSI "
        header = f"@\n\x1e\r{file_type}{issuer:06}{self.version:02}" + ("" if self.version == 1 else "00")
        header += "" if self.has("no_entry_count") else f"{len(subfiles):02}"
        offset = len(header) + 10 * len(subfiles) + (11 if self.has("wrong_offsets") else 0)
        for name, content in subfiles:
            header += f"{name}{offset:04}{len(content):04}"
            offset += len(content)
        text = ("\ufeff" if self.has("mark") else "") + header + "".join(content for _, content in subfiles)
        return text.encode("utf-8" if self.has("mark") or self.random.random() < 0.5 else "latin-1")

    def stripe(self):
        """The three tracks of a magnetic stripe."""
        city = self.city[:13] + ("^" if len(self.city) < 13 else "")
        given = " ".join([self.given, *self.middle]).strip()
        name = f"{self.family},${given}" if self.code == "BC" else "$".join([self.family, *given.split(" ")])
        issuer = 699999 if self.has("wrong_issuer") else self.issuer
        expiry = f"{self.expiry:%y}77" if self.has("never") else f"{self.expiry:%y%m}"
        birth = self.birth if isinstance(self.birth, str) else f"{self.birth:%Y%m%d}"
        first = f"%{self.state or 'DC'}{city}{name}^{self.street}${self.city} {self.state}  {self.postal_code}^?"
        return f"{first};{issuer:06}{self.number}={expiry}{birth}=?_%0A{self.postal_code:11}{'':16}M183 72BRNBRO?".encode()

    def display_name(self):
        """What the provider calls the user: nothing, the name as people write it, or a nickname."""
        first, last = self.given.split(" ")[0].capitalize(), self.family.split(" ")[0].split("-")[0].capitalize()
        kind = self.random.random()
        if kind < 0.4:
            return ""
        return f"{first} {last}".strip() if kind < 0.9 else self.random.choice([f"{last.lower()}99", f"Sunny {last}", first])


def contradict(card):
    """Makes a card contradict itself, whatever departs beside, and says how."""
    pick, days = card.random.choice, card.random.randrange
    kind = pick(["expired", "order", "unborn", "future_issue", "issuer", "country", "number", "birth", "expiry", "name",
                 "no_such_day", "postal_code"])
    if card.is_stripe and kind in ("order", "future_issue", "country", "name"):
        kind = "expired"
    if kind == "country" and card.version == 1 or kind == "postal_code" and card.state == "":
        kind = "unborn"
    card.departures -= {"never", "no_issue", "wrong_issuer", "country_word", "no_address", "odd_postal_code", "military"}
    if kind == "expired":
        card.expiry = card.today - DAY * days(32, 4000)
        card.issue = min(card.issue, card.expiry - DAY * 40)
    elif kind == "order":
        card.issue = pick([card.expiry + DAY * days(0, 400), card.birth - DAY * days(0, 400)])
    elif kind == "unborn":
        card.birth = card.today + DAY * days(2, 9000)
    elif kind == "future_issue":
        card.expiry = card.today + DAY * 3000
        card.issue = card.today + DAY * days(2, 2000)
    elif kind == "issuer":
        card.issuer = pick([0, 636999, 699999, 123456])
    elif kind == "country":
        card.empty = card.empty - {"DCG"}
        card.stated_country = pick([country for country in ("USA", "CAN", "MEX") if country != card.country])
    elif kind == "number":
        card.number = pick(["", "000000000", "NONE", "UNKNOWN", "111111111", "SPECIMEN"])
    elif kind in ("birth", "expiry"):
        setattr(card, kind, pick(["", "UNAVL", "00000000"]) if not card.is_stripe or kind == "birth" else card.today - 90 * DAY)
    elif kind == "name":
        card.family, card.given, card.middle, card.suffix = "", "", [], ""
        card.departures -= {"compound"}
    elif kind == "no_such_day":
        card.birth = pick(["02301980", "13131980", "19801332", "04311999"])
    elif kind == "postal_code":
        card.state = card.code
        far = "PE" if card.country == "CAN" else "AK"
        card.city, card.postal_code = towns("BC" if card.code == far and far == "PE" else "FL" if card.code == far else far)[0]
        if card.country == "MEX" or card.is_stripe:
            card.number = "000000000"
    return kind


def population(seed, count, contradicting, today):
    """The lines."""
    source = random.Random(seed)
    codes, versions = list(ISSUERS), list(range(1, 12))
    odd = source.sample(codes, 3)
    layouts = {odd[0]: {"DCF", "DCG"}, odd[1]: {"DCF"}, odd[2]: {"DCF"}}
    kinds = [True] * contradicting + [False] * (count - contradicting)
    source.shuffle(kinds)
    for index, is_contradicting in enumerate(kinds):
        # Every jurisdiction in every version, in turn; one in a hundred comes from another issuer.
        code = source.choice(list(OTHERS)) if source.random() < 0.01 else codes[index % len(codes)]
        card = Card(source, code, versions[index // len(codes) % len(versions)], layouts, today)
        said = contradict(card) if is_contradicting else "consistent"
        text = card.stripe() if card.is_stripe else card.barcode()
        yield "\t".join([said, f"{code or 'US'} {card.version}" + (" stripe" if card.is_stripe else ""),
                         " ".join(sorted(card.departures)), card.display_name(), base64.b64encode(text).decode()])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--contradicting", type=int, default=2_000)
    parser.add_argument("--today", type=datetime.date.fromisoformat, default=datetime.date.today())
    options = parser.parse_args()
    for line in population(options.seed, options.count, options.contradicting, options.today):
        print(line)
