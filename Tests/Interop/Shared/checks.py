"""What every step uses: the list of steps, the world they act in, and how an answer is judged."""

import datetime
import re
import time
import urllib.parse
import uuid

from Shared.client import Device

# Seconds against hanging. A machine that is busy takes ten times as long as a free one.
PATIENCE = 180
STEPS = []
CHALLENGE = re.compile(r'^Layer realm="(?P<realm>[^"]+)", nonce="(?P<nonce>[^"]+)"(?:, Bearer .+)?$')


def step(function):
    """Adds a function of the world to the flow; its docstring is what the flow prints."""
    STEPS.append(function)
    return function


class World:
    """The listeners under test, the provider, and the devices made on the way."""

    def __init__(self, public, client, ops, authority, provider, texts):
        self.public, self.client, self.ops, self.authority = public, client, ops, authority
        self.provider, self.realm, self.texts = provider, provider.realm, texts
        self.devices = {}

    def device(self, name="first", kind="RSA"):
        """A certified device, made when its name is first used."""
        if name not in self.devices:
            device = self.devices[name] = Device(self.public, self.client, self.authority, kind)
            accepted(device.certify(), 201)
        return self.devices[name]

    def user(self, name="user"):
        """A user id of the provider's that no earlier run has used."""
        return f"{name}-{uuid.uuid4()}"

    def log_in(self, device, user, provider=None):
        """Opens a session and gives the answer's body."""
        provider = provider or self.provider
        token = provider.identity_token(user, device.nonce())
        return accepted(device.create_session(token, provider.app_id), 201)

    def close(self):
        """Closes every device."""
        for device in self.devices.values():
            device.close()


class Failure(AssertionError):
    """The service did not do what the contract says."""


def expect(condition, message):
    """Fails with the message unless the condition holds."""
    if not condition:
        raise Failure(message)


def soon(look, what, seconds=PATIENCE):
    """The first true value of a look. Without one in time it fails with `what`: a text, or a function that gives one."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > deadline:
            raise Failure(what() if callable(what) else what)
        time.sleep(0.02)
    return found


def equal(found, wanted, what):
    """Fails unless both are equal."""
    expect(found == wanted, f"{what} is {found!r}, not {wanted!r}")


def accepted(answer, status=200):
    """The body of a success of this status."""
    expect(answer.status_code == status, f"{answer.status_code}, not {status}: {answer.text[:300]}")
    return answer.json() if answer.text else None


def not_stored(answer):
    """An answer that holds a token, nonce or code must not be cached."""
    expect("no-store" in answer.headers.get("Cache-Control", ""), "Cache-Control: no-store is missing")


def refused(answer, status, code, reason=None):
    """The body of a refusal, which must be a whole problem document (RFC 9457) of this status, code and reason."""
    expect(answer.status_code == status, f"{answer.status_code}, not {status} {code}: {answer.text[:300]}")
    media_type = answer.headers.get("Content-Type", "").split(";")[0]
    path = urllib.parse.urlsplit(str(answer.url)).path
    oauth = path in ("/token", "/introspect", "/revoke") or path.startswith("/ssf/")
    equal(media_type, "application/json" if oauth else "application/problem+json", "the media type")
    body = answer.json()
    if oauth:
        expect(body["error"] and body["error_description"] == re.sub(r"[^ !#-[\]-~]", "?", body["detail"]), f"no error of OAuth in {body}")
    for member in ("type", "title", "status", "code", "detail", "request_id"):
        expect(member in body, f"{member} is missing in {body}")
    page, _, anchor = body["type"].partition("#")
    expect(page.startswith("https://") and page.endswith("/problems/" + code), page)
    expect(anchor == (body.get("reason", "") if code != "user_banned" else ""), f"{body['type']} leads to no row of the reason")
    equal(answer.headers.get("X-Request-ID"), body["request_id"], "X-Request-ID")
    equal(body["status"], status, "status in the body")
    equal(body["code"], code, "code")
    if reason:
        equal(body.get("reason"), reason, "reason")
    return body


def refused_with_nonce(answer, status, code, reason=None):
    """A refusal that hands out the nonce to go on with."""
    body = refused(answer, status, code, reason)
    expect(len(body.get("nonce", "")) >= 22, "no nonce of at least 128 bits in the body")
    expect(moment(body["nonce_expires_at"]) > now(), "the nonce is expired already")
    not_stored(answer)
    return body


def challenged(world, answer, code, reason=None):
    """A 401 of the client listener: the same nonce in the body and in the challenge header."""
    body = refused_with_nonce(answer, 401, code, reason)
    challenge = CHALLENGE.match(answer.headers.get("WWW-Authenticate", ""))
    expect(challenge, f"WWW-Authenticate is {answer.headers.get('WWW-Authenticate')!r}")
    equal(challenge["realm"], world.realm, "the realm")
    equal(challenge["nonce"], body["nonce"], "the nonce in the header")
    return body["nonce"]


def refused_somehow(answer):
    """A refusal by the client's fault where the contract does not name the code."""
    expect(400 <= answer.status_code < 500, f"{answer.status_code}, not a refusal: {answer.text[:300]}")
    return refused(answer, answer.status_code, answer.json()["code"])


def lives(text, seconds, asked):
    """Fails unless a time is so many seconds after the service answered, which was after the test asked. It may be rounded."""
    least, most = (instant + datetime.timedelta(seconds=seconds) for instant in (asked, now()))
    slack = datetime.timedelta(milliseconds=1000)
    expect(least - slack <= moment(text) <= most + slack, f"{text} is not {seconds} s after {asked} to {now()}")


def whole_lines(path):
    """The lines of a file that somebody may be writing: the last one counts once it has its end."""
    return path.read_text().rpartition("\n")[0].splitlines()


def now():
    """The present, with its zone."""
    return datetime.datetime.now(datetime.timezone.utc)


def moment(text):
    """An RFC 3339 time in UTC."""
    parsed = datetime.datetime.fromisoformat(text)
    expect(parsed.utcoffset() == datetime.timedelta(0), f"{text} is not in UTC")
    return parsed
