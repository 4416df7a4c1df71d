"""Walks through the whole wire contract against running listeners, as an app and a backend would.

    python3 flow.py --public URL --client URL --ops URL --ca FILE --provider FILE --provider-key FILE

`--provider` is what `countersign provider add --json` printed. Start the service with `--limits off` to run this more
than once an hour. Prints one line a step and closes with `N passed, N failed`.
"""

import argparse
import json
import sys
import time
import traceback
from pathlib import Path

from cryptography.hazmat.primitives import serialization

from Sessions import backend
from Cards import cards
from Certificates import certification
from Sessions import held
from Shared import phones
from Sessions import sessions
from Shared import transport
from Shared.checks import STEPS, World
from Shared.client import TIMEOUT, https
from Shared.provider import Provider

# First the devices that the rest uses, last the end of a certificate.
MODULES = [module.__name__ for module in (certification, transport, sessions, held, phones, cards, backend)]
LAST = [certification.self_revocation, certification.revocation_list]


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("public", "client", "ops"):
        parser.add_argument(f"--{name}", required=True, metavar="URL")
    parser.add_argument("--ca", required=True, metavar="FILE", help="the authority of the server's certificate")
    parser.add_argument("--provider", required=True, metavar="FILE")
    parser.add_argument("--provider-key", required=True, metavar="FILE", help="its private key, PEM")
    parser.add_argument(
        "--texts", metavar="FILE", help="what the file sender writes; by default texts.jsonl beside the provider's file")
    parser.add_argument("--only", metavar="STEP", action="append", help="runs this step alone; may be repeated")
    return parser.parse_args()


def world(options):
    """The world that the steps act in; the realm is what the service says it is."""
    with https(options.ca) as session:
        realm = session.get(options.public + "/.well-known/countersign", timeout=TIMEOUT).json()["realm"]
    key = serialization.load_pem_private_key(Path(options.provider_key).read_bytes(), password=None)
    registration = json.loads(Path(options.provider).read_text())
    provider = Provider(options.public, options.ca, registration, key, realm)
    texts = options.texts or Path(options.provider).parent / "texts.jsonl"
    return World(options.public, options.client, options.ops, options.ca, provider, texts)


def ordered(only):
    """The steps in the order in which they build on each other."""
    steps = sorted(STEPS, key=lambda step: (step in LAST, MODULES.index(step.__module__)))
    return [step for step in steps if not only or step.__name__ in only]


def run(step, world):
    """Runs one step, says how it went, and gives whether it passed."""
    started = time.monotonic()
    try:
        step(world)
    except AssertionError as error:
        print(f"FAILED  {step.__name__}: {step.__doc__}\n        {error}", flush=True)
        return False
    except Exception:
        print(f"FAILED  {step.__name__}: {step.__doc__}\n{traceback.format_exc()}", flush=True)
        return False
    print(f"passed  {step.__name__}: {step.__doc__} ({time.monotonic() - started:.2f} s)", flush=True)
    return True


def main():
    """Runs every step, also after failures."""
    options = arguments()
    place = world(options)
    try:
        results = [run(step, place) for step in ordered(options.only)]
    finally:
        place.close()
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
