"""Machine readable zones of passports and identity cards of many countries, with the national numbers that they hold."""

import datetime

from Cards.card_people import names

DAY = datetime.timedelta(days=1)
# Code of ICAO 9303-3: people, formats, and where the national number stands (the optional data of TD1's first or second line,
# of TD2, of TD3) with a name in NATIONAL.
COUNTRIES = {
    "BEL": ("dutch", "TD1 TD3", {"TD1": 2}), "EST": ("baltic", "TD1 TD3", {"TD1": 1, "TD3": 1}),
    "SWE": ("nordic", "TD1 TD3", {"TD1": 1, "TD3": 1}), "ROU": ("romanian", "TD2 TD3", {"TD2": 1, "TD3": 1}),
    "BGR": ("slavic", "TD1 TD3", {"TD1": 2, "TD3": 1}), "ESP": ("spanish", "TD1 TD3", {"TD1": 1}),
    "HRV": ("slavic", "TD1 TD3", {"TD1": 2}), "POL": ("slavic", "TD1 TD3", {"TD3": 1}),
    "LTU": ("baltic", "TD1 TD3", {"TD1": 1, "TD3": 1}), "CZE": ("slavic", "TD1 TD3", {"TD3": 1}),
    "D<<": ("german", "TD1 TD3", {}), "FRA": ("french", "TD1 TD2 TD3", {}), "NLD": ("dutch", "TD1 TD3", {}),
    "ITA": ("italian", "TD1 TD3", {}), "PRT": ("portuguese", "TD1 TD3", {}), "GRC": ("greek", "TD1 TD3", {}),
    "AUT": ("german", "TD1 TD3", {}), "CHE": ("german", "TD1 TD3", {}), "FIN": ("nordic", "TD1 TD3", {}),
    "DNK": ("nordic", "TD3", {}), "NOR": ("nordic", "TD1 TD3", {}), "ISL": ("nordic", "TD3", {}), "LVA": ("baltic", "TD1 TD3", {}),
    "GBR": ("english", "TD3", {}), "IRL": ("english", "TD3", {}), "USA": ("english", "TD1 TD3", {}), "CAN": ("english", "TD3", {}),
    "AUS": ("english", "TD3", {}), "NZL": ("english", "TD3", {}), "ZAF": ("english", "TD3", {}), "MEX": ("spanish", "TD3", {}),
    "ARG": ("spanish", "TD1 TD3", {}), "CHL": ("spanish", "TD1 TD3", {}), "COL": ("spanish", "TD3", {}),
    "BRA": ("portuguese", "TD3", {}), "TUR": ("turkish", "TD1 TD3", {}), "EGY": ("arabic", "TD3", {}),
    "MAR": ("arabic", "TD1 TD3", {}), "LBN": ("arabic", "TD3", {}), "ARE": ("arabic", "TD1 TD3", {}), "PAK": ("arabic", "TD3", {}),
    "IND": ("indian", "TD3", {}), "CHN": ("chinese", "TD3", {}), "TWN": ("chinese", "TD3", {}), "SGP": ("chinese", "TD3", {}),
    "KOR": ("korean", "TD3", {}), "JPN": ("japanese", "TD3", {}), "VNM": ("vietnamese", "TD3", {}),
    "PHL": ("filipino", "TD3", {}), "NGA": ("nigerian", "TD3", {}), "UKR": ("slavic", "TD1 TD3", {}), "SRB": ("slavic", "TD3", {}),
    "MDA": ("romanian", "TD1 TD3", {}), "RKS": ("slavic", "TD3", {}), "GHA": ("nigerian", "TD3", {}), "PER": ("spanish", "TD3", {}),
}
# Whose letters and digits the number of a document is made of.
NUMBERS = {"D<<": "CFGHJKLMNPRTVWXYZ0123456789", "USA": "0123456789", "GBR": "0123456789"}
SPANISH = "TRWAGMYFPDXBNJZSQVHLCKE"


def weighted(digits, weights):
    return sum(int(digit) * weight for digit, weight in zip(digits, weights))


def belgian(source, birth, sex):
    order = f"{source.randrange(1, 498) * 2 + (1 if sex == 'M' else 0):03}"
    digits = f"{birth:%y%m%d}{order}"
    return f"{digits}{97 - int(('2' if birth.year >= 2000 else '') + digits) % 97:02}"


def baltic_digit(digits):
    """The last digit of the personal codes of Estonia and Lithuania."""
    for weights in ([1, 2, 3, 4, 5, 6, 7, 8, 9, 1], [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]):
        left = weighted(digits, weights) % 11
        if left < 10:
            return left
    return 0


