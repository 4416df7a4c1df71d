"""Telephone numbers, and what phonenumbers (libphonenumber's port) says of them: JSON lines from a seed.

    python Tests/Interop/Phone/phone_numbers.py 20000 1

Each line is {"text", "region", "verdict", "stricter"}. The verdict is what the service must say: {"e164", "region",
"type"} of a number that is valid, or else {"reason"}. It is phonenumbers' own, except where the service is stricter by
decision (a longer text than 64 characters, a region without a plan, letters, an extension, one or two digits): then
"stricter" tells whether phonenumbers takes the text for a valid number.
"""

import json
import random
import re._constants as syntax
import re._parser as parser
import sys
import unicodedata

import phonenumbers as p
from phonenumbers import phonemetadata

DESCRIPTIONS = ("general_desc", "fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "personal_number",
                "voip", "pager", "uan", "voicemail")
ZEROS = "\uff10\u0660\u06f0\u0966\u0e50\u17e0\U0001d7d8"
PUNCTUATION = "-- .()[]/*\u2010\u2013\u2015\u2212\u30fc\uff0d\uff0e\uff0f\u00a0\u00ad\u200b\u2060\u3000\uff08\uff09\u2053\u223c"
NOISE = "\u260e<>_:'\"\u0000\n\t\u0301\u00bd\u00b2"
EXTENSIONS = (";ext={}", " x{}", " ext. {}", "#{}", " ~ {}", ",{}", ",,{}#", ";{}", " - {}#", "\uff03{}", "\uff5e{}", "~{}")
HOSTILE = "0123456789" * 4 + "+\uff0b-() ./*#,;~x\uff03\uff5e_\u0660\u0661\uff19\u30fc" + NOISE
# What may be between digits.
DIALLED = "- ()[]./*\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u30fc\uff0d\uff0e\uff0f\u00a0\u00ad\u200b\u2060\u3000\uff08\uff09\uff3b\uff3d\u2053\u223c"
TILDES = "~\uff5e"
LIMIT = 64


def sample(rng, pattern):
    """A random text that an expression of the metadata matches."""

    def walk(items):
        return "".join(map(one, items))

    def one(item):
        code, value = item
        if code is syntax.LITERAL:
            return chr(value)
        if code is syntax.IN:
            kind, value = rng.choice(value)
            if kind is syntax.LITERAL:
                return chr(value)
            return chr(rng.randint(*value)) if kind is syntax.RANGE else rng.choice("0123456789")
        if code is syntax.BRANCH:
            return walk(rng.choice(value[1]))
        if code is syntax.SUBPATTERN:
            return walk(value[3])
        if code is syntax.MAX_REPEAT:
            return "".join(walk(value[2]) for _ in range(rng.randint(value[0], value[1])))
        if code is syntax.AT:
            return ""
        raise ValueError(code)

    return walk(parser.parse(pattern))


def plans():
    found = []
    for code, regions in sorted(p.COUNTRY_CODE_TO_REGION_CODE.items()):
        for region in regions:
            found.append(phonemetadata.PhoneMetadata.metadata_for_region_or_calling_code(code, region))
    return found


def national_number(rng, plan):
    """A national number, most often a valid one: an example or a sample of a pattern, perhaps bent."""
    descriptions = [d for d in (getattr(plan, name) for name in DESCRIPTIONS) if d and d.national_number_pattern]
    description = rng.choice(descriptions)
    if description.example_number and rng.random() < 0.3:
        digits = description.example_number
        if rng.random() < 0.7:
            kept = rng.randint(2, len(digits))
            digits = digits[:kept] + "".join(rng.choices("0123456789", k=len(digits) - kept))
    else:
        digits = sample(rng, description.national_number_pattern)
    bend = rng.random()
    if bend < 0.06:
        digits = digits[:-1]
    elif bend < 0.12:
        digits += rng.choice("0123456789")
    elif bend < 0.24:
        place = rng.randrange(len(digits))
        digits = digits[:place] + rng.choice("0123456789") + digits[place + 1:]
    elif bend < 0.27:
        digits = "".join(rng.choices("0123456789", k=rng.choice((1, 2, 3, 4, 7, 9, 11, 13, 15, 16, 17, 18, 20, 40, 64))))
    elif bend < 0.30:
        digits = rng.choice(("0", "00", "1", "15", "9")) + digits
    return digits


def spelled(rng, digits):
    """The digits with punctuation between, in another script now and then."""
    if rng.random() < 0.5:
        digits = "".join(d + (rng.choice(PUNCTUATION) if rng.random() < 0.3 else "") for d in digits)
    if rng.random() < 0.15:
        zero = ord(rng.choice(ZEROS))
        digits = "".join(chr(zero + int(d)) if d.isascii() and d.isdigit() else d for d in digits)
    return digits


