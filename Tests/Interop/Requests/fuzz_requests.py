"""Sends every route of `/openapi.json` requests of which one part is odd: each path part, query parameter, header and member of
the body, the claims of signed tokens, and parts that nobody knows. Whatever is sent, the answer is none of 5xx, and
there is one. With `--pid` none may cost much more than others of its route. A route that is new in the description comes along
by itself; a seed gives the same requests again.

    python3 fuzz_requests.py … --rounds 2 --seed 1
"""

import json
import random
import re
import ssl
import sys
import time
import urllib.parse

import requests

from Shared import options
from Shared.client import TIMEOUT, https
from Requests.fuzz_channels import HTTP1, HTTP2
from Requests.fuzz_costs import Costs
from Requests.fuzz_values import NUMBERS, ends, odd, odd_json, odd_text
from Requests.fuzz_world import World

HEADERS = [
    "Authorization", "Content-Type", "Accept", "Accept-Encoding", "Accept-Language", "User-Agent", "Cookie", "Range", "If-Match",
    "If-None-Match", "If-Modified-Since", "Origin", "Referer", "Forwarded", "X-Forwarded-For", "X-Request-ID", "Traceparent",
    "Date", "Priority", "Cache-Control", "X-Layer-Session-Token", "X-Unknown",
]
# They say where a request ends: answers may be none, and the connection is of no more use.
FRAMING = ["Content-Length", "Transfer-Encoding", "Expect", "Connection", "Upgrade", "Host", "TE", "Trailer", "HTTP2-Settings"]
SCHEMES = ["Layer ", "layer ", "LAYER\t", "Bearer ", "Basic ", "Layer realm=\"x\", ", "Layer session-token='", "Layer =", "", ","]
SIGNED = {"identity_token", "csr", "proof"}
CLAIMS = [
    "iss", "prn", "sub", "nce", "iat", "exp", "nbf", "aud", "app_id", "display_name", "avatar_url", "kid", "jti", "uat", "pka",
    "pky", "body_sha256", "htm", "htu", "sub_id", "events", "toe", "x",
]
QUERIES = [
    "&&&", "&=", "&%", "&box&box", "&cursor=%zz", "&a=" + "b" * 6000, "&x" * 2000, "&%00=%00", "?", "&box=in&box=in"]
BODIES = ["[" * 2000, "{\"a\":" * 2000, "\"\\ud800\"", "{\"" + "\\u0000" * 9 + "\":1e999}", "\ufeff{}", "{}" + " " * 60000]
# They take away what the other requests need, and come last.
ENDING = [("delete", "/me"), ("delete", "/sessions/current"), ("delete", "/certificates/current")]


def form(pairs):
    """Pairs as a form or a query."""
    return urllib.parse.urlencode([(key, value if isinstance(value, str) else json.dumps(value)) for key, value in pairs])


class Failure(Exception):
    """An answer that should not be."""


