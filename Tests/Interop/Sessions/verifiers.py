"""Unmodified libraries verify sessions' tokens by the key set and without a call: PyJWT, joserfc, node's crypto, Debian's
golang-jwt and ruby-jwt. Each accepts the good ones and refuses those that are not for it; two run at a time.

requests-oauthlib and idpyoidc take and use a provider's access token.
"""

import base64
import hmac
import json
import os
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptojwt.key_jar import KeyJar
from idpyoidc.client.oauth2 import Client
from idpyoidc.client.oauth2.client_credentials import CCAccessTokenRequest
from oauthlib.oauth2 import BackendApplicationClient
from requests_oauthlib import OAuth2Session

from Shared import options
from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT, Device, algorithm, base64url, https, private_pem
from Listeners.clients import tool
from Sessions.oauth import ACCESS_TOKEN, EXCHANGE

PLACE = Path(__file__).parent / "verifiers"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def web_key(device):
    """The device's public key as a JWK."""
    key = jwt.get_algorithm_by_name(algorithm(device.key)).to_jwk(device.key.public_key(), as_dict=True)
    return {name: value for name, value in key.items() if name != "key_ops"}


def exchanged(device, session_token, provider, **headers):
    """A session's token for the provider."""
    form = {"grant_type": EXCHANGE, "subject_token": session_token, "subject_token_type": ACCESS_TOKEN,
            "audience": provider.provider_id}
    return accepted(device.call("POST", "/token", data=form, headers=headers))["access_token"]


def proof(device):
    """A DPoP proof for the exchange."""
    claims = {"jti": str(uuid.uuid4()), "htm": "POST", "htu": device.client + "/token", "iat": int(time.time())}
    return jwt.encode(
        claims, device.key, algorithm(device.key), headers={"typ": "dpop+jwt", "jwk": web_key(device)})


def altered(token, part, change):
    """A token with another header or payload under the same signature."""
    parts = token.split(".")
    text = json.loads(base64.urlsafe_b64decode(parts[part] + "=="))
    parts[part] = base64url(json.dumps({**text, **change}).encode())
    return ".".join(parts)


def cases(chosen, provider, device, thief, server):
    """Name, case, and whether it is good."""
    opened = accepted(device.create_session(provider.identity_token("ada", device.nonce())), 201)
    session_token = opened["session_token"]
    soon(lambda: jwt.get_unverified_header(exchanged(device, session_token, provider))["alg"] == chosen.algorithm,
         "the service has not learned of the algorithm")
    certificate, other = (Path(one.files[0]).read_text() for one in (device, thief))
    plain, bound = exchanged(device, session_token, provider), exchanged(
        device, session_token, provider, DPoP=proof(device))
    with https(chosen.ca) as public:
        keys = public.get(server["jwks_uri"], timeout=TIMEOUT).json()["keys"]
        signed = public.post(
            chosen.public + "/introspect", data={"token": session_token}, timeout=TIMEOUT,
            headers={"Authorization": f"Bearer {provider.provider_token()}",
                     "Accept": "application/token-introspection+jwt"}).text
    header, payload, signature = plain.split(".")
    kid = jwt.get_unverified_header(plain)["kid"]
    (key,) = [one for one in keys if one["kid"] == kid]
    forged_header = base64url(json.dumps({"alg": "HS256", "kid": kid, "typ": "at+jwt"}).encode())
    public_pem = jwt.PyJWK(key).key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    mac = hmac.digest(public_pem, f"{forged_header}.{payload}".encode(), "sha256")
    good = {"audience": provider.provider_id, "certificate": certificate, "jwk": web_key(device)}
    found = [
        ("its own", {**good, "token": plain}, True), ("with a proof", {**good, "token": bound}, True),
        ("another audience", {**good, "token": plain, "audience": "another"}, False),
        ("another certificate", {**good, "token": plain, "certificate": other}, False),
        ("another key", {**good, "token": bound, "jwk": web_key(thief)}, False),
        ("another user", {**good, "token": altered(plain, 1, {"sub": str(uuid.uuid4())})}, False),
        ("a longer life", {**good, "token": altered(plain, 1, {"exp": 4_000_000_000})}, False),
        ("no algorithm", {**good, "token": altered(plain, 0, {"alg": "none"}).rsplit(".", 1)[0] + "."}, False),
        ("a symmetric algorithm", {**good, "token": f"{forged_header}.{payload}.{base64url(mac)}"}, False),
        ("another key's id", {**good, "token": altered(plain, 0, {"kid": "x"})}, False),
        ("no signature", {**good, "token": f"{header}.{payload}."}, False),
        ("half a signature", {**good, "token": f"{header}.{payload}.{signature[:40]}"}, False),
        ("an introspection response", {**good, "token": signed}, False),
        ("the session's own token", {**good, "token": session_token}, False),
    ]
    return found, opened["user_id"]


