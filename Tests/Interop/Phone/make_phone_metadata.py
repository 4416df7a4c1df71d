"""Writes Sources/PhoneNumbers/PhoneMetadata.swift from the metadata of libphonenumber, as PyPI's phonenumbers ships it.

    python Tests/Interop/Phone/make_phone_metadata.py > Sources/PhoneNumbers/PhoneMetadata.swift

The output depends on the version of phonenumbers alone, which requirements.txt pins: a test makes it anew and compares.
Only what reading, validity and type need is kept: no formats, no examples. The patterns stay as they are, regular
expressions over digits; one in a syntax that Sources/PhoneNumbers/DigitPattern.swift does not read ends the script.
"""

import re
import sys

import phonenumbers
from phonenumbers import phonemetadata

HEAD = """\
// swift-format-ignore-file
// Made by Tests/Interop/Phone/make_phone_metadata.py from phonenumbers {version}: change the script, not this file.
//
// The metadata is libphonenumber's, condensed to what reading, validity and type need.
// Copyright (C) The Libphonenumber Authors. Licensed under the Apache License, Version 2.0 (the "License"); you may not
// use it except in compliance with the License. You may obtain a copy of the License at
// http://www.apache.org/licenses/LICENSE-2.0. Distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY
// KIND, either express or implied.

/// The numbering plans of the world, one region a line. It is a string literal, because the compiler takes seconds for
/// as many bytes in an array.
///
/// A line has the country calling code, the region (`001`: none) and `name=value` fields. Of the regions that share a
/// code the main one comes first. The kinds of number are in the order in which they are tried. If a kind's lengths
/// differ from the plan's, they come before its pattern, with a slash between.
enum PhoneMetadata {{
    static let rows = #\"\"\"
"""

TAIL = '''\
"""#
}
'''

# The order in which libphonenumber tries the kinds (`_number_type_helper`).
KINDS = ("premium_rate", "toll_free", "shared_cost", "voip", "personal_number", "pager", "uan", "voicemail")

# Digits, \\d and classes of digits, each perhaps repeated so many times; groups, alternatives, the end of the text.
SYNTAX = re.compile(r"(?:(?:\d|\\d|\[[\d-]+\]|\))(?:\?|\{\d+(?:,\d+)?\})?|\(\?:|\(|\||\$)+")


def pattern(text):
    re.compile(text)
    if not SYNTAX.fullmatch(text):
        sys.exit(f"a pattern in a syntax that DigitPattern does not read: {text}")
    return text


def lengths(numbers):
    return ",".join(map(str, numbers))


def kind(description, general):
    """The value of a kind's field, or None where the plan has no such numbers."""
    if description is None or not description.national_number_pattern or description.possible_length == (-1,):
        return None
    text = pattern(description.national_number_pattern)
    if description.possible_length in ((), general.possible_length):
        return text
    return lengths(description.possible_length) + "/" + text


def fields(metadata):
    general = metadata.general_desc
    if metadata.international_prefix:
        yield "international_prefix", pattern(metadata.international_prefix)
    if metadata.national_prefix_for_parsing:
        yield "national_prefix", pattern(metadata.national_prefix_for_parsing)
        if metadata.national_prefix_transform_rule:
            yield "transform", metadata.national_prefix_transform_rule
    if metadata.leading_digits:
        yield "leading_digits", pattern(metadata.leading_digits)
    yield "lengths", lengths(general.possible_length)
    if general.possible_length_local_only:
        yield "local_lengths", lengths(general.possible_length_local_only)
    yield "general", pattern(general.national_number_pattern)
    for name in KINDS:
        value = kind(getattr(metadata, name), general)
        if value is not None:
            yield name, value
    fixed, mobile = kind(metadata.fixed_line, general), kind(metadata.mobile, general)
    if metadata.same_mobile_and_fixed_line_pattern and fixed != mobile:
        sys.exit(f"{metadata.id}: one pattern for fixed and mobile lines is announced, two are there")
    if fixed is not None and fixed == mobile:
        yield "fixed_line_or_mobile", fixed
    else:
        if fixed is not None:
            yield "fixed_line", fixed
        if mobile is not None:
            yield "mobile", mobile


def main():
    out = [HEAD.format(version=phonenumbers.__version__)]
    for code, regions in sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()):
        for region in regions:
            metadata = phonemetadata.PhoneMetadata.metadata_for_region_or_calling_code(code, region)
            if metadata.country_code != code or max(metadata.general_desc.possible_length) > 31:
                sys.exit(f"{region}: not a plan as they are known")
            row = " ".join([str(code), region] + [f"{name}={value}" for name, value in fields(metadata)])
            out.append(row + "\n")
    out.append(TAIL)
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
