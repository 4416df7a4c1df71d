"""A device that signs in, with Python's standard library and the `openssl` command: what an SDK does for an app.

    python3 device.py PUBLIC CLIENT BACKEND FOLDER

The first three are URLs: the service's public and client listener, and the backend. FOLDER has provider.json and Keys/ca.pem.
"""

import base64
import hashlib
import http.client
import json
import ssl
import subprocess
import sys
import time
import urllib.parse
import uuid


def base64url(data):
    """base64url without padding (RFC 4648, section 5)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Device:
    """A key, its certificate, and the calls of a sign-in."""

    def __init__(self, public, client, backend, folder):
        """Uses the listeners and the backend at these URLs, and stores files in the folder."""
        self.public, self.client, self.backend, self.folder = public, client, backend, folder
        self.tls = ssl.create_default_context(cafile=f"{folder}/Keys/ca.pem")

    def openssl(self, *words, data=None):
        """The command's output."""
        done = subprocess.run(["openssl", *words], cwd=self.folder, input=data, capture_output=True, check=True)
        return done.stdout

    def call(self, method, url, value=None, form=None, expected=(200, 201, 204), **headers):
        """Sends a request, and returns the JSON of its response."""
        place = urllib.parse.urlsplit(url)
        connection = (http.client.HTTPSConnection(place.netloc, timeout=10, context=self.tls) if place.scheme == "https"
                      else http.client.HTTPConnection(place.netloc, timeout=10))
        body = None if value is None else json.dumps(value)
        if form:
            body, headers["Content-Type"] = urllib.parse.urlencode(form), "application/x-www-form-urlencoded"
        elif value is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, place.path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status not in expected:
            raise SystemExit(f"{method} {url}: {answer.status} {text}")
        return json.loads(text or "null")

    def proof(self, method, url, token=None):
        """A DPoP proof (RFC 9449): the device's key signs for this request, and for the token that it is sent with."""
        point = self.openssl("pkey", "-in", "device.key", "-pubout", "-outform", "DER")[-64:]
        key = {"kty": "EC", "crv": "P-256", "x": base64url(point[:32]), "y": base64url(point[32:])}
        claims = {"jti": str(uuid.uuid4()), "htm": method, "htu": url, "iat": int(time.time())}
        if token:
            claims["ath"] = base64url(hashlib.sha256(token.encode()).digest())
        header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": key}
        signed = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
        der = self.openssl("dgst", "-sha256", "-sign", "device.key", data=signed.encode())
        # ECDSA-Sig-Value is a sequence of two integers. JOSE requires 32 bytes of each.
        first = der[4:4 + der[3]]
        second = der[6 + der[3]:]
        return f"{signed}." + base64url(b"".join(part.lstrip(b"\0").rjust(32, b"\0") for part in (first, second)))

    def me(self, token, expected=(200,)):
        """The backend's own call: it verifies the session by token and proof."""
        url = f"{self.backend}/me"
        headers = {"Authorization": f"DPoP {token}", "DPoP": self.proof("GET", url, token)}
        return self.call("GET", url, expected=expected, **headers)

    def walk(self):
        """Certifies, signs in, calls the backend, signs out, and calls it again."""
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout",
                     "device.key", "-subj", "/CN=device", "-out", "device.csr")
        with open(f"{self.folder}/device.csr") as file:
            certified = self.call("POST", f"{self.public}/certificates", {"csr": file.read()})
        with open(f"{self.folder}/device.pem", "w") as file:
            file.write(certified["certificate"] + "".join(certified["chain"]))
        self.tls.load_cert_chain(f"{self.folder}/device.pem", f"{self.folder}/device.key")
        print(f"1  The device has a certificate: {certified['device_id']}")
        nonce = self.call("POST", f"{self.client}/nonces")["nonce"]
        print("2  It has a nonce, over mutual TLS")
        login = {"user": "ada", "password": "correct horse", "nonce": nonce}
        identity = self.call("POST", f"{self.backend}/login", login)["identity_token"]
        print("3  The backend has checked ada's password, and signed an identity token around the nonce")
        session = self.call("POST", f"{self.client}/sessions", {"identity_token": identity})["session_token"]
        print("4  Countersign has opened a session, bound to the device")
        url = f"{self.client}/token"
        token = self.call("POST", url, form={
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": session,
            "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "audience": json.load(open(f"{self.folder}/provider.json"))["provider_id"],
        }, DPoP=self.proof("POST", url))["access_token"]
        print("5  The device has a token for the backend, which only its key can use. The backend verifies it offline:")
        print(json.dumps(self.me(token), indent=2))
        self.call("DELETE", f"{self.client}/sessions/current", Authorization=f"Bearer {session}")
        ended = time.monotonic()
        while "error" not in (answer := self.me(token, (200, 401))):
            if time.monotonic() > ended + 10:
                raise SystemExit("No event arrived: the backend still accepts the token.")
        print(f"6  The user has signed out. {time.monotonic() - ended:.2f} s later an event has come, "
              f"and the backend says: {answer['error_description']}")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        raise SystemExit("Usage: python3 device.py PUBLIC CLIENT BACKEND FOLDER")
    Device(*sys.argv[1:]).walk()
