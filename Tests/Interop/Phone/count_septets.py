"""Counts the septets of texts with gsm0338, a codec of the alphabet of 3GPP TS 23.038.

Reads JSON lines on standard input, each a text; prints a line for each: the count, or -1 where the alphabet lacks one
of its characters.
"""

import json
import sys

from gsm0338 import Codec


def septets(codec, text):
    try:
        return len(codec.encode(text)[0])
    except UnicodeEncodeError:
        return -1


def main():
    codec = Codec()
    print("\n".join(str(septets(codec, json.loads(line))) for line in sys.stdin))


if __name__ == "__main__":
    main()
