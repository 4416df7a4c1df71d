"""Chains of Android's Key Attestation, minted with a writer of DER of their own."""

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ObjectIdentifier

from Attestation.certificates import certificate, der

DESCRIPTION = ObjectIdentifier("1.3.6.1.4.1.11129.2.1.17")


def item(tag, content):
    """A tag of any size, the length and the content."""
    size = len(content)
    if size < 128:
        length = bytes([size])
    else:
        octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
        length = bytes([0x80 | len(octets)]) + octets
    return tag + length + content


def explicit(number, content):
    """A context-specific tag around an item."""
    if number < 31:
        return item(bytes([0xA0 | number]), content)
    digits = [number & 127]
    while number := number >> 7:
        digits.append(0x80 | number & 127)
    return item(bytes([0xBF, *reversed(digits)]), content)


def integer(value):
    return item(b"\x02", value.to_bytes(value.bit_length() // 8 + 1, "big"))


def enumerated(value):
    return item(b"\x0a", bytes([value]))


def octets(value):
    return item(b"\x04", value)


def sequence(*parts):
    return item(b"\x30", b"".join(parts))


def sets(*parts):
    return item(b"\x31", b"".join(parts))


def description(digest, package, signer, level=1, locked=True, state=0, patch=202603):
    """KeyDescription of KeyMint 3 for a key that signs."""
    application = sequence(sets(sequence(octets(package.encode()), integer(1))), sets(octets(signer)))
    boot = sequence(octets(bytes(32)), item(b"\x01", b"\xff" if locked else b"\0"), enumerated(state), octets(bytes(32)))
    hardware = sequence(
        explicit(1, sets(integer(2), integer(3))), explicit(2, integer(3)), explicit(3, integer(256)),
        explicit(702, integer(0)), explicit(704, boot), explicit(705, integer(160000)), explicit(706, integer(patch)))
    return sequence(
        integer(300), enumerated(level), integer(300), enumerated(level), octets(digest), octets(b""),
        sequence(explicit(701, integer(1_790_000_000_000)), explicit(709, octets(application))), hardware)


class AndroidKeys:
    """Google's root, and the authority of one batch of devices."""

    def __init__(self):
        self.root_key, self.batch_key = (ec.generate_private_key(ec.SECP384R1()) for _ in range(2))
        self.root = certificate("Root", "Root", self.root_key.public_key(), self.root_key, days=3650, authority=True)
        self.batch = certificate("batch", "Root", self.batch_key.public_key(), self.root_key, days=3000, authority=True)

    def chain(self, key, described):
        """What the key store returns, without the root."""
        extension = x509.UnrecognizedExtension(DESCRIPTION, described)
        leaf = certificate("key", "batch", key.public_key(), self.batch_key, days=3000, extension=extension)
        return [der(leaf), der(self.batch)]
