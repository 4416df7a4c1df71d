"""Certifies devices behind the provider's gate: an enrolment token of a registered provider opens it once."""

import time

from Shared import options
from Shared.checks import accepted, refused
from Shared.client import Device, new_key


def main():
    chosen = options.parser(__doc__).parse_args()
    provider = options.provider(chosen)

    def certify(token=None):
        device = Device(chosen.public, chosen.client, chosen.ca, "EC")
        return device, device.certify(**({"enrolment_token": token} if token else {}))

    refused(certify()[1], 422, "invalid_csr", "gate")
    token = provider.enrolment_token()
    device, answer = certify(token)
    accepted(answer, 201)
    accepted(device.ask_nonce(), 201)
    refused(certify(token)[1], 422, "invalid_csr", "gate")

    now = int(time.time())
    other_realm = provider.enrolment_token(aud="another-realm")
    expired = provider.enrolment_token(iat=now - 1000, exp=now - 500)
    too_long = provider.enrolment_token(exp=now + 3600)
    nameless = provider.enrolment_token(jti=None)
    for wrong in (provider.provider_token(), other_realm, expired, too_long, nameless, "a.b.c", "nonsense",
                  provider.holding(new_key("RSA"), provider.key_id).enrolment_token(),
                  provider.identity_token("user", "nonce")):
        refused(certify(wrong)[1], 422, "invalid_csr", "gate")

    # A token whose request is refused for another reason is not spent.
    token = provider.enrolment_token()
    weak = Device(chosen.public, chosen.client, chosen.ca, "weak RSA")
    refused(weak.certify(weak.pkcs10(), enrolment_token=token), 422, "invalid_csr", "weak_key")
    accepted(certify(token)[1], 201)
    print("the provider's gate holds")


if __name__ == "__main__":
    main()
