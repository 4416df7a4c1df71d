"""A real OpenID provider on a free loopback port: Debian's glewlwyd, with a database, users, clients and keys of its
own. A person signs in there by the authorization code flow with PKCE (OpenID Connect Core 1.0, section 3.1)."""

import base64
import hashlib
import json
import os
import secrets
import sqlite3
import subprocess
import tempfile
import urllib.parse
from pathlib import Path

import requests
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from joserfc.jwk import import_key

from Shared.checks import soon
from Shared.client import TIMEOUT, private_pem
from Shared.ports import free_port

PASSWORD = "password"
SCHEMA = Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
CONFIGURATION = """
port={port}
bind_address="127.0.0.1"
external_url="{url}/"
login_url="login.html"
api_prefix="api"
log_mode="file"
log_level="WARNING"
log_file="{directory}/log"
cookie_secure=0
session_key="GLEWLWYD2_SESSION_ID"
admin_session_authentication="cookie"
profile_session_authentication="cookie"
login_api_enabled=true
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="/usr/lib/glewlwyd/user"
client_module_path="/usr/lib/glewlwyd/client"
user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
plugin_module_path="/usr/lib/glewlwyd/plugin"
use_secure_connection=false
secure_connection_key_file="none"
secure_connection_pem_file="none"
secure_connection_ca_file="none"
hash_algorithm="SHA512"
database = {{ type = "sqlite3" path = "{directory}/db" }};
"""


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def private_jwk(kid, algorithm):
    """A new signing key as a private JWK."""
    if algorithm.startswith("ES"):
        key, kind = ec.generate_private_key(ec.SECP256R1() if algorithm == "ES256" else ec.SECP384R1()), "EC"
    else:
        key, kind = rsa.generate_private_key(public_exponent=65537, key_size=2048), "RSA"
    made = import_key(private_pem(key).decode(), kind).as_dict(private=True)
    return {**made, "kid": kid, "alg": algorithm, "use": "sig"}


class Glewlwyd:
    """Runs until its `with` ends. `keys` are private JWKs, the one that signs first; `environment` is what it runs
    with besides its own."""

    redirect = "http://127.0.0.1:1/callback"

    def __init__(self, keys, clients=("app",), users=("alice",), environment=None):
        self.directory = tempfile.TemporaryDirectory(prefix="glewlwyd-")
        self.keys, self.clients, self.users = keys, clients, users
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.issuer = f"{self.url}/api/oidc"
        self.process, self.environment, self.identifiers = None, environment or {}, []

    @classmethod
    def at(cls, issuer):
        """One that runs already, for those who sign in there."""
        running = object.__new__(cls)
        running.issuer, running.url = issuer, issuer.removesuffix("/api/oidc")
        return running

    def __enter__(self):
        with sqlite3.connect(Path(self.directory.name, "db")) as database:
            database.executescript(SCHEMA.read_text())
        path = Path(self.directory.name, "glewlwyd.conf")
        path.write_text(CONFIGURATION.format(port=self.port, url=self.url, directory=self.directory.name))
        self.start()
        self.admin = self.session("admin")
        self.call("POST", "/mod/plugin/", {
            "module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": self.parameters()})
        for name in self.users:
            self.call("POST", "/user/", {
                "username": name, "name": f"{name} of Glewlwyd", "password": PASSWORD, "enabled": True,
                "scope": ["openid"]})
        for name in self.clients:
            self.call("POST", "/client/", {
                "client_id": name, "name": name, "confidential": False, "enabled": True,
                "redirect_uri": [self.redirect], "authorization_type": ["code"], "scope": ["openid"],
                "token_endpoint_auth_method": ["none"]})
        return self

    def __exit__(self, *_):
        self.stop()
        self.directory.cleanup()

    def start(self):
        """Starts it, and waits until it answers."""
        path = Path(self.directory.name, "glewlwyd.conf")
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", "glewlwyd", f"--config-file={path}"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **self.environment})
        self.identifiers.append(self.process.pid)

        def answers():
            try:
                return requests.get(self.url + "/api/auth/scheme/", timeout=TIMEOUT).status_code < 500
            except requests.ConnectionError:
                return False

        soon(answers, "glewlwyd does not answer")

    def stop(self):
        """Ends it; the next start goes on where it was."""
        if self.process:
            self.process.terminate()
            self.process.wait(TIMEOUT)
            self.process = None

    def parameters(self):
        signing = self.keys[0]
        return {
            "iss": self.issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": "", "cert": "",
            "jwks-private": json.dumps({"keys": self.keys}), "default-kid": signing["kid"], "jwks-show": True,
            "access-token-duration": 3600, "refresh-token-duration": 1209600, "code-duration": 600,
            "auth-type-code-enabled": True, "auth-type-token-enabled": False, "auth-type-id-token-enabled": True,
            "auth-type-none-enabled": False, "auth-type-password-enabled": False, "auth-type-client-enabled": False,
            "auth-type-refresh-enabled": True, "allow-non-oidc": False, "pkce-allowed": True,
            "pkce-method-plain-allowed": False, "subject-type": "public", "refresh-token-rolling": True,
            "name-claim": "on-demand", "request-parameter-allow": False,
        }

    def rotate(self, keys):
        """Has other keys from now on."""
        self.keys = keys
        self.call("PUT", "/mod/plugin/oidc", {
            "module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": self.parameters()})
        self.call("PUT", "/mod/plugin/oidc/reset")

    def session(self, name):
        """Somebody who signed in with their password."""
        session = requests.Session()
        session.trust_env = False
        answer = session.post(
            self.url + "/api/auth/", json={"username": name, "password": PASSWORD}, timeout=TIMEOUT)
        assert answer.status_code == 200, (answer.status_code, answer.text)
        return session

    def call(self, method, path, body=None):
        """A call of the administration."""
        answer = self.admin.request(method, self.url + "/api" + path, json=body, timeout=TIMEOUT)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)

    def sign_in(self, user, nonce, client="app"):
        """The ID token of a person who signs in and agrees, for a client that asks with a nonce."""
        browser = self.session(user)
        agreed = browser.put(
            f"{self.url}/api/auth/grant/{client}", json={"scope": "openid"}, timeout=TIMEOUT)
        assert agreed.status_code == 200, (agreed.status_code, agreed.text)
        verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(16)
        with requests.Session() as app:
            app.trust_env = False
            places = app.get(self.issuer + "/.well-known/openid-configuration", timeout=TIMEOUT).json()
            query = urllib.parse.urlencode({
                "response_type": "code", "client_id": client, "redirect_uri": self.redirect, "scope": "openid",
                "nonce": nonce, "state": state, "code_challenge_method": "S256", "g_continue": "",
                "code_challenge": base64url(hashlib.sha256(verifier.encode()).digest())})
            back = browser.get(
                places["authorization_endpoint"] + "?" + query, allow_redirects=False, timeout=TIMEOUT)
            assert back.status_code == 302, (back.status_code, back.text)
            answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back.headers["Location"]).query))
            assert answer.get("state") == state and "code" in answer, back.headers["Location"]
            tokens = app.post(places["token_endpoint"], timeout=TIMEOUT, data={
                "grant_type": "authorization_code", "code": answer["code"], "redirect_uri": self.redirect,
                "client_id": client, "code_verifier": verifier})
            assert tokens.status_code == 200, (tokens.status_code, tokens.text)
            return tokens.json()["id_token"]
