"""Steps: discovery, certification, and the end of a certificate."""

import concurrent.futures
import threading
import uuid

import requests
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID

from Shared.checks import accepted, equal, expect, moment, now, refused, step
from Shared.client import TIMEOUT, Device, https, new_key, private_pem
from Shared.transport import SingleConnection


def fetch(world, path, **headers):
    """`GET` on the public listener."""
    with https(world.authority) as session:
        return session.get(world.public + path, headers=headers, timeout=TIMEOUT)


def issuer(world):
    """The certificate of the authority that issues leaves, by what the service publishes."""
    answer = fetch(world, "/certificates/authority")
    expect(answer.status_code == 200, f"{answer.status_code}: {answer.text[:200]}")
    return x509.load_pem_x509_certificates(answer.content)[0]


@step
def probes_and_metrics(world):
    """The ops listener tells that the service is alive, ready, and measured."""
    for path in ("/livez", "/readyz", "/metrics"):
        equal(requests.get(world.ops + path, timeout=TIMEOUT).status_code, 200, path)


@step
def discovery(world):
    """The public listener describes itself: realm, key set, and an OpenAPI 3.1 document."""
    equal(accepted(fetch(world, "/.well-known/countersign"))["realm"], world.realm, "the realm")
    expect("keys" in accepted(fetch(world, "/.well-known/jwks.json")), "the key set has no keys")
    description = accepted(fetch(world, "/openapi.json"))
    expect(description["openapi"].startswith("3.1"), "the description is not OpenAPI 3.1")
    for path in ("/certificates", "/nonces", "/sessions", "/introspect"):
        expect(path in description["paths"], f"{path} is not described")


@step
def unknown_path(world):
    """A path that does not exist is a problem document too."""
    refused(fetch(world, "/no-such-path"), 404, "not_found")


@step
def certify_by_layer_csr(world):
    """A Layer CSR by an RSA key is certified under the device id that it wished for, and the connection ends."""
    device = world.devices["first"] = Device(world.public, world.client, world.authority, "RSA")
    answer = device.certify(device.layer_csr())
    issued = accepted(answer, 201)
    equal(issued["device_id"].lower(), device.wished_id, "the device id")
    equal(answer.headers.get("Connection", "").lower(), "close", "Connection")
    expect(moment(issued["not_before"]) < now() < moment(issued["renew_after"]) < moment(issued["not_after"]),
           f"the times are out of order: {issued}")


@step
def certify_by_pkcs10(world):
    """A PKCS#10 request by a P-256 key is certified, and its subject is not taken over."""
    device = world.devices["second"] = Device(world.public, world.client, world.authority, "EC")
    issued = accepted(device.certify(device.pkcs10()), 201)
    subject = device.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
    equal(subject, issued["device_id"], "the common name")


@step
def taken_device_id(world):
    """Who wishes for a device id that is taken gets a fresh one."""
    device = world.devices["third"] = Device(world.public, world.client, world.authority, "EC")
    issued = accepted(device.certify(device.layer_csr(prn=world.device().device_id)), 201)
    expect(issued["device_id"] != world.device().device_id, "two devices share an id")


@step
def same_wish(world):
    """Devices that wish for one id at the same moment are all certified, one of them under that id."""
    for _ in range(5):
        devices = [Device(world.public, world.client, world.authority, "EC") for _ in range(6)]
        wished, barrier = str(uuid.uuid4()), threading.Barrier(len(devices))

        def certify(device):
            request = device.layer_csr(prn=wished)
            barrier.wait(TIMEOUT)
            return device.certify(request)

        with concurrent.futures.ThreadPoolExecutor(len(devices)) as pool:
            names = [accepted(answer, 201)["device_id"] for answer in pool.map(certify, devices)]
        equal(len(set(names)), len(devices), "different ids")
        expect(wished in names, "nobody got the wished id")


