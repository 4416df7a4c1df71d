"""Has two validators that share no code judge `openapi.json`, and plants errors that each of them must find."""

import argparse
import copy
import json
from pathlib import Path

import openapi_pydantic
import pydantic
from openapi_spec_validator import OpenAPIV31SpecValidator

from Shared.checks import equal, expect


def defects(document):
    """What the schema of OpenAPI and the rules beside it find, such as an operation's id that is there twice."""
    return [str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()]


def is_read(document):
    """Whether the document fits the types that others generate their code from."""
    try:
        openapi_pydantic.parse_obj(document)
    except pydantic.ValidationError:
        return False
    return True


def planted(document, error):
    """A copy with an error."""
    broken = copy.deepcopy(document)
    error(broken["paths"])
    return broken


def repeat_id(paths):
    paths["/ssf/streams"]["delete"]["operationId"] = paths["/streams/{id}"]["delete"]["operationId"]


def forget_parameter(paths):
    paths["/streams/{id}"]["get"]["parameters"] = []


def mistype_description(paths):
    paths["/me"]["get"]["responses"]["200"]["description"] = 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, type=Path)
    document = json.loads((parser.parse_args().root / "Sources/API/openapi.json").read_text())
    equal(defects(document), [], "what the first validator finds")
    expect(is_read(document), "the second validator refuses it")
    for error in (repeat_id, forget_parameter, mistype_description):
        expect(defects(planted(document, error)), f"the first validator does not find {error.__name__}")
    expect(not is_read(planted(document, mistype_description)), "the second validator does not find a mistyped description")
    print(f"{len(document['paths'])} paths")


if __name__ == "__main__":
    main()
