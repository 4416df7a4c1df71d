"""Certifies sixteen devices at once, opens a session with one of them, and leaves its certificate and the revocation
list in files for another judge."""

import concurrent.futures
from pathlib import Path

from cryptography.hazmat.primitives import serialization

from Shared import options
from Shared.checks import accepted, expect
from Shared.client import TIMEOUT, Device, https


def main():
    parser = options.parser(__doc__)
    for name in ("leaf", "list"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    provider = options.provider(chosen)
    devices = [Device(chosen.public, chosen.client, chosen.ca, "EC") for _ in range(16)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for answer in pool.map(lambda device: device.certify(device.layer_csr()), devices):
            accepted(answer, 201)
    expect(len({device.certificate.serial_number for device in devices}) == 16, "two serials are the same")
    device = devices[0]
    accepted(device.create_session(provider.identity_token("user", device.nonce())), 201)
    Path(chosen.leaf).write_bytes(device.certificate.public_bytes(serialization.Encoding.PEM))
    with https(chosen.ca) as public:
        answer = public.get(
            chosen.public + "/certificates/revocations", headers={"Accept": "application/x-pem-file"}, timeout=TIMEOUT)
    Path(chosen.list).write_bytes(answer.content)
    print("certified")


if __name__ == "__main__":
    main()
