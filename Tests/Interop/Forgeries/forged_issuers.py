"""Forged licences whose issuer, country, version or address cannot be, or whose header does not describe them."""

import datetime

from Cards.card_licences import years
from Cards.card_numbers import DATED, fits
from Cards.card_places import ISSUERS, towns
from Forgeries.forgery import AMERICA, CANADA, MODERN, STATES, kind


@kind("issuer", "The issuer number is another state's; number and subfile of the issuer are the state's.")
def issuer_of_another_state(forger):
    while True:
        card = forger.licence(STATES)
        other = forger.random.choice(STATES)
        if not fits(other, card.number) and other[0] != card.code[0]:
            card.issuer = ISSUERS[other][0]
            card.departures |= {"two_subfiles"}
            return card


@kind("issuer", "The issuer number is nobody's.")
def issuer_of_nobody(forger):
    card = forger.licence()
    card.issuer = forger.pick(636999, 636100, 604499, 123456, 0)
    return card


@kind("issuer", "A state of the United States issued a card of Canada.")
def america_says_canada(forger):
    card = forger.licence(AMERICA)
    card.stated_country = "CAN"
    return card


@kind("issuer", "A province of Canada issued a card of the United States.")
def canada_says_america(forger):
    card = forger.licence(CANADA)
    card.stated_country = "USA"
    return card


@kind("issuer", "The country has a code that does not exist or issues no such cards.")
def country_of_no_code(forger):
    card = forger.licence(versions=MODERN)
    card.stated_country = forger.pick("USB", "XXX", "UTO", "AME", "GBR")
    return card


@kind("issuer", "The version of the standard was published after the card was issued.")
def version_before_its_year(forger):
    card = forger.licence(STATES, versions=MODERN)
    card.version, first = forger.pick((10, 2020), (11, 2025), (11, 2025))
    card.issue = datetime.date(first - forger.number(1, 3), forger.number(1, 13), forger.number(1, 28))
    card.expiry = max(years(card.issue, 8), forger.today + forger.days(100, 700))
    card.birth = min(card.birth, years(card.issue, -22))
    card.revision = card.issue - forger.days(100, 900)
    return card


@kind("issuer", "The version of the standard does not exist.")
def version_of_nobody(forger):
    card = forger.licence()
    card.header = {"version": forger.pick(12, 15, 20, 42, 77, 99)}
    return card


@kind("issuer", "The holder lives in a state that does not exist.")
def state_of_nobody(forger):
    card = forger.licence()
    card.state = forger.pick("ZZ", "XX", "QQ", "UK", "JJ")
    return card


def postal_code_at(forger, card, code):
    card.state = card.code
    card.city, _ = forger.random.choice(towns(card.code))
    card.postal_code = code
    return card


@kind("issuer", "The postal code is that of another state or province than the address's.")
def postal_code_elsewhere(forger):
    codes = forger.pick(AMERICA, AMERICA, CANADA)
    card = forger.licence([code for code in codes if code not in DATED])
    while True:
        code = forger.random.choice(towns(forger.random.choice(codes)))[1]
        if code[:1] not in {own[:1] for _, own in towns(card.code)}:
            return postal_code_at(forger, card, code)


@kind("issuer", "The postal code of a state is Canadian, or that of a province American.")
def postal_code_abroad(forger):
    card = forger.licence()
    other = "QC" if card.country == "USA" else "TX"
    return postal_code_at(forger, card, forger.random.choice(towns(other))[1])


@kind("issuer", "The postal code cannot be: zeros, or letters that Canada does not use.")
def postal_code_of_nowhere(forger):
    card = forger.licence()
    return postal_code_at(forger, card, "00000" if card.country == "USA" else forger.pick("D1O2Q3", "Z9U1I1", "F0O0O0"))


@kind("issuer", "The subfile of the issuer is that of another state.")
def subfile_of_another_state(forger):
    card = forger.licence()
    card.departures |= {"two_subfiles"}
    card.local = forger.pick(*(letter for letter in "BEJLQRXY" if letter != card.code[:1]))
    return card


@kind("structure", "Offsets and lengths of subfiles point nowhere.")
def offsets_of_nowhere(forger):
    card = forger.licence()
    card.header = forger.pick({"offset": 9999}, {"offset": 0}, {"length": 0}, {"length": 9999})
    return card


@kind("structure", "The header counts more subfiles than there are.")
def more_subfiles_than_there_are(forger):
    card = forger.licence()
    card.header = {"count": forger.number(3, 9)}
    return card


@kind("structure", "The header announces an identity card, the subfile is a licence's.")
def another_subfile_than_announced(forger):
    card = forger.licence()
    card.kind, card.header = "DL", {"kind": "ID"}
    return card
