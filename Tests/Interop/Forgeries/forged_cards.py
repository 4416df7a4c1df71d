"""Writes forged cards for the service to be judged by: what people print who have a generator of barcodes and a sample, or who
alter a card that was theirs.

    forged_cards.py --seed 1 --each 12 --today 2026-11-21     forged cards of every kind, and consistent ones
    forged_cards.py --honest 10000                            cards of people who forge nothing
    forged_cards.py --kinds                                   every kind and what its forger got wrong

One JSON object a line: `group`, `kind`, `wrong`, `place`, `name` (the holder's, under which the account is), `format`
(`barcode` or `zone`), `text` in base64. It shares no code and no table with the reader and knows nothing of its rules. All
persons are invented.
"""

import argparse
import base64
import datetime
import json
import random

from Cards import card_licences
from Cards import card_zones
from Forgeries import forged_consistent
from Forgeries import forged_dates
from Forgeries import forged_elements
from Forgeries import forged_issuers
from Forgeries import forged_numbers
from Forgeries import forged_specimens
from Forgeries import forged_zones
from Forgeries.forgery import KINDS, Forger

# Each registers its kinds.
GROUPS = [forged_dates, forged_elements, forged_issuers, forged_numbers, forged_specimens, forged_zones, forged_consistent]


def line(group, kind, wrong, card):
    text = card.text()
    return {
        "group": group, "kind": kind, "wrong": wrong, "place": card.origin, "name": card.name,
        "format": "zone" if isinstance(card, card_zones.Zone) else "barcode", "text": base64.b64encode(text).decode()}


def forged(seed, each, consistent, today):
    """As many cards of every kind."""
    for kind in KINDS:
        # Named after its kind, so that its cards stay the same whatever other kinds are added.
        forger = Forger(random.Random(f"{seed} {kind.name}"), today)
        for _ in range(consistent if kind.group == "consistent" else each):
            yield line(kind.group, kind.name, kind.wrong, kind.make(forger))


def honest(seed, count, today):
    """Cards of people who forge nothing: four licences to a zone."""
    source = random.Random(f"{seed} honest")
    for index in range(count):
        if index % 5 == 4:
            card = card_zones.honest(source, index // 5, today)
            yield line("honest", "zone", "", card)
        else:
            card = card_licences.honest(source, index, today)
            wrong = " ".join(sorted(card.departures))
            yield line("honest", "stripe" if card.is_stripe else "licence", wrong, card)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=12)
    parser.add_argument("--consistent", type=int, default=30)
    parser.add_argument("--honest", type=int, default=0)
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--today", type=datetime.date.fromisoformat, default=datetime.date.today())
    options = parser.parse_args()
    if options.kinds:
        for kind in KINDS:
            print(f"{kind.group}\t{kind.name}\t{kind.wrong}")
    elif options.honest:
        for card in honest(options.seed, options.honest, options.today):
            print(json.dumps(card))
    else:
        for card in forged(options.seed, options.each, options.consistent, options.today):
            print(json.dumps(card))


if __name__ == "__main__":
    main()
