"""Judges the check digits of machine readable zones with the `mrz` package, which shares no code with ours.

Reads one JSON value per line on standard input:
{"read": zone with line feeds}      -> {"field": whether its check digit fits, ...}
{"write": {"format": "TD1", ...}}   -> {"zone": the zone that the package writes}
and writes one JSON value per line.
"""

import json
import sys

from mrz.checker.td1 import TD1CodeChecker
from mrz.checker.td2 import TD2CodeChecker
from mrz.checker.td3 import TD3CodeChecker
from mrz.generator.td1 import TD1CodeGenerator
from mrz.generator.td2 import TD2CodeGenerator
from mrz.generator.td3 import TD3CodeGenerator

CHECKERS = {30: TD1CodeChecker, 36: TD2CodeChecker, 44: TD3CodeChecker}
GENERATORS = {"TD1": TD1CodeGenerator, "TD2": TD2CodeGenerator, "TD3": TD3CodeGenerator}


def read(zone):
    checker = CHECKERS[len(zone.split("\n")[0])](zone)
    fields = {
        "document_number": checker.document_number_hash,
        "date_of_birth": checker.birth_date_hash,
        "date_of_expiry": checker.expiry_date_hash,
        "composite": checker.final_hash,
    }
    if isinstance(checker, TD3CodeChecker):
        fields["optional_data"] = checker.optional_data_hash
    return fields


def write(card):
    names = ("code", "state", "number", "birth", "sex", "expiry", "nationality", "family", "given")
    values = [card[name] for name in names]
    if card["format"] != "TD1":
        code, state, number, birth, sex, expiry, nationality, family, given = values
        values = [code, state, family, given, number, nationality, birth, sex, expiry]
    return {"zone": str(GENERATORS[card["format"]](*values, card["optional"], force=True))}


def main():
    for line in sys.stdin:
        entry = json.loads(line)
        print(json.dumps(read(entry["read"]) if "read" in entry else write(entry["write"])))


if __name__ == "__main__":
    main()
