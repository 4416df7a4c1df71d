"""Values that no client sends: numbers at the ends of their types, texts with every kind of odd character, and good values
with a part of them changed, inside of base64url and of signed tokens too."""

import base64
import binascii
import json
import re
import string

NUMBERS = [
    "-9223372036854775808", "-9223372036854775809", "9223372036854775807", "9223372036854775808", "18446744073709551616",
    "-1", "-0", "0", "1", "4503599627370496", "2147483648", "-2147483649", "65536", "256", "1e308", "-1e308", "1e-320",
    "9" * 32, "9" * 400, "00", "0x7f", "253402300800", "1.7976931348623157e308", "NaN", "Infinity", "\u0661\u0662\u0663",
]
TEXTS = [
    "", " ", "\x00", "a\x00b", "\x7f", "\x85", "\u00a0", "\u00ad", "\u202e", "\ufeff", "\uffff", "\U0010ffff", "\u0301",
    "e\u0301", "\u00e9", "\u212a", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "'", "\"", "\\", "/", "//",
    "../..", "%", "%00", "%ff", "%zz", "%2e%2e%2f", "+", "&", "=", "a=b&a=c", ";", "#", "?", "\r\n", "\n", "\t", "{}", "[]",
    "null", "true", "-----BEGIN PUBLIC KEY-----", "@", ":", "::1", "a" * 63, "a" * 64, "a" * 255, "a" * 256, "a" * 257,
    "\u00df" * 300, "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 20, "(" * 500, "9" * 64, "." * 300, "-" * 300,
]
JSON = [
    None, True, False, 0, -1, 1, 2**63 - 1, -(2**63), 2**63, 2**64, -(2**63) - 1, 10**30, 1e308, -1e308, 1e-320, 0.1, 4.0,
    253402300799.9, -0.0, [], {}, [[]], [None] * 256, {"a": 1}, {"": ""}, ["a", 1, None, {}],
]


def odd_text(random):
    """A text of odd characters."""
    kind = random.randrange(4)
    if kind == 0:
        return random.choice(TEXTS)
    if kind == 1:
        return random.choice(NUMBERS)
    if kind == 2:
        return "".join(chr(random.choice([random.randrange(0x20), random.randrange(0x20, 0x7f), random.randrange(0x80, 0xd800),
                                          random.randrange(0xe000, 0x110000)])) for _ in range(random.randrange(1, 40)))
    return random.choice(TEXTS) + random.choice(NUMBERS) + random.choice(TEXTS)


def changed_bytes(data, random):
    """Bytes with one change, that keeps most of them."""
    data = bytearray(data)
    place = random.randrange(len(data) + 1)
    kind = random.randrange(6)
    if kind == 0 and data:
        data[place % len(data)] ^= 1 << random.randrange(8)
    elif kind == 1 and data:
        data[place % len(data)] = random.choice([0, 0x7f, 0x80, 0xff, 0x30, 0x84])
    elif kind == 2:
        del data[place:place + random.randrange(1, 9)]
    elif kind == 3:
        data[place:place] = random.randbytes(random.randrange(1, 9))
    elif kind == 4:
        data[place:] = b""
    else:
        data[place:place] = data[:random.randrange(64)]
    return bytes(data)


def changed_number(text, random):
    """A text in which one of its numbers is another."""
    found = list(re.finditer(r"-?\d+", text))
    if not found:
        return odd_text(random)
    chosen = random.choice(found)
    return text[:chosen.start()] + random.choice(NUMBERS) + text[chosen.end():]


def changed_text(text, random):
    """A text with one change."""
    place = random.randrange(len(text) + 1)
    kind = random.randrange(5)
    if kind == 0:
        return changed_number(text, random)
    if kind == 1:
        return text[:place] + odd_text(random) + text[place:]
    if kind == 2:
        return text[:place] + text[place + random.randrange(1, 5):]
    if kind == 3:
        return text[:place] + random.choice(string.printable) + text[place + 1:]
    return text + text[place:]


def decoded(text):
    """What a text says in base64, standard or url, and which of them it is; `None` where it is neither."""
    for alphabet in ("-_", "+/"):
        try:
            padded = text + "=" * (-len(text) % 4)
            data = base64.b64decode(padded.encode(), altchars=alphabet.encode(), validate=True)
            return (data, alphabet) if len(data) > 3 else None
        except (binascii.Error, ValueError):
            continue
    return None


def changed_inside(text, random):
    """A text of base64 with a change inside of it: a number, a character, a byte."""
    found = decoded(text)
    if not found:
        return changed_text(text, random)
    data, alphabet = found
    try:
        inner = data.decode()
        data = random.choice([changed_number, changed_text])(inner, random).encode()
    except UnicodeDecodeError:
        data = changed_bytes(data, random)
    return base64.b64encode(data, altchars=alphabet.encode()).decode().rstrip("=")


def changed_pem(text, random):
    """A PEM text with a change in the bytes that it holds."""
    lines = text.strip().splitlines()
    data = changed_bytes(base64.b64decode("".join(lines[1:-1])), random)
    body = base64.b64encode(data).decode()
    return "\n".join([lines[0], *(body[at:at + 64] for at in range(0, len(body), 64)), lines[-1], ""])


def changed_token(text, random):
    """A token of parts with a change inside of one of them; its signature holds no more."""
    parts = text.split(".")
    chosen = random.randrange(len(parts))
    try:
        value = json.loads(decoded(parts[chosen])[0])
        name = random.choice(list(value) + ["crit", "x"])
        value[name] = odd_json(random)
        parts[chosen] = base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    except (TypeError, ValueError):
        parts[chosen] = changed_inside(parts[chosen], random)
    return ".".join(parts)


def ends(value):
    """A good value with characters that no store keeps beside it, and numbers at the ends of their types in place of it and
    of the first number in it, also in base64."""
    if isinstance(value, str):
        yield from ("\x00" + value, value + "\x00", value + "\u202e\u0000", value + "a" * 3000)
    for number in NUMBERS[:5] + ["1e308"]:
        yield number
        if isinstance(value, str) and "." not in value:
            yield re.sub(r"-?\d+", number, value, count=1)
            found = decoded(value)
            if found and found[0].isascii():
                inner = re.sub(r"-?\d+", number, found[0].decode(), count=1).encode()
                yield base64.b64encode(inner, altchars=found[1].encode()).decode().rstrip("=")


def odd_json(random):
    """A value of any kind."""
    return random.choice([random.choice(JSON), odd_text(random), odd_text(random)])


def odd(value, random):
    """A value in place of a good one, which mostly keeps something of it."""
    if not isinstance(value, str) or random.random() < 0.3:
        return odd_json(random)
    if value.startswith("-----BEGIN"):
        return random.choice([changed_pem, changed_pem, changed_text])(value, random)
    if value.count(".") == 2 and value.startswith("ey"):
        return random.choice([changed_token, changed_token, changed_text])(value, random)
    return random.choice([changed_inside, changed_text, changed_number])(value, random)