@step
def leaf_profile(world):
    """The leaf follows its profile: key, issuer, name, usage, constraints, distribution point, serial; no policy is named."""
    device = world.device()
    leaf, extensions = device.certificate, device.certificate.extensions
    equal(leaf.public_key(), device.key.public_key(), "the public key")
    leaf.verify_directly_issued_by(issuer(world))
    equal([(name.oid, name.value) for name in leaf.subject], [(NameOID.COMMON_NAME, device.device_id)], "the subject")
    expect(0 < leaf.serial_number.bit_length() <= 159, "the serial is out of bounds")
    equal(extensions.get_extension_for_class(x509.BasicConstraints).value.ca, False, "CA")
    expect(extensions.get_extension_for_class(x509.BasicConstraints).critical, "basicConstraints is not critical")
    usage = extensions.get_extension_for_class(x509.KeyUsage)
    expect(usage.critical and usage.value.digital_signature and not usage.value.key_cert_sign, "keyUsage is wrong")
    equal(list(extensions.get_extension_for_class(x509.ExtendedKeyUsage).value), [ExtendedKeyUsageOID.CLIENT_AUTH],
          "extKeyUsage")
    present = {extension.oid for extension in extensions}
    expect(ExtensionOID.SUBJECT_ALTERNATIVE_NAME not in present, "the leaf has a SAN")
    for oid in (ExtensionOID.SUBJECT_KEY_IDENTIFIER, ExtensionOID.AUTHORITY_KEY_IDENTIFIER,
                ExtensionOID.CRL_DISTRIBUTION_POINTS):
        expect(oid in present, f"{oid._name} is missing")
    expect(ExtensionOID.CERTIFICATE_POLICIES not in present, "a policy is named that no operator has")


@step
def refused_requests(world):
    """A request by another key, a used key, a weak key, and no request at all are each refused with the reason."""
    device = Device(world.public, world.client, world.authority, "RSA")
    refused(device.certify(device.layer_csr(signer=new_key("RSA"))), 422, "invalid_csr", "bad_proof")
    refused(device.certify("not a request"), 422, "invalid_csr", "malformed")
    used = world.device()
    with https(world.authority) as session:
        again = session.post(
            world.public + "/certificates", json={"csr": used.layer_csr(uat="another request")}, timeout=TIMEOUT)
    refused(again, 422, "invalid_csr", "key_in_use")
    weak = Device(world.public, world.client, world.authority, "weak RSA")
    refused(weak.certify(weak.pkcs10()), 422, "invalid_csr", "weak_key")


@step
def same_request(world):
    """A request that is sent again, as after a lost answer, is given the same certificate; with another block it is not."""
    device = Device(world.public, world.client, world.authority, "EC")
    request = device.pkcs10()
    issued = accepted(device.certify(request), 201)
    for _ in range(3):
        equal(accepted(device.certify(request), 200), issued, "the second answer")
    accepted(device.call("POST", "/nonces"), 201)
    block = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    refused(device.certify(request + block), 422, "invalid_csr", "malformed")
    leaked = refused(device.certify(request + private_pem(new_key("EC")).decode()), 422, "invalid_csr", "malformed")
    expect("private key" in leaked["detail"], leaked["detail"])


@step
def self_revocation(world):
    """A device revokes its own certificate: its next connection is refused and ends, and so did its session."""
    device = world.device("revoked")
    session = world.log_in(device, world.user())
    answer = device.revoke_itself()
    equal(answer.status_code, 204, "the status")
    with SingleConnection(world, device) as connection:
        refused(connection.request("POST", "/nonces"), 403, "certificate_revoked")
        expect(connection.is_closed(), "the connection stays open after certificate_revoked")
    equal(accepted(world.provider.introspect(session["session_token"])), {"active": False}, "the introspection")
    certify_again = device.certify(device.layer_csr())
    refused(certify_again, 422, "invalid_csr", "key_revoked")


@step
def revocation_list(world):
    """The CRL is signed by the authority, recent, given as DER and PEM, and names the self-revoked serial."""
    answer = fetch(world, "/certificates/revocations")
    equal(answer.status_code, 200, "the status")
    revocations, authority = x509.load_der_x509_crl(answer.content), issuer(world)
    equal(revocations.issuer, authority.subject, "the issuer")
    expect(revocations.is_signature_valid(authority.public_key()), "the signature does not hold")
    age = (now() - revocations.last_update_utc).total_seconds()
    expect(age < 3700 and revocations.next_update_utc > now(), "the list is not current")
    serial = world.device("revoked").certificate.serial_number
    expect(revocations.get_revoked_certificate_by_serial_number(serial), "the revoked serial is missing")
    live = world.device().certificate.serial_number
    expect(not revocations.get_revoked_certificate_by_serial_number(live), "a live serial is listed")
    pem = fetch(world, "/certificates/revocations", Accept="application/x-pem-file")
    x509.load_pem_x509_crl(pem.content)
    again = fetch(world, "/certificates/revocations", **{"If-None-Match": answer.headers["ETag"]})
    expect(again.status_code in (200, 304) and (again.status_code == 304) == (not again.content), f"{again.status_code}")
    other = fetch(world, "/certificates/revocations", **{"If-None-Match": pem.headers["ETag"]})
    equal(other.status_code, 200, "DER for one who has PEM")