def baltic(source, birth, sex):
    century = (birth.year - 1800) // 100 * 2 + (1 if sex == "M" else 2)
    digits = f"{century}{birth:%y%m%d}{source.randrange(1, 700):03}"
    return f"{digits}{baltic_digit(digits)}"


def luhn(digits):
    doubled = [int(digit) * (2 if index % 2 == 0 else 1) for index, digit in enumerate(digits)]
    return -sum(value // 10 + value % 10 for value in doubled) % 10


def swedish(source, birth, sex):
    digits = f"{birth:%y%m%d}{source.randrange(10, 99)}{source.randrange(5) * 2 + (1 if sex == 'M' else 0)}"
    return f"{birth.year // 100}{digits}{luhn(digits)}"


def romanian(source, birth, sex):
    century = (1 if sex == "M" else 2) + (4 if birth.year >= 2000 else 0)
    digits = f"{century}{birth:%y%m%d}{source.randrange(1, 41):02}{source.randrange(1, 1000):03}"
    left = weighted(digits, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11
    return f"{digits}{1 if left == 10 else left}"


def bulgarian(source, birth, sex):
    month = birth.month + (40 if birth.year >= 2000 else 0)
    digits = f"{birth:%y}{month:02}{birth:%d}{source.randrange(10, 99)}{source.randrange(5) * 2 + (0 if sex == 'M' else 1)}"
    return f"{digits}{weighted(digits, [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10}"


def spanish(source, _birth, _sex):
    digits = source.randrange(1_000_000, 99_999_999)
    return f"{digits:08}{SPANISH[digits % 23]}"


def croatian(source, _birth, _sex):
    digits, left = f"{source.randrange(10**9, 10**10)}", 10
    for digit in digits:
        left = (left + int(digit)) % 10 or 10
        left = left * 2 % 11
    return f"{digits}{(11 - left) % 10}"


def polish(source, birth, sex):
    month = birth.month + (20 if birth.year >= 2000 else 0)
    digits = f"{birth:%y}{month:02}{birth:%d}{source.randrange(100, 999)}{source.randrange(5) * 2 + (1 if sex == 'M' else 0)}"
    return f"{digits}{-weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10}"


def czech(source, birth, sex):
    start = f"{birth:%y}{birth.month + (50 if sex == 'F' else 0):02}{birth:%d}{source.randrange(100, 999)}"
    left = int(start) * 10 % 11
    return f"{start}{(11 - left) % 11}" if left != 1 else czech(source, birth, sex)


NATIONAL = {
    "BEL": belgian, "EST": baltic, "LTU": baltic, "SWE": swedish, "ROU": romanian, "BGR": bulgarian, "ESP": spanish,
    "HRV": croatian, "POL": polish, "CZE": czech,
}


def digit(text):
    """The check digit of ICAO 9303."""
    values = [0 if sign == "<" else int(sign, 36) for sign in text]
    return str(sum(value * (7, 3, 1)[index % 3] for index, value in enumerate(values)) % 10)


def field(text, length):
    """A text of the zone's letters, cut or filled."""
    return "".join("" if sign == "'" else sign if sign.isalnum() else "<" for sign in text)[:length].ljust(length, "<")


class Zone:
    """A document with a zone, as its state would have printed it."""

    def __init__(self, source, state, today, form=None, ages=(18, 90)):
        self.random, self.state, self.today = source, state, today
        people, forms, self.places = COUNTRIES[state]
        self.form = form or source.choice(forms.split())
        self.code = {"TD1": "ID" if state in ("BEL", "EST", "ROU", "ESP", "D<<", "FRA") else "I<", "TD2": "ID", "TD3": "P<"}[self.form]
        self.nationality, self.sex = state, source.choice("MF")
        self.family, self.given, self.middle = names(source, people, self.sex)
        self.birth = today - DAY * source.randrange(ages[0] * 366, ages[1] * 365)
        self.expiry = today + DAY * source.randrange(10, 9 * 365)
        signs = NUMBERS.get(state, "0123456789")
        self.number = "".join(source.choice(signs) for _ in range(9))
        if state not in NUMBERS:
            self.number = "".join(source.choice("ABCEHKLNPRTX") for _ in range(source.choice([1, 2]))) + self.number[:7]
        self.overflow = ""
        if self.form == "TD1" and state in ("BEL", "PRT"):
            # Longer numbers, of digits.
            self.number = f"{source.randrange(10**8, 10**9)}"
            self.overflow = "".join(source.choice("0123456789") for _ in range(3))
            self.overflow = "ZZ" + self.overflow[:1] if state == "PRT" else self.overflow
        self.digits, self.is_old_french = {}, state == "FRA" and self.form == "TD2"
        self.national = self.national_number()

    def national_number(self):
        if self.form not in self.places:
            return ""
        return NATIONAL[self.state](self.random, self.birth, self.sex)

    @property
    def name(self):
        return f"{self.given} {self.family}".strip().title()

    @property
    def origin(self):
        return f"{self.state.rstrip('<')} {self.form}"

    def written(self, day):
        return day if isinstance(day, str) else f"{day:%y%m%d}"

    def checked(self, name, text):
        return text + self.digits.get(name, digit(text))

    def names_field(self, length):
        given = " ".join([self.given, *self.middle]).strip()
        return field(f"{self.family}<<{given}" if given else self.family, length)

    def text(self):
        """The zone, its lines between line feeds."""
        if self.is_old_french:
            return self.old_french().encode()
        birth, expiry = self.checked("birth", self.written(self.birth)), self.checked("expiry", self.written(self.expiry))
        sex = "<" if self.sex == "X" else self.sex
        state, nationality = field(self.state, 3), field(self.nationality, 3)
        if self.form == "TD1":
            first = f"{self.code}{state}{self.first_line_number()}"
            first = field(first + (self.national if self.places.get("TD1") == 1 else ""), 30)
            optional = field(self.national if self.places.get("TD1") == 2 else "", 11)
            parts = first[5:] + birth + expiry + optional
            second = f"{birth}{sex}{expiry}{nationality}{optional}{self.digits.get('composite', digit(parts))}"
            return "\n".join([first, second, self.names_field(30)]).encode()
        number = self.checked("number", field(self.number, 9))
        length = 36 if self.form == "TD2" else 44
        first = f"{self.code}{state}" + self.names_field(length - 5)
        if self.form == "TD2":
            # Romania's card holds the first digit and the last six of the number.
            optional = field(self.national[:1] + self.national[-6:] if self.national else "", 7)
        else:
            optional = field(self.national, 14)
            own = "<" if not self.national and self.random.random() < 0.5 else digit(optional)
            optional += self.digits.get("optional", own)
        parts = number + birth + expiry + optional
        second = f"{number}{nationality}{birth}{sex}{expiry}{optional}{self.digits.get('composite', digit(parts))}"
        return f"{first}\n{second}".encode()

    def first_line_number(self):
        """The number with its check digit; what is longer than its field goes on behind."""
        if not self.overflow:
            return self.checked("number", field(self.number, 9))
        return f"{self.number}<{self.overflow}{self.digits.get('number', digit(self.number + self.overflow))}"

    def old_french(self):
        """The identity card of France before 2021, of its own layout and without an expiry."""
        source = self.random
        first = f"IDFRA{field(self.family, 25)}{source.randrange(1, 96):03}{source.randrange(1, 999):03}"
        number = f"{source.randrange(14, 21)}{source.randrange(1, 13):02}{source.randrange(1, 96):03}{source.randrange(99999):05}"
        second = self.checked("number", number) + field("<<".join([self.given, *self.middle]), 14)
        second += self.checked("birth", self.written(self.birth)) + self.sex
        return f"{first}\n{second}{self.digits.get('composite', digit(first + second))}"


def honest(source, index, today):
    """A document of one of all countries in turn, with what the zones of real ones are known for."""
    states = list(COUNTRIES)
    zone = Zone(source, states[index % len(states)], today)
    kind = source.random()
    if zone.state == "ESP" and zone.form == "TD1" and zone.birth.year < today.year - 70:
        zone.expiry = "990101"
    elif kind < 0.01:
        zone.sex = "X"
        zone.national = ""
    elif kind < 0.02 and zone.form == "TD1" and not zone.national:
        # A residence permit of someone from elsewhere.
        zone.code, zone.nationality = source.choice(["AR", "IR"]), source.choice(states)
        zone.family, zone.given, zone.middle = names(source, COUNTRIES[zone.nationality][0], zone.sex)
    elif kind < 0.025 and zone.form == "TD3" and not zone.national:
        # A refugee's or stateless person's travel document.
        zone.code, zone.nationality = "PT", source.choice(["XXA", "XXB"])
    elif kind < 0.027 and zone.form == "TD1":
        zone.expiry = "<<<<<<"
    elif kind < 0.029 and not zone.national and not zone.is_old_french:
        zone.birth = f"{zone.birth:%y}<<<<"
    elif kind < 0.033:
        zone.given, zone.middle = "", []
    return zone
