"""Forged licences with an element that contradicts another, or with a value that no card has."""

from Cards.card_licences import years
from Cards.card_numbers import number
from Cards.card_people import names
from Forgeries.forgery import MODERN, kind, other_family

LOOKALIKES = {"A": "А", "B": "В", "C": "С", "E": "Е", "H": "Н", "K": "К", "M": "М", "O": "О", "P": "Р", "T": "Т", "X": "Х"}


@kind("elements", "The birthday is there twice, with two values.")
def birth_twice(forger):
    card = forger.licence()
    card.more = [("DBB", card.date(years(card.birth, forger.pick(-9, -4, -2, 1))))]
    return card


@kind("elements", "The expiry is there twice, with two values.")
def expiry_twice(forger):
    card = forger.licence()
    card.more = [("DBA", card.date(card.expiry - forger.days(500, 3000)))]
    return card


@kind("elements", "The number of the document is there twice, with two values.")
def number_twice(forger):
    card = forger.licence()
    card.more = [("DAQ", number(forger.random, card.code, card))]
    return card


@kind("elements", "The family name is there twice, with two values.")
def name_twice(forger):
    card = forger.licence()
    card.more = [("DCS", other_family(forger, card, lambda name: name[:2]))]
    return card


@kind("elements", "The subfiles of licence and identity card are those of two persons.")
def two_persons(forger):
    card = forger.licence()
    card.second = forger.licence([card.code])
    card.kind, card.second.kind, card.second.version = "DL", "ID", card.version
    return card


@kind("elements", "The whole name (`DAA`) of the first version is another than the family and first name.")
def whole_name_differs(forger):
    card, other = forger.licence(), forger.licence()
    card.more = [("DAA", f"{other_family(forger, card, lambda name: name[:2])},{other.given}")]
    return card


@kind("elements", "The sex has a code that does not exist.")
def sex_of_seven(forger):
    card = forger.licence()
    card.changes = {"DBC": forger.pick("3", "4", "5", "7", "8", "Z", "Q")}
    return card


@kind("elements", "The family name is marked as cut (`DDE`), though it has a few letters.")
def cut_but_short(forger):
    card = forger.licence(versions=MODERN)
    card.family = forger.pick("LEE", "REED", "KIM", "BAKER")
    card.changes = {"DDE": "T"}
    return card


@kind("elements", "The family name is longer than the standard allows and marked as whole.")
def whole_but_long(forger):
    card = forger.licence(versions=MODERN)
    card.family = "-".join(names(forger.random, "english", card.sex)[0] for _ in range(9))[:60].rstrip("-")
    card.changes = {"DDE": "N"}
    return card


@kind("elements", "The mark of a cut name has a letter that does not exist.")
def cut_of_no_letter(forger):
    card = forger.licence(versions=MODERN)
    card.changes = {forger.pick("DDE", "DDF", "DDG"): forger.pick("X", "Y", "1", "F")}
    return card


@kind("elements", "The holder is smaller than a child or taller than any human.")
def height_of_nobody(forger):
    card = forger.licence(versions=MODERN)
    card.changes = {"DAU": forger.pick("290 cm", "040 cm", "018 in", "110 in", "999 in")}
    return card


@kind("elements", "The holder weighs a few pounds or a thousand.")
def weight_of_nobody(forger):
    card = forger.licence(versions=MODERN)
    card.changes = {"DAW": forger.pick("004", "012", "999", "000")}
    return card


@kind("elements", "Eyes or hair have a colour without a code in the standard.")
def colour_of_no_code(forger):
    card = forger.licence(versions=MODERN)
    card.changes = {forger.pick("DAY", "DAZ"): forger.pick("PUR", "XYZ", "ORG", "YEL", "GOLD")}
    return card


@kind("elements", "The compliance with REAL ID (`DDA`) has a letter that does not exist.")
def compliance_of_no_letter(forger):
    card = forger.licence(versions=MODERN)
    card.changes = {"DDA": forger.pick("Q", "R", "7", "YES")}
    return card


@kind("elements", "Letters of another script that look the same stand in the name.")
def mixed_scripts(forger):
    while True:
        card = forger.licence()
        places = [place for place, letter in enumerate(card.family) if letter in LOOKALIKES]
        if places and len(places) < len(card.family):
            place = forger.random.choice(places)
            card.family = card.family[:place] + LOOKALIKES[card.family[place]] + card.family[place + 1:]
            return card


@kind("elements", "Digits stand in the name.")
def digits_in_name(forger):
    while True:
        card = forger.licence()
        digits = card.family.translate(str.maketrans("LIOES", "11035"))
        if digits != card.family:
            card.family = digits
            return card


@kind("elements", "Invisible characters stand in the name.")
def invisible_letters(forger):
    card = forger.licence()
    place = forger.number(1, len(card.family))
    card.family = card.family[:place] + forger.pick("\u200b", "\u200d", "\u2060", "\u202e") + card.family[place:]
    return card