def verifiers():
    """Name and command."""
    for library in ("PyJWT", "joserfc"):
        yield library, [sys.executable, str(PLACE / "verify_python.py"), library]
    yield "node", [tool("node"), str(PLACE / "verify.mjs")]
    yield "golang-jwt", ["/usr/bin/go", "run", str(PLACE / "go" / "verify.go")]
    yield "ruby-jwt", ["/usr/bin/ruby", str(PLACE / "verify.rb")]


def verify(name, command, file):
    """What a program says of each case."""
    # Debian's Go libraries are in a place of their own and no module; nothing is fetched.
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": ""}
    done = subprocess.run([*command, file], capture_output=True, text=True, env=environment, timeout=100, check=False)
    expect(done.returncode == 0, f"{name} ended with {done.returncode}: {done.stderr[-1500:]}")
    return done.stdout.splitlines()


def judge(found, user_id, file):
    """All programs, two at a time, each against what every case is."""
    with ThreadPoolExecutor(2) as pool:
        running = {name: pool.submit(verify, name, command, file) for name, command in verifiers()}
    for name, said in running.items():
        verdicts = said.result()
        equal(len(verdicts), len(found), f"{name}'s verdicts")
        for verdict, (what, _, is_good) in zip(verdicts, found):
            expect(verdict == f"accepted {user_id}" if is_good else verdict.startswith("refused"),
                   f"{name} on {what}: {verdict}")
        print(f"{name}: {len(verdicts)} verdicts")


def oauthlib(chosen, provider, server):
    """requests-oauthlib takes a token by an assertion and calls with it."""
    now = int(time.time())
    claims = {"iss": provider.provider_id, "sub": provider.provider_id, "aud": server["token_endpoint"], "iat": now,
              "exp": now + 60, "jti": str(uuid.uuid4())}
    assertion = jwt.encode(claims, provider.key, algorithm(provider.key), headers={"kid": provider.key_id})
    with OAuth2Session(client=BackendApplicationClient(provider.provider_id, scope=["users.read"])) as session:
        session.trust_env, session.verify = False, chosen.ca
        token = session.fetch_token(
            server["token_endpoint"], client_assertion=assertion, client_assertion_type=ASSERTION,
            include_client_id=True, verify=chosen.ca, timeout=TIMEOUT)
        equal((token["token_type"], token["scope"]), ("Bearer", ["users.read"]), "type and scope")
        answer = session.get(chosen.public + "/provider/users/ada", timeout=TIMEOUT)
        equal(accepted(answer)["banned"], False, "banned")


def idpyoidc(chosen, provider, server):
    """idpyoidc proves itself with the provider's key, and calls with the token that it takes."""
    private = jwt.get_algorithm_by_name(algorithm(provider.key)).to_jwk(provider.key, as_dict=True)
    private = {name: value for name, value in private.items() if name != "key_ops"}
    keys = KeyJar()
    keys.import_jwks(
        {"keys": [{**private, "kid": provider.key_id, "use": "sig", "alg": algorithm(provider.key)}]}, "")
    client = Client(
        keyjar=keys, httpc_params={"verify": chosen.ca, "timeout": TIMEOUT},
        config={
            "client_id": provider.provider_id, "issuer": server["issuer"], "provider_info": server,
            "redirect_uris": ["https://unused.example"], "client_authn_methods": ["private_key_jwt"],
        }, services={"client_credentials": {"class": CCAccessTokenRequest}})
    client.get_context().provider_info = server
    client.get_service("client_credentials").endpoint = server["token_endpoint"]
    token = client.do_request(
        "client_credentials", request_args={"scope": ["users.read"]}, authn_method="private_key_jwt")
    expect("access_token" in token, f"idpyoidc has no token: {token}")
    equal((token["token_type"], token["scope"]), ("Bearer", ["users.read"]), "type and scope")
    with https(chosen.ca) as public:
        answer = public.get(
            chosen.public + "/provider/users/ada", headers={"Authorization": f"Bearer {token['access_token']}"},
            timeout=TIMEOUT)
        equal(accepted(answer)["banned"], False, "banned")


def main():
    """Runs it."""
    parser = options.parser(__doc__)
    parser.add_argument("--algorithm", required=True, choices=["RS256", "ES256"])
    chosen = parser.parse_args()
    provider = options.provider(chosen)
    with https(chosen.ca) as public:
        server = public.get(chosen.public + "/.well-known/oauth-authorization-server", timeout=TIMEOUT).json()
    device, thief = (Device(chosen.public, chosen.client, chosen.ca, "EC") for _ in range(2))
    for one in (device, thief):
        accepted(one.certify(), 201)
    found, user_id = cases(chosen, provider, device, thief, server)
    world = {"jwks_uri": server["jwks_uri"], "ca": chosen.ca, "issuer": server["issuer"],
             "cases": [case for _, case, _ in found]}
    judge(found, user_id, device.write("world.json", json.dumps(world).encode()))
    # Whatever proxy the environment names, this machine is not behind it.
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    oauthlib(chosen, provider, server)
    idpyoidc(chosen, provider, server)
    for one in (device, thief):
        one.close()


if __name__ == "__main__":
    main()
