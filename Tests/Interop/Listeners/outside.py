"""Holds what the service says of its own listeners against where they are seen from outside: discovery, `openapi.json`
and the CRL distribution point of a certificate."""

from cryptography import x509

from Shared import options
from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT, Device, https


def main():
    parser = options.parser(__doc__)
    for name in ("outside", "client-outside"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    with https(chosen.ca) as session:
        told = accepted(session.get(chosen.public + "/.well-known/countersign", timeout=TIMEOUT))
        description = accepted(session.get(chosen.public + "/openapi.json", timeout=TIMEOUT))
    for name, value in told.items():
        if isinstance(value, str) and value.startswith("https://"):
            listener = chosen.client_outside if name in ("nonce_endpoint", "session_endpoint") else chosen.outside
            expect(value.startswith(listener + "/"), f"{name} is {value}")
    equal(description["servers"][0]["url"], chosen.outside, "the description's server")
    counts = {}
    for path, operations in description["paths"].items():
        for server in operations["servers"]:
            counts[server["url"]] = counts.get(server["url"], 0) + 1
    equal(set(counts) - {"http://127.0.0.1:8442"}, {chosen.outside, chosen.client_outside}, "the servers of the paths")
    equal([server["url"] for server in description["paths"]["/token"]["servers"]],
          [chosen.outside, chosen.client_outside], "the servers of /token")
    equal(description["paths"]["/nonces"]["servers"][0]["url"], chosen.client_outside, "the server of /nonces")

    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    leaf = x509.load_pem_x509_certificate(accepted(device.certify(), 201)["certificate"].encode())
    [point] = leaf.extensions.get_extension_for_class(x509.CRLDistributionPoints).value
    url, _, authority = point.full_name[0].value.partition("?authority=")
    equal(url, chosen.outside + "/certificates/revocations", "the CRL distribution point")
    expect(len(authority) == 43, f"the CRL distribution point names the authority {authority}")
    print(counts)


if __name__ == "__main__":
    main()
