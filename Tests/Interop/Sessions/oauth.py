"""An unmodified OAuth client uses the service: Authlib finds the endpoints by itself, opens a session by the JWT bearer
grant, exchanges it, and takes and uses a provider's access token. PyJWT verifies a session's token by the key set.
curl with jq does the same in a shell."""

import base64
import json
import os
import subprocess
import time
import uuid
from pathlib import Path

import jwt
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from cryptography import x509
from joserfc.jwk import import_key

from Shared import options
from Shared.checks import accepted, equal, expect
from Shared.client import TIMEOUT, Device, algorithm, https, private_pem, repeated

BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


def refused(error, call):
    """The OAuth error that a call of the library ends in."""
    try:
        call()
    except OAuthError as raised:
        equal(raised.error, error, "the error")
        expect(raised.description, "the error is not described")
        return
    expect(False, f"there was no {error}")


def metadata(chosen):
    """What the service says of itself, which the library finds right."""
    with https(chosen.ca) as public:
        server = public.get(chosen.public + "/.well-known/oauth-authorization-server", timeout=TIMEOUT).json()
    described = AuthorizationServerMetadata(server)
    for member in ("issuer", "token_endpoint", "jwks_uri", "introspection_endpoint", "revocation_endpoint",
                   "response_types_supported", "grant_types_supported", "token_endpoint_auth_methods_supported"):
        getattr(described, "validate_" + member)()
    equal(server["issuer"], chosen.public, "the issuer")
    return server


def app(chosen, provider, device):
    """The library on a device: a public client that a certificate authenticates."""
    session = OAuth2Session(provider.app_id, token_endpoint_auth_method="none", default_timeout=TIMEOUT)
    session.trust_env, session.verify, session.cert = False, chosen.ca, device.files
    return repeated(session)


def backend(chosen, provider, server, **header):
    """The library at a provider's backend."""
    key = import_key(private_pem(provider.key).decode(), "EC" if algorithm(provider.key) == "ES256" else "RSA")
    session = OAuth2Session(
        provider.provider_id, key, token_endpoint_auth_method="private_key_jwt",
        revocation_endpoint_auth_method="private_key_jwt", default_timeout=TIMEOUT)
    session.trust_env, session.verify = False, chosen.ca
    session.register_client_auth_method(PrivateKeyJWT(
        server["token_endpoint"], headers={"kid": provider.key_id, **header}, alg=algorithm(provider.key)))
    return repeated(session)


def find_endpoint(chosen, device):
    """A device learns from a refusal where tokens are taken (RFC 9728)."""
    answer = device.call("GET", "/me")
    equal(answer.status_code, 401, "the status")
    challenge = answer.headers["WWW-Authenticate"].rsplit(", Bearer ", 1)[1]
    place = challenge.split('resource_metadata="')[1].rstrip('"')
    equal(place, chosen.client + "/.well-known/oauth-protected-resource", "the place")
    resource = accepted(device.call("GET", "/.well-known/oauth-protected-resource"))
    equal(resource["resource"], chosen.client, "the resource")
    equal(resource["authorization_servers"], [chosen.public], "the authorization servers")


def sign_in(chosen, provider, device, server):
    """A session by the JWT bearer grant, and its refusals: each carries a fresh nonce."""
    endpoint = server["mtls_endpoint_aliases"]["token_endpoint"]
    client = app(chosen, provider, device)

    def grant(**changes):
        claims = {"prn": None, "sub": "ada", "aud": server["issuer"], **changes}
        nonce = claims.pop("nonce", None) or device.nonce()
        return client.fetch_token(
            endpoint, grant_type=BEARER, assertion=provider.identity_token("ada", nonce, **claims))

    nonce = device.nonce()
    token = grant(nonce=nonce)
    equal(token["token_type"], "Bearer", "the type")
    expect(0 < token["expires_in"] <= 86_400, f"it lives for {token['expires_in']} s")
    now = int(time.time())
    for changes in ({"nonce": nonce}, {"aud": "https://other.example"}, {"aud": None}, {"sub": None, "prn": "ada"},
                    {"nonce": "A" * 43}, {"iat": now - 900, "exp": now - 600}):
        refused("invalid_grant", lambda changes=changes: grant(**changes))
    past = provider.identity_token("ada", nonce, prn=None, sub="ada", aud=server["issuer"])
    answer = device.call("POST", "/token", data={"grant_type": BEARER, "assertion": past})
    equal((answer.status_code, answer.json()["reason"]), (400, "nonce_used"), "the refusal")
    expect(len(answer.json()["nonce"]) >= 22, "the refusal carries no nonce")
    grant(nonce=answer.json()["nonce"])
    refused("unsupported_grant_type", lambda: client.fetch_token(endpoint, grant_type="client_credentials"))
    # The library shows it as a bearer token, on every path.
    client.token = token
    equal(accepted(client.get(chosen.client + "/sessions/current"))["user_id"], token["user_id"], "the user")
    return client, token


