"""A thief with a provider's key adds keys of its own and signs users in; then the provider's admins follow the runbook.

`steal` leaves what it did in `--left`; `mended` looks that none of it counts any more, and that the new key does.
"""

import json
from pathlib import Path

from cryptography.hazmat.primitives import serialization

from Shared import options
from Shared.checks import accepted, equal, refused, soon
from Shared.client import Device, new_key


def pem(key):
    """A private key as text."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


def device(chosen):
    """A certified device."""
    made = Device(chosen.public, chosen.client, chosen.ca, "EC")
    accepted(made.certify(), 201)
    return made


def steal(chosen):
    """Two keys, one added by the other, and a session by the first and by the last of the chain."""
    leaked = options.provider(chosen)
    holders = [leaked]
    for _ in range(2):
        key = new_key("EC")
        holders.append(holders[-1].holding(key, accepted(holders[-1].add_key(key), 201)["key_id"]))
    phone = device(chosen)
    for holder in (leaked, holders[-1]):
        accepted(phone.create_session(holder.identity_token(f"user of {holder.key_id}", phone.nonce())), 201)
    Path(chosen.left).write_text(json.dumps([[pem(holder.key), holder.key_id] for holder in holders]))
    print(f"{len(holders)} keys")


def mended(chosen):
    """Nothing of the chain signs anything, and the new key does what the old one did."""
    leaked = options.provider(chosen)
    phone = device(chosen)
    for text, key_id in json.loads(Path(chosen.left).read_text()):
        holder = leaked.holding(serialization.load_pem_private_key(text.encode(), None), key_id)
        # Another process revoked it: a second may pass.
        soon(lambda holder=holder: holder.record().status_code == 401, "the key is taken")
        refused(holder.record(), 401, "provider_token_invalid")
        refused(holder.add_key(new_key("EC")), 401, "provider_token_invalid")
        refused(
            phone.create_session(holder.identity_token("thief", phone.nonce())), 422, "invalid_identity_token",
            "key_retired")
    new = leaked.holding(
        serialization.load_pem_private_key(Path(chosen.new_key).read_bytes(), None), chosen.new_key_id)
    keys = accepted(new.record())["keys"]
    equal([key["state"] for key in keys], ["revoked", "revoked", "revoked", "active"], "the keys' states")
    accepted(phone.create_session(new.identity_token("owner", phone.nonce())), 201)
    print("mended")


def main():
    parser = options.parser(__doc__)
    parser.add_argument("phase", choices=("steal", "mended"))
    for name in ("left", "new-key", "new-key-id"):
        parser.add_argument(f"--{name}", required=name == "left")
    chosen = parser.parse_args()
    {"steal": steal, "mended": mended}[chosen.phase](chosen)


if __name__ == "__main__":
    main()
