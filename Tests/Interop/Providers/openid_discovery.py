"""An OpenID provider of which no two answers are alike: the first part of the path is its issuer, and says how it answers.
Those that are not named here are as they should be.
"""

import gzip
import json

from Shared.stand_in import Handler, run, start

KEYS = json.dumps({"keys": [{"kid": "k", "kty": "OKP", "crv": "Ed25519", "x": "A" * 43}]}).encode()


class Provider(Handler):
    def do_GET(self):
        if self.path == "/seen":
            return super().do_GET()
        self.server.seen.append({
            "path": self.path, "accept": self.headers["Accept"], "agent": self.headers["User-Agent"],
            "coding": self.headers["Accept-Encoding"]})
        here = f"http://127.0.0.1:{self.server.server_address[1]}"
        case, _, what = self.path[1:].partition("/")
        issuer = f"{here}/{case}"
        if what == "jwks":
            return self.key_set(case)
        document = {"issuer": issuer, "jwks_uri": f"{issuer}/jwks", "more": {"a": [1, 2.5, None]}}
        match case:
            case "other":
                document["issuer"] = f"{here}/good"
            case "slash":
                document["issuer"] = f"{issuer}/"
            case "tenants":
                document["issuer"] = f"{here}/{{tenantid}}/v2.0"
            case "scopes":
                document["scopes_supported"] = [f"scope-{number}" for number in range(300)]
            case "mute":
                del document["issuer"]
            case "keyless":
                del document["jwks_uri"]
            case "private":
                document["jwks_uri"] = "https://192.168.1.1/jwks"
            case "metadata":
                document["jwks_uri"] = "http://169.254.169.254/latest/meta-data"
            case "clear":
                document["jwks_uri"] = "http://idp.example/jwks"
            case "file":
                document["jwks_uri"] = "file:///etc/passwd"
            case "inside":
                document["jwks_uri"] = "https://intranet/jwks"
            case "redirect":
                return self.answer(302, headers=[("Location", f"{here}/good/.well-known/openid-configuration")])
            case "large":
                return self.answer(200, b" " * 10_485_760)
            case "drip":
                return self.drip(200)
            case "hang":
                return self.hang()
            case "500" | "204" | "404":
                return self.answer(int(case))
            case "twice":
                text = json.dumps(document)
                return self.answer(200, text.replace("{", '{"issuer": "x", ', 1).encode())
            case "html":
                return self.answer(200, b"<html></html>", "text/html")
        self.answer(200, json.dumps(document).encode())

    def key_set(self, case):
        match case:
            case "keys-redirect":
                self.answer(307, headers=[("Location", "/good/jwks")])
            case "keys-large":
                self.answer(200, b" " * 10_485_760)
            case "keys-long":
                self.answer(200, KEYS[:-2] + b", " + json.dumps({"kty": "RSA", "x5c": ["A" * 80_000]}).encode() + b"]}")
            case "keys-gzip":
                self.answer(200, gzip.compress(KEYS), headers=[("Content-Encoding", "gzip")])
            case "keys-drip":
                self.drip(200)
            case "keys-404":
                self.answer(404)
            case _:
                self.answer(200, KEYS, headers=[("Cache-Control", "public, max-age=1200")])


if __name__ == "__main__":
    run(start(Provider))
