"""The invented persons of published samples, with new dates: who needs a card quickly copies the picture of one.

The persons are those that AAMVA, ICAO and states print in their own documents; none of them lives.
"""

import datetime

from Cards.card_licences import years
from Cards.card_zones import COUNTRIES
from Forgeries.forgery import kind

# Issuer, version, family name, given and middle names, sex, birthday, number, street, town, postal code.
LICENCES = [
    ("VA", 10, "SAMPLE", "MICHAEL", ["JOHN"], "M", (1986, 6, 6), "T64235789", "2300 WEST BROAD STREET", "RICHMOND", "23269"),
    ("VA", 9, "SAMPLE", "MICHAEL", ["JOHN"], "M", (1986, 6, 6), "T64235789", "2300 WEST BROAD STREET", "RICHMOND", "23269"),
    ("CA", 8, "PUBLIC", "JOHN", ["QUINCY"], "M", (1970, 1, 31), "D12345678", "789 E OAK ST", "ANYTOWN", "90223"),
    ("CA", 8, "CARDHOLDER", "IMA", [], "F", (1977, 8, 31), "I1234562", "2570 24TH STREET", "ANYTOWN", "95818"),
]
# State, format, family name, given names, sex, birthday, number, national number.
ZONES = [
    ("D<<", "TD1", "MUSTERMANN", ["ERIKA"], "F", (1964, 8, 12), "L01X00T47", ""),
    ("D<<", "TD3", "MUSTERMANN", ["ERIKA"], "F", (1964, 8, 12), "C01X00T47", ""),
    ("D<<", "TD1", "MUSTERMANN", ["ERIKA"], "F", (1983, 8, 12), "L01X00T47", ""),
    ("NLD", "TD3", "DE BRUIJN", ["WILLEKE", "LISELOTTE"], "F", (1965, 3, 10), "SPECI2014", ""),
    ("FRA", "TD1", "MARTIN", ["MAELYS", "GAELLE", "MARIE"], "F", (1990, 7, 13), "X4RTBPFW4", ""),
    ("EST", "TD1", "JOEORG", ["JAAK", "KRISTJAN"], "M", (1980, 1, 8), "AS0000001", "38001085718"),
    ("ESP", "TD1", "ESPANOLA ESPANOLA", ["CARMEN"], "F", (1980, 1, 1), "BAA000589", "99999999R"),
    ("GBR", "TD3", "UK SPECIMEN", ["ANGELA", "ZOE"], "F", (1988, 12, 4), "925665416", ""),
]
ICAO = [("ERIKSSON", ["ANNA", "MARIA"], "F", (1974, 8, 12), "L898902C3"), ("ERIKSSON", ["ANNA", "MARIA"], "F", (1974, 8, 12),
        "D23145890")]


def sample_licence(forger):
    code, version, family, given, middle, sex, birth, number, street, city, postal_code = forger.pick(*LICENCES)
    card = forger.licence([code], versions=[version])
    card.family, card.given, card.middle, card.suffix, card.sex = family, given, middle, "", sex
    card.birth, card.number, card.street = datetime.date(*birth), number, street
    card.state, card.city, card.postal_code = code, city, postal_code
    return card


@kind("specimens", "The holder is the sample person of AAMVA or of a state, with a new issue and expiry.")
def aamva_sample(forger):
    return sample_licence(forger)


@kind("specimens", "The holder is the sample person of AAMVA or of a state, with a new birthday too.")
def aamva_sample_reborn(forger):
    card = sample_licence(forger)
    card.birth = years(card.birth, forger.number(2, 12)) + forger.days(1, 300)
    return card


def sample_zone(forger):
    state, form, family, given, sex, birth, number, national = forger.pick(*ZONES)
    zone = forger.zone([state], form)
    zone.family, zone.given, zone.middle, zone.sex = family, given[0], given[1:], sex
    zone.birth, zone.number, zone.national = datetime.date(*birth), number, national
    return zone


@kind("specimens", "The holder is the sample person of a state's passport or identity card, with a new expiry.")
def national_sample(forger):
    return sample_zone(forger)


@kind("specimens", "The holder is the sample person of a state's passport or identity card, with a new birthday too.")
def national_sample_reborn(forger):
    while True:
        zone = sample_zone(forger)
        if not zone.national:
            zone.birth = zone.birth.replace(year=zone.birth.year + forger.number(2, 12)) + forger.days(1, 300)
            return zone


@kind("specimens", "The holder is ICAO's sample person, as a citizen of a state that exists.")
def icao_sample(forger):
    family, given, sex, birth, number = forger.pick(*ICAO)
    zone = forger.zone([state for state, place in COUNTRIES.items() if not place[2]])
    zone.family, zone.given, zone.middle, zone.sex = family, given[0], given[1:], sex
    zone.birth, zone.number = datetime.date(*birth), number
    return zone
