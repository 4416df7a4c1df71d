"""Forgeries that agree in everything that a barcode or a zone says. Nothing in the data can give them away."""

from Cards.card_licences import STRIPED, years
from Cards.card_numbers import DATED, number
from Cards.card_people import names
from Cards.card_places import ISSUERS
from Cards.card_zones import NATIONAL
from Forgeries.forgery import MODERN, kind


@kind("consistent", "A card of a person who does not exist, by all of its issuer's rules.")
def invented_licence(forger):
    return forger.licence(list(ISSUERS))


@kind("consistent", "A stripe of a person who does not exist, by all of its issuer's rules.")
def invented_stripe(forger):
    return forger.licence(STRIPED, is_stripe=True)


@kind("consistent", "A passport or identity card of a person who does not exist, with all check digits.")
def invented_zone(forger):
    return forger.zone()


@kind("consistent", "An older holder, and the number that the issuer would have formed.")
def older_with_number(forger):
    card = forger.licence(DATED)
    card.birth = years(card.birth, -forger.number(1, 7))
    card.number, card.age_dates = number(forger.random, card.code, card), {}
    return card


@kind("consistent", "An expired card with a new issue and expiry.")
def renewed(forger):
    card = forger.licence(list(ISSUERS), versions=MODERN)
    card.issue = max(forger.today - forger.days(20, 400), card.issue)
    card.expiry = years(card.issue, forger.pick(4, 5, 8))
    return card


@kind("consistent", "The barcode of someone else's card with another name, where the number does not hold it.")
def renamed_freely(forger):
    card = forger.licence()
    card.family, card.given, card.middle = names(forger.random, "english", card.sex)
    return card


@kind("consistent", "An older holder of a document with a national number, which was formed anew.")
def national_formed_anew(forger):
    zone = forger.zone(["BEL", "EST", "SWE", "ROU", "BGR"])
    zone.birth = zone.birth.replace(year=zone.birth.year - forger.number(1, 9), day=min(zone.birth.day, 28))
    zone.national = NATIONAL[zone.state](forger.random, zone.birth, zone.sex) if zone.national else ""
    return zone
