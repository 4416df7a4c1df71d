"""The barcode of an invented card, as the AAMVA standard (version 10) says, with the values of the standard's own example
and another birthday and number, unless others are asked for. A card with the example's would wait for a reviewer."""

import base64

NAMES = {
    "number": "DAQ", "family": "DCS", "given": "DAC", "middle": "DAD", "issue": "DBD", "birth": "DBB", "expiry": "DBA",
    "street": "DAG", "city": "DAI", "jurisdiction": "DAJ", "postal_code": "DAK",
}
SAMPLE = {
    "DAQ": "T64225789", "DCS": "SAMPLE", "DDE": "N", "DAC": "MICHAEL", "DDF": "N", "DAD": "JOHN", "DDG": "N", "DCU": "JR",
    "DCA": "D", "DCB": "K", "DCD": "PH", "DBD": "06062024", "DBB": "06161986", "DBA": "12102060", "DBC": "1",
    "DAU": "068 in", "DAY": "BRO", "DAG": "2300 WEST BROAD STREET", "DAI": "RICHMOND", "DAJ": "VA", "DAK": "232690000",
    "DCF": "2424244747474786102204", "DCG": "USA", "DDA": "F", "DDB": "06062024", "DDD": "0", "DDK": "1", "DDL": "1",
}


def day(value):
    """A date of year, month and day as cards of the US write it; any other value as it is."""
    return f"{value[1]:02}{value[2]:02}{value[0]:04}" if isinstance(value, tuple) else value


def barcode(credential=None, **changes):
    """The text of a Virginian driver's licence; `changes` are named as in NAMES, `None` leaves an element out. A
    `credential` is the text of the element ZZA."""
    elements = SAMPLE | {NAMES[name]: day(value) for name, value in changes.items()}
    primary = "DL" + "\n".join(name + value for name, value in elements.items() if value is not None) + "\r"
    subfiles = {"DL": primary, "ZV": "ZVZVA01\r"} | ({"ZZ": f"ZZZZA{credential}\r"} if credential else {})
    header = f"@\n\x1e\rANSI 6360001000{len(subfiles):02}"
    begins = len(header) + 10 * len(subfiles)
    for kind, text in subfiles.items():
        header += f"{kind}{begins:04}{len(text):04}"
        begins += len(text)
    return header + "".join(subfiles.values())


def aamva(**changes):
    """The member that `POST /identity-cards` takes."""
    return encoded(barcode(**changes))


def encoded(text):
    """A text as the member `aamva` holds it."""
    return base64.b64encode(text.encode()).decode()