def exchange(chosen, provider, device, server, client, token):
    """The session's token for the provider, verified without a call and bound to the device's certificate."""
    endpoint = server["mtls_endpoint_aliases"]["token_endpoint"]

    def ask(client=client, **changes):
        fields = {"subject_token": token["access_token"], "subject_token_type": ACCESS_TOKEN,
                  "audience": provider.provider_id, **changes}
        return client.fetch_token(endpoint, grant_type=EXCHANGE, **fields)

    made = ask()
    client.token = token
    equal((made["token_type"], made["expires_in"]), ("Bearer", 120), "type and life")
    with https(chosen.ca) as public:
        keys = jwt.PyJWKSet.from_dict(public.get(server["jwks_uri"], timeout=TIMEOUT).json())
    certified(keys)
    header = jwt.get_unverified_header(made["access_token"])
    equal((header["typ"], header["alg"]), ("at+jwt", "RS256"), "the header")
    key = keys[header["kid"]].key
    required = ["iss", "aud", "sub", "client_id", "sid", "iat", "exp", "jti", "acr", "device_attestation", "auth_time", "cnf"]
    claims = jwt.decode(
        made["access_token"], key, ["RS256"], audience=provider.provider_id, issuer=server["issuer"],
        options={"require": required})
    equal(claims["cnf"], {"x5t#S256": device.thumbprint()}, "cnf")
    equal((claims["sub"], claims["external_id"]), (token["user_id"], "ada"), "the user")
    equal((claims["sid"], claims["client_id"]), (token["session_id"], provider.app_id), "session and app")
    try:
        jwt.decode(made["access_token"], key, ["RS256"], audience="another", issuer=server["issuer"])
        expect(False, "another provider takes the token")
    except jwt.InvalidAudienceError:
        pass
    proven(server, device, ask, key)
    refused("invalid_target", lambda: ask(audience="00000000-0000-4000-8000-000000000000"))
    refused("invalid_request", lambda: ask(subject_token=made["access_token"]))
    refused("invalid_request", lambda: ask(subject_token_type="urn:ietf:params:oauth:token-type:saml2"))
    # A thief's certificate gets none, and the session is challenged: its own device gets none either.
    thief = Device(chosen.public, chosen.client, chosen.ca)
    accepted(thief.certify(), 201)
    refused("invalid_request", lambda: ask(app(chosen, provider, thief)))
    refused("invalid_request", ask)
    thief.close()
    return made["access_token"]


def certified(keys):
    """Each published key is in a certificate, too, for programs that read no numbers."""
    expect(len(keys.keys) >= 2, "there are few keys")
    for key in keys.keys:
        (encoded,) = key._jwk_data["x5c"]
        certificate = x509.load_der_x509_certificate(base64.b64decode(encoded))
        equal(certificate.public_key(), key.key, "the key in the certificate")


def proven(server, device, ask, key):
    """With a proof the token is bound to the device's key, by the thumbprint that joserfc computes."""
    endpoint = server["mtls_endpoint_aliases"]["token_endpoint"]
    expect("ES256" in server["dpop_signing_alg_values_supported"], "ES256 is not supported")
    own = jwt.get_algorithm_by_name(algorithm(device.key)).to_jwk(device.key.public_key())
    own = {name: value for name, value in json.loads(own).items() if name != "key_ops"}

    def proof(target):
        claims = {"jti": str(uuid.uuid4()), "htm": "POST", "htu": target, "iat": int(time.time())}
        return jwt.encode(claims, device.key, algorithm(device.key), headers={"typ": "dpop+jwt", "jwk": own})

    made = ask(headers={"DPoP": proof(endpoint)})
    equal(made["token_type"], "DPoP", "the type")
    claims = jwt.decode(made["access_token"], key, ["RS256"], options={"verify_aud": False})
    equal(claims["cnf"], {"jkt": import_key(own).thumbprint()}, "cnf")
    refused("invalid_dpop_proof", lambda: ask(headers={"DPoP": proof(server["token_endpoint"])}))


