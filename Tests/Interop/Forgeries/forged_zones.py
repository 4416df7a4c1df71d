"""Forged passports and identity cards: machine readable zones with one thing wrong that can be seen from the data alone."""

from Cards.card_people import PEOPLES, names
from Cards.card_zones import COUNTRIES, NATIONAL, SPANISH, digit, field
from Forgeries.forgery import kind

# Whose national number holds the birthday, the sex, and a check of its own; with the format that has it whole.
WITH_BIRTH = {"BE": ("BEL", "TD1"), "EE": ("EST", "TD1"), "SE": ("SWE", "TD3"), "RO": ("ROU", "TD3"), "BG": ("BGR", "TD1")}
ELSEWHERE = {"LT": ("LTU", "TD3"), "PL": ("POL", "TD3"), "CZ": ("CZE", "TD3")}
CHECKED = WITH_BIRTH | {"ES": ("ESP", "TD1"), "HR": ("HRV", "TD1")}


def another_digit(forger, right):
    return forger.pick(*(sign for sign in "0123456789" if sign != right))


@kind("zones", "The state is Utopia, which issues ICAO's samples.")
def zone_of_utopia(forger):
    zone = forger.zone()
    zone.places, zone.national = {}, ""
    zone.state = zone.nationality = "UTO"
    return zone


@kind("zones", "The state has a code that ICAO never gave out.")
def zone_of_no_state(forger):
    zone = forger.zone()
    zone.places, zone.national = {}, ""
    zone.state = zone.nationality = forger.pick("XYZ", "QQQ", "ABC", "ZZZ", "EUR", "ENG")
    return zone


@kind("zones", "The state is one that no longer exists.")
def zone_of_former_state(forger):
    zone = forger.zone(["SRB", "HRV", "UKR"])
    zone.places, zone.national = {}, ""
    zone.state = zone.nationality = forger.pick("YUG", "SUN", "CSK", "DDR", "SCG")
    return zone


@kind("zones", "The holder belongs to a state that ICAO knows no code of.")
def nationality_of_no_state(forger):
    zone = forger.zone()
    zone.nationality = forger.pick("XYZ", "QQQ", "AAB", "ZZZ")
    return zone


@kind("zones", "The sex has a letter that does not exist.")
def zone_sex_of_no_code(forger):
    zone = forger.zone()
    zone.sex = forger.pick("Z", "Q", "1", "7")
    return zone


def with_wrong_digit(name):
    def make(forger):
        zone = forger.zone([state for state in COUNTRIES if state not in ("BEL", "PRT")])
        right = {"number": field(zone.number, 9), "birth": zone.written(zone.birth), "expiry": zone.written(zone.expiry)}
        zone.digits = {name: another_digit(forger, digit(right[name]))}
        return zone
    return make


for checked in ("number", "birth", "expiry"):
    kind("zones", f"The check digit of {checked} is that of another value.", f"zone_{checked}_digit")(with_wrong_digit(checked))


@kind("zones", "The last check digit is not that of the zone.")
def zone_composite_digit(forger):
    zone = forger.zone()
    right = zone.text().decode().split("\n")[1][-1]
    # The filler of an empty personal number counts as its digit 0 does.
    zone.digits = {"composite": another_digit(forger, right)}
    return zone


@kind("zones", "The check digit of a passport's personal number is that of another.")
def zone_personal_digit(forger):
    zone = forger.zone(["EST", "SWE", "ROU", "BGR", "POL", "LTU", "CZE"], "TD3")
    zone.digits = {"optional": another_digit(forger, digit(field(zone.national, 14)))}
    return zone


@kind("zones", "The birthday is a day that does not exist, with its check digit.")
def zone_birth_no_day(forger):
    zone = forger.zone()
    zone.birth = f"{zone.birth:%y}{forger.pick('0231', '0431', '1305', '0230', '0010')}"
    return zone


@kind("zones", "The document expires on a day that does not exist, with its check digit.")
def zone_expiry_no_day(forger):
    zone = forger.zone()
    zone.expiry = f"{zone.expiry:%y}{forger.pick('0231', '0631', '1312', '1131')}"
    return zone


@kind("zones", "A passport is valid for more than fifteen years.")
def passport_of_twenty_years(forger):
    zone = forger.zone(form="TD3")
    zone.expiry = f"{(forger.today.year + forger.number(16, 30)) % 100:02}{zone.expiry:%m}{min(zone.expiry.day, 28):02}"
    return zone


@kind("zones", "Digits stand in the name.")
def zone_digits_in_name(forger):
    while True:
        zone = forger.zone()
        digits = zone.family.translate(str.maketrans("LIOES", "11035"))
        if digits != zone.family:
            zone.family = digits
            return zone


@kind("zones", "The kind of document has letters that no zone of its size has.")
def zone_of_no_kind(forger):
    zone = forger.zone()
    zone.code = forger.pick("X<", "ZZ", "DL") if zone.form != "TD3" else forger.pick("ID", "X<", "DL")
    return zone


@kind("zones", "The document has no number.")
def zone_without_number(forger):
    zone = forger.zone([state for state in COUNTRIES if state not in ("BEL", "PRT")])
    zone.number = ""
    return zone


@kind("zones", "The document has no name.")
def zone_without_name(forger):
    zone = forger.zone()
    zone.family, zone.given, zone.middle = "", "", []
    return zone


# National numbers.


def with_older_holder(place):
    def make(forger):
        zone = forger.zone([place[0]], place[1])
        zone.birth = zone.birth.replace(year=zone.birth.year - forger.number(1, 9), day=min(zone.birth.day, 28))
        return zone
    return make


for country, place in WITH_BIRTH.items():
    kind("national", f"The birthday was changed, and not the part of it that the national number of {country} holds.",
         f"national_birth_{country.lower()}")(with_older_holder(place))


def with_another_check(place):
    """Numbers that someone made up, or copied wrongly."""
    def make(forger):
        zone = forger.zone([place[0]], place[1])
        right = zone.national[-1]
        wrong = another_digit(forger, right) if right.isdigit() else forger.pick(*SPANISH.replace(right, ""))
        zone.national = zone.national[:-1] + wrong
        return zone
    return make


for country, place in CHECKED.items():
    kind("national", f"The national number of {country} fails its own check.", f"national_check_{country.lower()}")(
        with_another_check(place))


@kind("national", "The sex was changed, and not its digit in the national number.")
def national_of_another_sex(forger):
    state, form = forger.pick(*WITH_BIRTH.values())
    zone = forger.zone([state], form)
    zone.sex = "F" if zone.sex == "M" else "M"
    return zone


@kind("national", "The birthday was changed, and not its part of a national number of Lithuania, Poland or Czechia.")
def national_birth_elsewhere(forger):
    return with_older_holder(forger.pick(*ELSEWHERE.values()))(forger)


def another(forger, state, zone):
    """The national number of someone else of the state."""
    return NATIONAL[state](forger.random, zone.birth - forger.days(400, 3000), zone.sex)


@kind("national", "The national number is someone else's, whole and right in itself.")
def national_of_someone_else(forger):
    state, form = forger.pick(*WITH_BIRTH.values())
    zone = forger.zone([state], form)
    zone.national = another(forger, state, zone)
    zone.family, zone.given, zone.middle = names(forger.random, forger.pick(*PEOPLES), zone.sex)
    return zone