class Fuzz:
    """The requests of one seed."""

    def __init__(self, chosen):
        self.chosen, self.random, self.sent, self.statuses = chosen, random.Random(chosen.seed), 0, {}
        with https(chosen.ca) as public:
            self.document = public.get(chosen.public + "/openapi.json", timeout=TIMEOUT).json()
        self.world = World(chosen, self.random)
        self.given, self.failures, self.is_erased = None, [], False
        self.channels = {}
        self.costs = Costs(chosen.pid) if chosen.pid else None

    def listener(self, path):
        servers = self.document["paths"][path].get("servers") or self.document["servers"]
        return (servers[0] if len(servers) == 1 else self.random.choice(servers))["description"].split()[0]

    def channel(self, listener):
        """A connection to a listener: over TLS one of HTTP/2 for every second request."""
        version = HTTP2 if self.sent % 2 and listener != "ops" else HTTP1
        if (listener, version) not in self.channels:
            context = ssl.create_default_context(cafile=self.chosen.ca)
            if listener == "client":
                context.load_cert_chain(*self.world.device.files)
            self.channels[listener, version] = version(getattr(self.chosen, listener), context)
        return self.channels[listener, version]

    def operations(self):
        found = [(method, path, operation) for path, methods in self.document["paths"].items()
                 for method, operation in methods.items() if method in ("get", "post", "put", "patch", "delete")]
        return sorted(found, key=lambda item: item[:2] in ENDING)

    def resolve(self, schema):
        while "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].split("/")[-1]]
        return schema

    def members(self, operation):
        """Media type and members of the body."""
        for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
            return media_type, self.resolve(content["schema"]).get("properties", {})
        return None, {}

    def places(self, path, operation, with_framing):
        """Every part of a request that can be odd."""
        parameters = self.document["paths"][path].get("parameters", []) + operation.get("parameters", [])
        media_type, members = self.members(operation)
        places = [("path", name) for name in re.findall(r"\{(\w+)\}", path)]
        places += [("path", None), ("query", "unknown"), ("query", None)]
        places += [("query", parameter["name"]) for parameter in parameters if parameter.get("in") == "query"] * 4
        places += [("header", name) for name in HEADERS + (FRAMING if with_framing else [])]
        places += [("header", "Authorization")] * 3
        places += [("member", name) for name in members] * 4
        if media_type:
            places += [("member", "unknown"), ("member", None), ("body", None), ("body", None)]
        schemes = {scheme for choice in operation.get("security", []) for scheme in choice}
        if media_type == "application/secevent+jwt" or SIGNED & set(members) or "providerToken" in schemes:
            places += [("claim", name) for name in CLAIMS]
        return places

    def values(self, path, operation):
        """The parts that hold a value of one parameter or member."""
        return {place for place in self.places(path, operation, with_framing=False)
                if place[0] in ("path", "query", "member") and place[1]}

    def odd(self, name, path):
        """The value of the odd part: the one that is given, or one by chance."""
        return self.given if self.given is not None else odd(self.world.good(name, path), self.random)

    def request(self, method, path, operation, kind, name):
        """Method, target, fields and body of a request with one odd part."""
        world, rnd = self.world, self.random
        media_type, properties = self.members(operation)
        target = path
        for part in re.findall(r"\{(\w+)\}", path):
            value = world.good(part, path)
            if (kind, name) == ("path", part):
                value = str(self.odd(part, path))
            safe = "" if rnd.random() < 0.8 else "%;:@&=+$,!*'()"
            target = target.replace("{" + part + "}", urllib.parse.quote(value, safe=safe) or "%")
        if (kind, name) == ("path", None):
            target += rnd.choice(["/", "//", "/.", "/..", "/%2e%2e", ";x=1", "%", "%00", "/" + "a" * 5000, "/%ff"])
        # The names of a parameter that is an object are the caller's: most of them are refused.
        query = [(parameter["name"], world.good(parameter["name"], path)) for parameter in operation.get("parameters", [])
                 if parameter.get("in") == "query" and parameter["schema"]["type"] != "object" and rnd.random() < 0.7]
        if kind == "query" and name:
            query = [item for item in query if item[0] != name] + [(name, self.odd(name, path))]
        text = form(query)
        if (kind, name) == ("query", None):
            text += rnd.choice(QUERIES)
        target += "?" + text if text else ""
        body = self.body(path, media_type, properties, kind, name)
        fields = {"Host": "localhost"}
        if body is not None:
            fields |= {"Content-Type": media_type, "Content-Length": str(len(body))}
        elif method in ("post", "put", "patch"):
            fields["Content-Length"] = "0"
        schemes = [scheme for choice in operation.get("security", []) for scheme in choice]
        if "layer" in schemes:
            fields["Authorization"] = world.layer()
        elif "providerToken" in schemes:
            fields["Authorization"] = world.bearer(method.upper(), target, body or b"")
            if kind == "claim" and not SIGNED & set(properties):
                fields["Authorization"] = world.signed_bearer(
                    name, odd_json(rnd), method.upper(), target, body or b"")
        if kind == "header":
            value = odd(fields[name], rnd) if name in fields and rnd.random() < 0.8 else odd_text(rnd)
            if name == "Authorization" and rnd.random() < 0.3:
                value = rnd.choice(SCHEMES) + odd_text(rnd)
            if name == "Content-Length":
                value = rnd.choice(NUMBERS)
            fields[name] = re.sub(r"[\r\n]", "", value if isinstance(value, str) else json.dumps(value))
        return method.upper(), target, fields, body or b""

    def body(self, path, media_type, properties, kind, name):
        """The bytes of a body; `None` where the route takes none."""
        world, rnd = self.world, self.random
        if not media_type:
            return None
        if media_type == "application/secevent+jwt":
            token = world.event(name, odd_json(rnd)) if kind == "claim" else world.event()
            return str(odd(token, rnd) if kind == "body" else token).encode(errors="replace")
        members = [(key, world.good(key, path)) for key in properties if rnd.random() < 0.8 or key == name]
        if "aamva" in properties:
            members = [item for item in members if item[0] == rnd.choice(["aamva", "mrz", name])]
        if kind == "claim":
            makers = {"identity_token": world.signed, "csr": world.signed_request, "proof": world.signed_proof}
            members = [(key, makers[key](name, odd_json(rnd)) if key in makers else value) for key, value in members]
        if kind == "member":
            chosen = name or (members[0][0] if members else "twice")
            if name:
                members = [item for item in members if item[0] != name]
            members.append((chosen, self.odd(chosen, path)))
        if media_type == "application/x-www-form-urlencoded":
            text = form(members)
        else:
            write = lambda value: json.dumps(value, ensure_ascii=rnd.random() < 0.5)
            text = "{" + ",".join(f"{json.dumps(key)}:{write(value)}" for key, value in members) + "}"
        if kind == "body":
            text = rnd.choice([str(odd(text, rnd)), json.dumps(odd_json(rnd)), text + text, *BODIES])
        return text.encode(errors="replace")

    def send(self, method, path, operation, kind, name):
        listener = self.listener(path)
        request = self.request(method, path, operation, kind, name)
        framing = kind == "header" and name in FRAMING
        channel = self.channel(listener)
        send, wrong = lambda: channel.exchange(*request, patient=not framing), None
        if self.costs and not framing:
            answer, wrong = self.costs.measure(f"{method.upper()} {path}", channel, send)
        else:
            answer = send()
        self.sent += 1
        shown = f"request {self.sent} by {type(channel).__name__}, odd {kind} {name}: {str(request)[:3000]}"
        if wrong:
            self.failures.append(f"{wrong}: {shown}")
        if answer is None:
            try:
                requests.get(self.chosen.ops + "/livez", timeout=TIMEOUT)
            except requests.exceptions.RequestException as error:
                raise Failure(f"the service is gone after {shown}") from error
            # Bytes that no field or target may hold end the connection.
            if framing or kind in ("header", "path", "query"):
                return
            raise Failure(f"no answer to {shown}")
        status, body = answer
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status >= 500 and not (framing and status == 501):
            self.failures.append(f"{status} {body[:500]!r} to {shown}")
        if (method, path) == ("delete", "/me") and status < 300:
            self.is_erased = True
        is_over = status in (401, 403) and re.search(rb'"(session_\w+|certificate_revoked)"', body)
        if ((method, path) in ENDING and status < 300 or is_over) and (kind, name) != ("header", "Authorization"):
            self.heal()

    def heal(self):
        """What the request ended is made anew: the device's certificate, the session."""
        world = self.world
        # While the data of a user is erased, a sign-in of the same user is refused for a moment. The erasing request may
        # have been one whose odd field is Authorization, after which nothing is healed.
        if self.is_erased:
            world.user, self.is_erased = world.new_user(), False
        world.device.reconnect()  # a revocation closes the connections
        if world.device.call("POST", "/nonces").status_code != 201:
            world.device = world.certify()
            for version in (HTTP1, HTTP2):
                if ("client", version) in self.channels:
                    self.channels.pop(("client", version)).close()
        world.session = world.sign_in(world.device, world.user)

    def chosen_ones(self, places):
        """Every place, or one in so many; which ones depends on the seed."""
        return [place for place in places if self.random.randrange(self.chosen.one_in) == 0]

    def run(self):
        for turn in range(self.chosen.rounds):
            for index, (method, path, operation) in enumerate(self.operations()):
                for kind, name in self.chosen_ones(self.places(path, operation, with_framing=index % 9 == turn % 9)):
                    self.send(method, path, operation, kind, name)
                for kind, name in self.chosen_ones(sorted(self.values(path, operation))) if turn == 0 else []:
                    for self.given in ends(self.world.good(name, path)):
                        self.send(method, path, operation, kind, name)
                    self.given = None
            ready = requests.get(self.chosen.ops + "/readyz", timeout=TIMEOUT)
            if ready.json()["ready"] is not True:
                raise Failure(f"not ready: {ready.text}")
        if self.failures:
            raise Failure("\n".join(self.failures[:20]))


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--one-in", type=int, default=1, help="change one place in so many")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--pid", type=int, help="the service's process: what each request costs it is looked at")
    chosen = parser.parse_args()
    fuzz = Fuzz(chosen)
    try:
        fuzz.run()
    except Failure as failure:
        print(f"seed {chosen.seed}: {failure}")
        return 1
    finally:
        print(f"seed {chosen.seed}: {fuzz.sent} requests to {len(fuzz.operations())} operations,"
              f" answers {dict(sorted(fuzz.statuses.items()))}" + (f"; {fuzz.costs}" if fuzz.costs else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
