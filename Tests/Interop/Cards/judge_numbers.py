"""Judges national numbers with python-stdnum, which shares no code with ours.

Reads a state's code of ICAO and a number per line, with a blank between, and writes `True` or `False` for each.
"""

import sys

from stdnum.be import nn
from stdnum.bg import egn
from stdnum.cz import rc
from stdnum.ee import ik
from stdnum.es import dni, nie
from stdnum.hr import oib
from stdnum.lt import asmens
from stdnum.pl import pesel
from stdnum.ro import cnp
from stdnum.se import personnummer

JUDGES = {
    "BEL": nn.is_valid, "BGR": egn.is_valid, "EST": ik.is_valid, "HRV": oib.is_valid, "ROU": cnp.is_valid,
    "SWE": personnummer.is_valid, "LTU": asmens.is_valid, "POL": pesel.is_valid, "CZE": rc.is_valid, "SVK": rc.is_valid,
    "ESP": lambda number: dni.is_valid(number) or nie.is_valid(number),
}


def main():
    for line in sys.stdin:
        state, number = line.split()
        print(JUDGES[state](number))


if __name__ == "__main__":
    main()