def number(rng, known, regional):
    """A text and a region."""
    plan = rng.choice(known)
    home = rng.choice(regional)
    own = plan.id if plan.id != "001" else None
    code, digits = str(plan.country_code), national_number(rng, plan)
    form = rng.random()
    region = rng.choice((None, own, home.id))
    if form < 0.35:
        text = rng.choice(("+", "+", "+", "\uff0b", "++", " +", "(+", "+ ")) + spelled(rng, code + digits)
    elif form < 0.40:
        parsed = p.PhoneNumber(country_code=plan.country_code, national_number=int(digits or 0))
        text, region = p.format_number(parsed, rng.choice((1, 1, 2))), own
    elif form < 0.75:
        prefix = plan.national_prefix_for_parsing
        before = ""
        if prefix and rng.random() < 0.5:
            before = sample(rng, prefix) if rng.random() < 0.6 else plan.national_prefix or ""
        text, region = spelled(rng, before + digits), rng.choice((own, own, own, home.id, None))
    elif form < 0.88:
        idd = sample(rng, home.international_prefix) if home.international_prefix else "00"
        if rng.random() < 0.1:
            idd += rng.choice("0123456789")
        text, region = rng.choice(("", "", "", "+")) + spelled(rng, idd + code + digits), home.id
    elif form < 0.95:
        text, region = spelled(rng, code + digits), own
    else:
        parsed = p.PhoneNumber(country_code=plan.country_code, national_number=int(digits or 0))
        text, region = p.format_number(parsed, 2), own
    dressing = rng.random()
    if dressing < 0.03:
        text += rng.choice(EXTENSIONS).format(rng.randrange(10 ** rng.randint(1, 10)))
    elif dressing < 0.05:
        text = rng.choice(("Tel: ", "tel:", "call ")) + text
    elif dressing < 0.07:
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice("xABCxyz\u0416\u5341") + text[place:]
    elif dressing < 0.10:
        text = rng.choice(NOISE + "#,;~()") + text
    elif dressing < 0.13:
        text += rng.choice(NOISE + "#,;~().\u30fc")
    elif dressing < 0.15:
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice(NOISE + "+") + text[place:]
    if rng.random() < 0.02:
        region = rng.choice(("ZZ", "us", "001", "", "USA", "AQ"))
    return text, region


def hostile(rng, regional):
    text = "".join(rng.choices(HOSTILE, k=rng.choice((0, 1, 2, 3, 4, 5, 8, 12, 20, 40, 63, 64, 65, 90))))
    if rng.random() < 0.3:
        text = rng.choice("0123456789") * rng.randint(1, 66)
    if rng.random() < 0.3:
        text = "+" + text
    return text, rng.choice((None, rng.choice(regional).id))


def judged(text, region):
    """What phonenumbers says."""
    try:
        parsed = p.parse(text, region)
    except p.NumberParseException as error:
        kind = error.error_type
        if kind == p.NumberParseException.INVALID_COUNTRY_CODE:
            return {"reason": "region_needed" if "default region" in str(error) else "unknown_country_code"}
        if kind == p.NumberParseException.NOT_A_NUMBER:
            return {"reason": "not_a_number"}
        return {"reason": "too_long" if kind == p.NumberParseException.TOO_LONG else "too_short"}
    if not p.is_valid_number(parsed):
        possible = p.is_possible_number_with_reason(parsed)
        if possible in (p.ValidationResult.TOO_SHORT, p.ValidationResult.IS_POSSIBLE_LOCAL_ONLY):
            return {"reason": "too_short"}
        return {"reason": "too_long" if possible == p.ValidationResult.TOO_LONG else "not_in_plan"}
    return {
        "e164": p.format_number(parsed, p.PhoneNumberFormat.E164),
        "region": p.region_code_for_number(parsed),
        "type": p.PhoneNumberType.to_string(p.number_type(parsed)).lower(),
    }


def is_letter(c):
    return unicodedata.category(c)[0] == "L" and c != "\u30fc"


def ascii_lower(text):
    return "".join(c.lower() if c.isascii() else c for c in text)


def digits(text):
    return sum(c.isdecimal() for c in text)


def refused(text, region):
    """Why the service refuses what phonenumbers may take; None where it does not."""
    if len(text) > LIMIT:
        return "too_many_characters"
    if region is not None and region not in p.SUPPORTED_REGIONS:
        return "region_unknown"
    letters = [place for place, c in enumerate(text) if is_letter(c)]
    if letters:
        start, end = letters[0], letters[0]
        while end < len(text) and is_letter(text[end]):
            end += 1
        is_extension = ascii_lower(text[start:end]) in ("x", "ext", "extn", "extension") and digits(text[:start]) >= 3
        return "extension" if is_extension and digits(text[end:]) > 0 and letters[-1] < end else "letters"
    starts = [place for place, c in enumerate(text) if c in "+\uff0b" or c.isdecimal()]
    if not starts:
        return None
    ends = [place for place, c in enumerate(text) if c in "#\u30fc" or unicodedata.category(c)[0] == "N"]
    number = text[starts[0]:ends[-1] + 1] if ends else ""
    for place, c in enumerate(number):
        # A tilde after one digit waits for a tone: 8~10 in Russia.
        if c in "#\uff03,;" or c in TILDES and digits(number[:place]) > 1:
            is_code = text[:starts[0]].endswith(("*", "#")) or digits(number[:place]) < 3
            return "not_a_number" if is_code else "extension"
    rest = number.lstrip("+\uff0b")
    is_dialled = all(c.isdecimal() or c in DIALLED + TILDES for c in rest)
    is_short = 0 < digits(number) < 3 and not (digits(number) == 2 and len(number) == 2)
    return "too_short" if is_dialled and is_short else None


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    known = plans()
    regional = [plan for plan in known if plan.id != "001"]
    for _ in range(count):
        text, region = hostile(rng, regional) if rng.random() < 0.1 else number(rng, known, regional)
        # The service takes a link (RFC 3966) by its number.
        bare = text.lstrip()[4:] if text.lstrip()[:4].lower() == "tel:" else text
        verdict, reason = judged(bare, region), "too_many_characters" if len(text) > LIMIT else refused(bare, region)
        stricter = reason is not None and "e164" in verdict
        line = {"text": text, "region": region, "verdict": {"reason": reason} if reason else verdict, "stricter": stricter}
        print(json.dumps(line))


if __name__ == "__main__":
    main()
