"""Forged licences whose dates are wrong."""

from Cards.card_licences import YEARS, years
from Forgeries.forgery import MODERN, STATES, kind


@kind("dates", "The birthday is a 30 or 31 February, a 31 April or a day of a 13th month.")
def birth_no_day(forger):
    card = forger.licence()
    card.birth = card.written(card.birth.year, *forger.pick((2, 30), (2, 31), (4, 31), (13, 5)))
    return card


@kind("dates", "The card expires on a day that does not exist.")
def expiry_no_day(forger):
    card = forger.licence()
    card.expiry = card.written(card.expiry.year + 1, *forger.pick((2, 30), (6, 31), (11, 31), (0, 12)))
    return card


@kind("dates", "The card was issued on a day that does not exist.")
def issue_no_day(forger):
    card = forger.licence()
    card.issue = card.written(card.issue.year, *forger.pick((2, 31), (9, 31), (14, 1)))
    return card


@kind("dates", "All dates are written day first, as in Europe.")
def dates_day_first(forger):
    card = forger.licence(STATES)
    card.birth, card.issue, card.expiry = (
        f"{forger.number(13, 28)}{day:%m%Y}" for day in (card.birth, card.issue, card.expiry))
    return card


@kind("dates", "The card was issued before its holder was born.")
def issue_before_birth(forger):
    card = forger.licence()
    card.issue = card.birth - forger.days(30, 4000)
    return card


@kind("dates", "The holder is not born yet.")
def birth_to_come(forger):
    card = forger.licence()
    card.birth = forger.today + forger.days(30, 3000)
    return card


@kind("dates", "The card expires before it was issued.")
def expiry_before_issue(forger):
    card = forger.licence()
    card.issue = forger.today - forger.days(1, 60)
    card.expiry = card.issue - forger.days(30, 800)
    return card


@kind("dates", "The card is issued on a day to come.")
def issue_to_come(forger):
    card = forger.licence()
    card.issue = forger.today + forger.days(10, 900)
    card.expiry = years(card.issue, 8)
    return card


@kind("dates", "The holder is 116 to 150 years old.")
def holder_of_118(forger):
    card = forger.licence()
    card.birth = years(card.birth, forger.today.year - forger.number(117, 150) - card.birth.year)
    return card


@kind("dates", "The card is valid for 50 to 80 years.")
def valid_60_years(forger):
    card = forger.licence()
    card.expiry = years(card.expiry, forger.number(50, 80))
    return card


@kind("dates", "The holder got a driver's licence as a child.")
def driver_of_nine(forger):
    card = forger.licence(versions=MODERN, ages=(22, 25))
    card.kind = "DL"
    card.birth = years(forger.today, -forger.number(18, 20)) - forger.days(10, 300)
    card.issue = years(card.birth, forger.number(8, 11))
    card.expiry = max(years(card.issue, 12), forger.today + forger.days(50, 900))
    card.revision = card.issue
    card.version = max(version for version, year in YEARS.items() if year <= card.issue.year)
    card.age_dates = {}
    return card


def grown_up(forger, element, age):
    """A card of someone under age with an older birthday; one of the days on which its holder grows up is left."""
    card = forger.licence(versions=MODERN)
    card.birth = years(forger.today, -forger.number(22, 27)) + forger.days(1, 300)
    card.issue = max(card.issue, forger.today - forger.days(10, 400))
    card.age_dates = {}
    grown = years(card.birth, age) + forger.days(400, 1500)
    if element == "DDJ":
        grown = forger.today + forger.days(20, 700)
    card.more = [(element, card.date(grown))]
    card.expiry = max(card.expiry, years(card.issue, 4))
    return card


@kind("dates", "The day on which the holder turns 18 (`DDH`) does not follow from the birthday.")
def under_18_until(forger):
    return grown_up(forger, "DDH", 18)


@kind("dates", "The day on which the holder turns 19 (`DDI`) does not follow from the birthday.")
def under_19_until(forger):
    return grown_up(forger, "DDI", 19)


@kind("dates", "The day on which the holder turns 21 (`DDJ`) is to come, and the birthday says that it has been.")
def under_21_until(forger):
    return grown_up(forger, "DDJ", 21)


@kind("dates", "The card was revised (`DDB`) on a day to come.")
def revision_to_come(forger):
    card = forger.licence(versions=MODERN)
    card.revision = forger.today + forger.days(30, 1500)
    return card


@kind("dates", "The card was revised (`DDB`) years after it was printed.")
def revision_after_issue(forger):
    card = forger.licence(versions=MODERN)
    card.issue = min(card.issue, forger.today - forger.days(1100, 1400))
    card.expiry = max(card.expiry, forger.today + forger.days(100, 900))
    card.revision = card.issue + forger.days(400, 1000)
    return card