def calls(chosen, provider, device, server, session_token):
    """A backend's access token for its calls, by scopes; and a form with an assertion instead."""
    client = backend(chosen, provider, server)
    token = client.fetch_token(server["token_endpoint"], grant_type="client_credentials", scope="users.read")
    equal((token["token_type"], token["scope"]), ("Bearer", "users.read"), "type and scope")
    equal(accepted(client.get(chosen.public + "/provider/users/ada"))["banned"], False, "banned")
    equal(client.delete(chosen.public + "/provider/users/ada/sessions").status_code, 403, "the end of sessions")
    equal(client.put(chosen.public + "/provider/webhook", json={"url": "https://a.example"}).status_code, 401, "change")
    found = client.introspect_token(server["introspection_endpoint"], token=session_token)
    equal((found.status_code, found.json()["error"]), (400, "invalid_request"), "the token for the provider")
    expect("jwks.json" in found.json()["error_description"], "where the keys for an access token are")
    opened = accepted(device.create_session(provider.identity_token("eve", device.nonce())), 201)["session_token"]
    equal(accepted(client.introspect_token(server["introspection_endpoint"], token=opened))["sub"], "eve", "the user")
    equal(client.revoke_token(server["revocation_endpoint"], token=opened).status_code, 200, "the revocation")
    equal(device.current(opened).json()["code"], "session_destroyed", "the session's code")
    # The token for the provider opens no call, and an assertion counts once.
    with https(chosen.ca) as public:
        answer = public.get(
            chosen.public + "/provider", headers={"Authorization": f"Bearer {session_token}"}, timeout=TIMEOUT)
        equal(answer.status_code, 401, "a session's token at a call of the provider")
        now = int(time.time())
        claims = {"iss": provider.provider_id, "sub": provider.provider_id, "aud": server["token_endpoint"],
                  "iat": now, "exp": now + 60, "jti": f"once-{now}"}
        form = {"grant_type": "client_credentials",
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": jwt.encode(
                    claims, provider.key, algorithm(provider.key), headers={"kid": provider.key_id})}
        first, second = (public.post(server["token_endpoint"], data=form, timeout=TIMEOUT) for _ in range(2))
        equal((first.status_code, second.status_code), (200, 401), "the statuses of one assertion")
        equal(second.json()["error"], "invalid_client", "the error")
    unknown = backend(chosen, provider, server, kid="00000000-0000-4000-8000-000000000000")
    refused("invalid_client", lambda: unknown.fetch_token(server["token_endpoint"], grant_type="client_credentials"))
    refused("invalid_scope", lambda: client.fetch_token(
        server["token_endpoint"], grant_type="client_credentials", scope="keys.write"))


def shell(chosen, provider, device, server):
    """curl with jq does it all by the metadata: session, exchange, a provider's token, introspection."""
    now = int(time.time())
    claims = {"iss": provider.provider_id, "sub": provider.provider_id, "aud": server["issuer"], "iat": now,
              "exp": now + 60, "jti": str(uuid.uuid4())}
    grant = provider.identity_token("kit", device.nonce(), prn=None, sub="kit", aud=server["issuer"])
    done = subprocess.run(
        ["sh", str(Path(__file__).parents[1] / "Listeners/clients" / "oauth.sh")], capture_output=True, text=True, timeout=60,
        check=False, env={
            **os.environ, "CA": chosen.ca, "ISSUER": chosen.public, "CERTIFICATE": device.files[0], "KEY": device.files[1],
            "ASSERTION": grant, "AUDIENCE": provider.provider_id, "CLIENT_ASSERTION": jwt.encode(
                claims, provider.key, algorithm(provider.key), headers={"kid": provider.key_id})})
    equal(done.returncode, 0, "the exit code of oauth.sh: " + done.stderr[-500:])
    found = json.loads(done.stdout)
    equal((found["active"], found["sub"]), (True, "kit"), "the introspection")


def main():
    """Runs it."""
    chosen = options.parser(__doc__).parse_args()
    provider = options.provider(chosen)
    server = metadata(chosen)
    device = Device(chosen.public, chosen.client, chosen.ca)
    accepted(device.certify(), 201)
    find_endpoint(chosen, device)
    client, token = sign_in(chosen, provider, device, server)
    session_token = exchange(chosen, provider, device, server, client, token)
    calls(chosen, provider, device, server, session_token)
    shell(chosen, provider, device, server)
    device.close()
    print("an unmodified client did all of it")


if __name__ == "__main__":
    main()
