"""Numbers of licences as their issuers form them: what a state is known to print, and what it derives from the holder's name,
birthday and sex. From public descriptions of the numbers, independent of the tables of the service, as its judge.
"""

import string

# Forms by issuer; `A` stands for a letter, `9` for a digit, `*` for either, everything else for itself.
FORMS = {
    "AL": "9999999 99999999", "AK": "9999999", "AZ": "A99999999", "AR": "999999999", "CA": "A9999999", "CO": "999999999",
    "DE": "9999999", "DC": "9999999", "GA": "999999999", "HI": "H99999999", "ID": "AA999999A", "IN": "9999999999",
    "IA": "999AA9999 999999999", "KS": "K99999999", "KY": "A99999999", "LA": "00999999", "ME": "9999999",
    "MA": "S99999999 SA9999999", "MN": "A999999999999", "MS": "999999999", "MO": "A999999999 999999999", "NE": "H99999999",
    "NV": "9999999999", "NH": "NHL99999999", "NM": "999999999", "NY": "999999999", "NC": "999999999999", "OH": "AA999999",
    "OK": "A999999999", "OR": "9999999 A999999", "PA": "99999999", "RI": "9999999 99999999", "SC": "999999999",
    "SD": "99999999", "TN": "999999999", "TX": "99999999", "UT": "999999999", "VT": "99999999", "VA": "A99999999",
    "WA": "WDL*******9A", "WV": "A999999", "WY": "999999999", "AS": "99999999", "GU": "9999999999", "MP": "9999999",
    "PR": "9999999", "VI": "999999999", "AB": "999999999", "BC": "9999999", "MB": "AAAAAAA999AA", "NB": "9999999",
    "NT": "999999", "NU": "999999", "PE": "999999", "SK": "99999999", "YT": "999999", "": "999999999", "CU": "999999999",
    "HL": "999999999",
}
# Issuers whose numbers hold the birthday or a part of it, those that hold the name, and those that hold the sex.
DATED = ["FL", "IL", "WI", "MD", "MI", "NJ", "MT", "ND", "CT", "NL", "NS", "ON", "QC"]
BY_SOUND, BY_LETTER, BY_LETTERS = ["FL", "IL", "WI", "MD", "MI"], ["NJ", "NL", "ON", "QC"], ["NS", "ND"]
BY_SEX = ["FL", "IL", "WI", "NJ", "ON"]

# Groups of letters that Soundex counts as one sound.
SOUNDS = {letter: str(digit) for digit, letters in enumerate(["BFPV", "CGJKQSXZ", "DT", "L", "MN", "R"], 1) for letter in letters}
# The code of a given name in Florida, Illinois and Wisconsin: by its initial, and by itself for frequent names.
INITIALS = [0, 60, 100, 160, 200, 240, 280, 320, 400, 420, 500, 520, 540, 620, 640, 660, 700, 720, 780, 800, 840, 860, 880, 940,
            960, 980]
MIDDLE_INITIALS = list(range(1, 15)) + [14, 15, 15, 16, 17, 18, 18, 18, 19, 19, 19, 19]
FREQUENT = {"JAMES": 440, "ROBERT": 760, "JOHN": 460, "GEORGE": 300, "HENRY": 380, "MARY": 580, "MARGARET": 560, "GRACE": 300,
            "ALICE": 20, "RUTH": 760}
# Maryland and Michigan number all beginnings of names in alphabetical order, from 27: pairs of letters, and more of these.
LONGER = ["AL", "ED", "EL", "JA", "JE", "JO", "LE", "LO", "MA", "WI"]
WHOLE = "EDWARD ELIZABETH ELLEN HENRY JAMES JOHN JOSEPH MARGARET MARY ROBERT WILLIAM".split()
BEGINNINGS = {
    name: 27 + index for index, name in enumerate(sorted(
        WHOLE + [a + b for a in string.ascii_uppercase for b in [""] + list(string.ascii_uppercase)]
        + [pair + letter for pair in LONGER for letter in string.ascii_uppercase]))}
# Their days of the year: the number of each month's first, how many halves more follow from a day on; a day counts five halves.
MONTHS = [2, 86, 159, 258, 334, 412, 521, 603, 681, 757, 841, 917]
ROUNDED_UP = {1, 3, 6, 9, 10}
JUMPS = {(3, 9): 5, (3, 20): 35, (6, 18): 25, (6, 25): 25, (6, 30): 15, (7, 5): 7, (10, 16): 5, (10, 19): 5, (12, 26): 7,
         (12, 28): 5}
FIRST_DAYS = {1: 2, 2: 7, 3: 10, 4: 12}


def letters(name):
    return "".join(letter for letter in name if letter in string.ascii_uppercase)


