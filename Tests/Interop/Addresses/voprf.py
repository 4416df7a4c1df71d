"""The client's half of RFC 9497's VOPRF over P384-SHA384, written from the RFC and RFC 9380 alone: the judge of the service.

    python3 voprf.py        tries the RFC's own vectors (Appendix A.4.2), which lie beside this file
"""

import hashlib
import json
import secrets
from pathlib import Path

P = 2**384 - 2**128 - 2**96 + 2**32 - 1
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973
A = -3 % P
B = 0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF
G = (0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
     0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F)
Z = -12 % P
CONTEXT = b"OPRFV1-\x01-P384-SHA384"


def add(one, other):
    """The sum of two points; `None` is the identity."""
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % P == 0:
        return None
    slope = (3 * x1 * x1 + A) * pow(2 * y1, -1, P) if one == other else (y2 - y1) * pow(x2 - x1, -1, P)
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def times(scalar, point):
    """A multiple of a point."""
    total = None
    for bit in bin(scalar % N)[2:]:
        total = add(total, total)
        if bit == "1":
            total = add(total, point)
    return total


def encode(point):
    """The compressed form (SEC 1 §2.3.3)."""
    return bytes([2 + (point[1] & 1)]) + point[0].to_bytes(48, "big")


def decode(data):
    """A point of its compressed form."""
    assert len(data) == 49 and data[0] in (2, 3), "no compressed point"
    x = int.from_bytes(data[1:], "big")
    square = (pow(x, 3, P) + A * x + B) % P
    y = pow(square, (P + 1) // 4, P)
    assert x < P and y * y % P == square, "no point of the curve"
    return x, y if y & 1 == data[0] & 1 else P - y


def expand(message, tag, length):
    """expand_message_xmd with SHA-384 (RFC 9380 §5.3.1)."""
    tag += bytes([len(tag)])
    first = hashlib.sha384(bytes(128) + message + length.to_bytes(2, "big") + b"\0" + tag).digest()
    block = hashlib.sha384(first + b"\1" + tag).digest()
    blocks = [block]
    while len(blocks) * 48 < length:
        block = hashlib.sha384(
            bytes(a ^ b for a, b in zip(first, block)) + bytes([len(blocks) + 1]) + tag).digest()
        blocks.append(block)
    return b"".join(blocks)[:length]


def map_to_curve(u):
    """The simplified SWU method (RFC 9380 §6.6.2)."""
    t = (Z * Z * pow(u, 4, P) + Z * u * u) % P
    x = -B * pow(A, -1, P) * (1 + pow(t, -1, P)) % P if t else B * pow(Z * A, -1, P) % P
    square = (pow(x, 3, P) + A * x + B) % P
    y = pow(square, (P + 1) // 4, P)
    if y * y % P != square:
        x = Z * u * u * x % P
        square = (pow(x, 3, P) + A * x + B) % P
        y = pow(square, (P + 1) // 4, P)
    return x, y if y & 1 == u & 1 else P - y


def hash_to_group(message):
    """P384_XMD:SHA-384_SSWU_RO_ (RFC 9380 §8.3)."""
    uniform = expand(message, b"HashToGroup-" + CONTEXT, 144)
    return add(*(map_to_curve(int.from_bytes(uniform[place:place + 72], "big") % P) for place in (0, 72)))


def hash_to_scalar(message):
    """A number below the order of the group."""
    return int.from_bytes(expand(message, b"HashToScalar-" + CONTEXT, 72), "big") % N


def framed(*parts):
    """Each part after its length."""
    return b"".join(len(part).to_bytes(2, "big") + part for part in parts)


def blind(message, scalar=None):
    """A blinded message, and the scalar that unblinds it."""
    scalar = scalar or secrets.randbelow(N - 1) + 1
    return scalar, encode(times(scalar, hash_to_group(message)))


def proves(public_key, blinded, evaluated, proof):
    """Whether a proof says that these elements were evaluated by the key (RFC 9497 §2.2.2)."""
    challenge, answer = (int.from_bytes(part, "big") for part in (proof[:48], proof[48:]))
    seed = hashlib.sha384(framed(public_key, b"Seed-" + CONTEXT)).digest()
    first, second = None, None
    for place, (one, other) in enumerate(zip(blinded, evaluated)):
        factor = hash_to_scalar(framed(seed) + place.to_bytes(2, "big") + framed(one, other) + b"Composite")
        first, second = add(first, times(factor, decode(one))), add(second, times(factor, decode(other)))
    third = add(times(answer, G), times(challenge, decode(public_key)))
    fourth = add(times(answer, first), times(challenge, second))
    transcript = framed(public_key, *(encode(point) for point in (first, second, third, fourth))) + b"Challenge"
    return hash_to_scalar(transcript) == challenge


def finalize(message, scalar, evaluated):
    """The output for a message, of its evaluated element."""
    unblinded = encode(times(pow(scalar, -1, N), decode(evaluated)))
    return hashlib.sha384(framed(message, unblinded) + b"Finalize").digest()


def try_vectors():
    """The vectors of RFC 9497 A.4.2."""
    vectors = json.loads((Path(__file__).parent / "voprf_vectors.json").read_text())
    public_key = bytes.fromhex(vectors["pkSm"])
    assert encode(times(int(vectors["skSm"], 16), G)).hex() == vectors["pkSm"]
    for vector in vectors["vectors"]:
        def parts(name, vector=vector):
            return [bytes.fromhex(part) for part in vector[name].split(",")]
        blinds = [int.from_bytes(part, "big") for part in parts("Blind")]
        for message, scalar, blinded, evaluated, output in zip(
                parts("Input"), blinds, parts("BlindedElement"), parts("EvaluationElement"), parts("Output")):
            assert blind(message, scalar) == (scalar, blinded), "a blinded element"
            assert finalize(message, scalar, evaluated) == output, "an output"
        proof = bytes.fromhex(vector["Proof"]["proof"])
        assert proves(public_key, parts("BlindedElement"), parts("EvaluationElement"), proof), "a proof"
        assert not proves(public_key, parts("BlindedElement"), parts("BlindedElement"), proof), "another's proof"


if __name__ == "__main__":
    try_vectors()
