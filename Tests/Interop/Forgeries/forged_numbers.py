"""Forged licences whose number is not the issuer's, or not that of their holder; and forged stripes."""

from Cards.card_licences import years
from Cards.card_numbers import BY_LETTER, BY_LETTERS, BY_SEX, BY_SOUND, DATED, filled, fits, soundex
from Cards.card_places import ISSUERS, towns
from Forgeries.forgery import STATES, kind, other_family


def older(code):
    """Cards whose holders made themselves older and left the number as it was."""
    def make(forger):
        card = forger.licence([code])
        birth = years(card.birth, -forger.number(1, 7))
        if code in ("MD", "MI", "CT"):
            # The number does not hold the year, or only whether it is even.
            birth = birth.replace(month=birth.month % 12 + 1, day=min(birth.day % 28 + 1, 28))
        card.birth, card.age_dates = birth, {}
        return card
    return make


for issuer in DATED:
    kind("numbers", f"The birthday was changed, and not the part of it that the number of {issuer} holds.",
         f"birth_changed_{issuer.lower()}")(older(issuer))


def renamed(forger, codes, part):
    card = forger.licence(codes)
    card.family = other_family(forger, card, part)
    return card


@kind("numbers", "The family name was changed, and not its sound that the number holds.")
def sound_of_another_name(forger):
    return renamed(forger, BY_SOUND, soundex)


@kind("numbers", "The family name was changed, and not its first letter that the number holds.")
def letter_of_another_name(forger):
    return renamed(forger, BY_LETTER, lambda name: name[:1])


@kind("numbers", "The family name was changed, and not its first letters that the number holds.")
def letters_of_another_name(forger):
    return renamed(forger, BY_LETTERS, lambda name: name[:3])


@kind("numbers", "The sex was changed, and not its part of the number.")
def number_of_another_sex(forger):
    card = forger.licence(BY_SEX)
    card.changes = {"DBC": "1" if card.sex == "F" else "2"}
    return card


@kind("numbers", "The number is shorter than any that the state issued.")
def number_too_short(forger):
    card = forger.licence(list(ISSUERS))
    card.number = card.number[:forger.number(1, 3)]
    return card


@kind("numbers", "The number is longer than any that the state issued.")
def number_too_long(forger):
    card = forger.licence(list(ISSUERS))
    card.number += filled(forger.random, "9" * forger.number(9, 12))
    return card


@kind("numbers", "The number is a word.")
def number_of_letters(forger):
    card = forger.licence(list(ISSUERS))
    card.number = forger.pick("LICENSE", "PASSED", "ABCDEFGH", "JOHNDOE", "VALIDCARD")
    return card


@kind("numbers", "The number has the form of another state's.")
def number_of_another_state(forger):
    while True:
        card = forger.licence(STATES)
        other = filled(forger.random, forger.pick("AA999999A", "A99999999999999", "AAAAA999999999"))
        if not fits(card.code, other):
            card.number = other
            return card


@kind("stripe", "The birthday on the stripe is a day that does not exist.")
def stripe_birth_no_day(forger):
    card = forger.stripe()
    card.birth = card.written(card.birth.year, *forger.pick((2, 31), (4, 31), (13, 1), (0, 10)))
    return card


@kind("stripe", "The stripe expires in a month that does not exist and has no other meaning.")
def stripe_expiry_no_month(forger):
    card = forger.stripe()
    card.expiry_month = forger.pick("00", "13", "20", "45")
    return card


@kind("stripe", "The holder of the stripe is 116 to 150 years old.")
def stripe_holder_of_118(forger):
    card = forger.stripe()
    card.birth = years(card.birth, forger.today.year - forger.number(117, 150) - card.birth.year)
    return card


@kind("stripe", "The issuer number of the stripe is nobody's.")
def stripe_issuer_of_nobody(forger):
    card = forger.stripe()
    card.issuer = forger.pick(636999, 604499, 123456)
    return card


@kind("stripe", "The postal code of the address is another than that of the third track.")
def stripe_two_postal_codes(forger):
    card = forger.stripe()
    codes = [code for place in ISSUERS for _, code in towns(place) if ISSUERS[place][1] == card.country]
    card.other_postal_code = forger.random.choice([code for code in codes if code[0] != card.postal_code[0]])
    return card


@kind("stripe", "The sex on the third track has a letter that does not exist.")
def stripe_sex_of_no_code(forger):
    card = forger.stripe()
    card.sex = forger.pick("Z", "Q", "7")
    return card


@kind("stripe", "The number on the stripe is shorter than any that the state issued.")
def stripe_number_too_short(forger):
    card = forger.stripe()
    card.number = card.number[:forger.number(1, 3)]
    return card
