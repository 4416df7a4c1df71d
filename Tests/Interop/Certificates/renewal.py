"""Renews certificates over real connections, against a service whose policy gives certificates fifteen seconds."""

import time

import requests
from cryptography import x509

from Shared import options
from Shared.checks import accepted, equal, expect, moment, now, refused
from Shared.client import TIMEOUT, Device, https, new_key
from Shared.provider import Provider


def wait_until(time_of, what):
    """Sleeps until a moment that is less than half a minute away."""
    pause = (time_of - now()).total_seconds() + 0.1
    expect(pause < 30, f"{what} is {pause:.0f} s away")
    time.sleep(max(0, pause))


def log_in(device, provider, user):
    """A session of the user on the device."""
    return accepted(device.create_session(provider.identity_token(user, device.nonce())), 201)


def revocations(chosen):
    """The revocation list that the public listener hands out."""
    with https(chosen.ca) as public:
        return x509.load_der_x509_crl(public.get(chosen.public + "/certificates/revocations", timeout=TIMEOUT).content)


def main():
    chosen = options.parser(__doc__).parse_args()
    provider: Provider = options.provider(chosen)
    same, new, third = (Device(chosen.public, chosen.client, chosen.ca, "EC") for _ in range(3))
    issued = [accepted(device.certify(), 201) for device in (same, new, third)]
    refused(same.renew_certificate(), 409, "conflict")

    due = max(moment(answer["renew_after"]) for answer in issued)
    wait_until(due, "the first renewal")
    sessions = [log_in(device, provider, f"user-{index}") for index, device in enumerate((same, new))]

    for csr, reason in ((third.layer_csr(), "key_in_use"), ("nonsense", "malformed")):
        refused(same.renew_certificate(csr), 422, "invalid_csr", reason)
    weak = Device(chosen.public, chosen.client, chosen.ca, "weak RSA")
    refused(same.renew_certificate(weak.pkcs10()), 422, "invalid_csr", "weak_key")

    # The same key: the session's token goes on, its cnf has moved, the old certificate is refused. It is not listed: what
    # it says of its key is true still.
    old = same.at(same.public, same.client)
    accepted(old.current(sessions[0]["session_token"]))
    renewed = accepted(same.renew_certificate(), 201)
    equal(renewed["device_id"], issued[0]["device_id"], "the device id")
    expect(renewed["serial"] != issued[0]["serial"], "the serial is the old one")
    accepted(old.current(sessions[0]["session_token"]))
    accepted(same.current(sessions[0]["session_token"]))
    cnf = accepted(provider.introspect(sessions[0]["session_token"]))["cnf"]["x5t#S256"]
    equal(cnf, same.thumbprint(), "cnf")
    for _ in range(2):  # the open connection at once, then a new one
        try:
            refused(old.renew_certificate(), 403, "certificate_revoked")
        except requests.exceptions.ConnectionError:
            pass  # closed before it asked
        old.reconnect()
    expect(not revocations(chosen).get_revoked_certificate_by_serial_number(old.certificate.serial_number),
           "a certificate whose key is certified still is on the list")

    # A new key: the session is challenged, and its user renews it.
    old_key, old_serial, new.key = new.key, new.certificate.serial_number, new_key("EC")
    answer = new.call("POST", "/certificates/renewal", json={"csr": new.layer_csr()})
    expect(old_key is not new.key, "the key is the old one")
    new.adopt(accepted(answer, 201))
    refused(new.current(sessions[1]["session_token"]), 401, "session_challenged")
    expect(revocations(chosen).get_revoked_certificate_by_serial_number(old_serial),
           "the superseded serial of a key that went is not on the list")
    again = accepted(new.renew_session(
        sessions[1]["session_token"], provider.identity_token("user-1", new.nonce())))
    equal(again["session_id"], sessions[1]["session_id"], "the session id")
    equal(again["cnf"]["x5t#S256"], new.thumbprint(), "cnf")
    accepted(new.current(again["session_token"]))
    print("renewed with the same and with a new key")


if __name__ == "__main__":
    main()