def filled(source, form):
    """A number of a form."""
    kinds = {"A": "ABCDEFGHJKLMNPRSTW", "9": string.digits, "*": "BCDFGHJKLMNPQRSTVWXZ23456789"}
    return "".join(source.choice(kinds[sign]) if sign in kinds else sign for sign in form)


def soundex(name):
    """The letter and three digits of American Soundex."""
    name = letters(name)
    found, last = name[:1], SOUNDS.get(name[:1])
    for letter in name[1:]:
        sound = SOUNDS.get(letter)
        if sound and sound != last:
            found += sound
        if letter not in "HW":
            last = sound
    return (found + "000")[:4]


def name_code(given, middle):
    """Three digits for given name and middle initial: Florida, Illinois, Wisconsin."""
    first = letters(given)
    code = FREQUENT.get(first, INITIALS[ord(first[0]) - 65] if first else 0)
    return f"{code + (MIDDLE_INITIALS[ord(middle[0]) - 65] if middle else 0):03}"


def beginning(name):
    """The longest beginning of a name that has a number."""
    return next((name[:end] for end in range(len(name), 0, -1) if name[:end] in BEGINNINGS), "")


def name_codes(given, middle):
    """Six digits for given and middle name: Maryland, Michigan."""
    first, second = letters(given), letters(middle)
    coded = beginning(first)
    rest = first[len(coded):]
    if second:
        after = BEGINNINGS[beginning(second)]
    else:
        after = ord(rest[0]) - 64 if rest else 0
    return f"{BEGINNINGS.get(coded, 0):03}{after:03}"


def day_code(birth):
    """Three digits for the day of the year: Maryland, Michigan."""
    if birth.month == 1:
        return f"{FIRST_DAYS.get(birth.day, 17 + (5 * (birth.day - 5) + 1) // 2):03}"
    halves = 5 * (birth.day - 1) + (1 if birth.month in ROUNDED_UP else 0)
    halves += sum(more for (month, day), more in JUMPS.items() if month == birth.month and day <= birth.day)
    return f"{MONTHS[birth.month - 1] + halves // 2:03}"


def any_digits(source, count):
    return "".join(source.choice(string.digits) for _ in range(count))


def derived(source, code, person):
    """The number of an issuer that derives it from its holder."""
    birth, woman = person.birth, person.sex == "F"
    family, year = letters(person.family), f"{birth.year % 100:02}"
    middle = letters(person.middle[0]) if person.middle else ""
    if code in ("FL", "WI", "IL"):
        # Illinois counts 31 days a month and 600 for women, the others 40 and 500.
        days, for_women = (31, 600) if code == "IL" else (40, 500)
        day = f"{(birth.month - 1) * days + birth.day + (for_women if woman else 0):03}"
        tie = {"FL": 1, "WI": 2, "IL": 0}[code]
        return soundex(family) + name_code(person.given, middle) + year + day + "0" * tie
    if code in ("MD", "MI"):
        return soundex(family) + name_codes(person.given, middle) + day_code(birth)
    if code == "NJ":
        # 61 to 69 for A to I, 71 to 79 for J to R, 82 to 89 for S to Z.
        place = ord(middle[0]) - 65 if middle else 0
        initial = "00" if not middle else f"{place + 64}" if place >= 18 else f"{61 + place + place // 9}"
        month = birth.month + (50 if woman else 0)
        return f"{family[0]}{any_digits(source, 4)}{any_digits(source, 3)}{initial}{month:02}{year}{source.choice('12345')}"
    if code == "MT":
        return f"{birth.month:02}{any_digits(source, 3)}{birth.year}{birth.day:02}41"
    if code == "ND":
        return (family + "XX")[:3] + year + any_digits(source, 4)
    if code == "CT":
        # Months from 13 on are those of even years.
        return f"{birth.month + (0 if birth.year % 2 else 12):02}{any_digits(source, 7)}"
    if code == "NL":
        return f"{family[0]}{birth:%y%m%d}{any_digits(source, 3)}"
    if code == "NS":
        return f"{(family + 'XXXXX')[:5]}{birth:%d%m%y}{any_digits(source, 3)}"
    if code == "ON":
        month = birth.month + (50 if woman else 0)
        return f"{family[0]}{any_digits(source, 4)}{any_digits(source, 4)}{year}{month:02}{birth.day:02}"
    return f"{family[0]}{any_digits(source, 4)}{birth:%d%m%y}{any_digits(source, 2)}"


def number(source, code, person):
    """The number that an issuer gives a person."""
    if code in DATED:
        return derived(source, code, person)
    return filled(source, source.choice(FORMS[code].split()))


def fits(code, text):
    """Whether a number has a form that an issuer gives out; only of those in FORMS."""
    kinds = {"A": string.ascii_uppercase, "9": string.digits, "*": string.ascii_uppercase + string.digits}
    return any(
        len(form) == len(text) and all(have in kinds.get(sign, sign) for sign, have in zip(form, text))
        for form in FORMS[code].split())
