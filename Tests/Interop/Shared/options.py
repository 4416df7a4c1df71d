"""What the scripts beside `flow.py` share: the command line and the provider."""

import argparse
import json
from pathlib import Path

from cryptography.hazmat.primitives import serialization

from Shared.client import TIMEOUT, https
from Shared.provider import Provider


def parser(description):
    """A parser with the options that every script has."""
    made = argparse.ArgumentParser(description=description)
    for name in ("public", "client", "ops", "ca", "provider", "provider-key"):
        made.add_argument(f"--{name}", required=True)
    return made


def provider(options):
    """The provider of the options; the realm is what the service says it is."""
    with https(options.ca) as session:
        realm = session.get(options.public + "/.well-known/countersign", timeout=TIMEOUT).json()["realm"]
    key = serialization.load_pem_private_key(Path(options.provider_key).read_bytes(), password=None)
    return Provider(options.public, options.ca, json.loads(Path(options.provider).read_text()), key, realm)
