"""The kinds of forged cards: each a function that makes one, with what the forger got wrong."""

import dataclasses
import datetime
import random
import typing

from Cards.card_licences import STRIPED, Licence
from Cards.card_numbers import DATED, letters
from Cards.card_people import AMERICAN, names
from Cards.card_places import ISSUERS
from Cards.card_zones import COUNTRIES, Zone


@dataclasses.dataclass
class Kind:
    name: str
    group: str
    wrong: str
    make: typing.Callable


@dataclasses.dataclass
class Forger:
    """Someone with a generator of barcodes: begins with cards that are right in everything."""

    random: random.Random
    today: datetime.date

    def licence(self, codes=None, versions=None, ages=(22, 69), **options):
        """A licence of one of some issuers; if unsaid, of one whose numbers say nothing about the holder."""
        codes = codes or [code for code in ISSUERS if code not in DATED]
        while True:
            card = Licence(
                self.random, self.random.choice(codes), self.today, is_clean=True, versions=versions or range(2, 11), ages=ages,
                is_stripe=options.get("is_stripe", False))
            if not card.is_limited:
                return card

    def stripe(self):
        return self.licence(STRIPED, is_stripe=True)

    def zone(self, states=None, form=None):
        while True:
            zone = Zone(self.random, self.random.choice(states or list(COUNTRIES)), self.today, ages=(22, 69))
            if form in (None, zone.form) and not zone.is_old_french:
                return zone

    def pick(self, *values):
        return self.random.choice(values)

    def number(self, start, end):
        return self.random.randrange(start, end)

    def days(self, start, end):
        return datetime.timedelta(days=self.number(start, end))


KINDS: list[Kind] = []
AMERICA = [code for code, issuer in ISSUERS.items() if issuer[1] == "USA"]
CANADA = [code for code, issuer in ISSUERS.items() if issuer[1] == "CAN"]
STATES = [code for code in AMERICA if code not in DATED]
# Modern versions, which hold the elements that some forgeries are about.
MODERN = range(4, 11)


def kind(group, wrong, name=None):
    """Registers a function that is given a forger and returns the card."""
    def register(make):
        KINDS.append(Kind(name or make.__name__, group, wrong, make))
        return make
    return register


def other_family(forger, card, part):
    """A family name that differs in what a number holds of it."""
    while True:
        family = names(forger.random, forger.random.choice(AMERICAN), card.sex)[0]
        if part(letters(family)) != part(letters(card.family)):
            return family
