"""Steps: the proof of a phone number, from the first text to the right code."""

import base64
import hashlib
import json
import random
import time
import uuid
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import serialization

from Shared.checks import (
    accepted, challenged, equal, expect, lives, not_stored, now, refused, refused_with_nonce, soon, step, whole_lines)
from Shared.client import Device, base64url, new_key


def new_number():
    """A number that no earlier run is likely to have used."""
    return f"+1415{random.randint(2, 9)}{random.randint(0, 999999):06d}"


def texts(path, number):
    """The texts that went to a number, oldest first."""
    if not Path(path).exists():
        return []
    lines = [json.loads(line) for line in whole_lines(Path(path))]
    return [line for line in lines if line["to"] == number]


def code_of(line):
    """The code of a text, from its last line, which autofill reads."""
    last = line["text"].splitlines()[-1]
    expect(last.startswith("@") and " #" in last, f"the last line is {last!r}")
    return last.split(" #")[1]


def wait_for_texts(path, number, count=1):
    """The codes of the texts to a number, once there are so many."""
    soon(lambda: len(texts(path, number)) >= count, lambda: f"only {texts(path, number)} came to {number}")
    found = texts(path, number)
    equal(len(found), count, f"the number of texts to {number}")
    return [code_of(line) for line in found]


def begin(device, token, number, **members):
    """`POST /phone-verifications`."""
    return device.call("POST", "/phone-verifications", token, json={"phone_number": number, **members})


def check(device, token, verification, code):
    """`POST /phone-verifications/{id}/check`."""
    return device.call("POST", f"/phone-verifications/{verification}/check", token, json={"code": code})


def resend(device, token, verification):
    """`POST /phone-verifications/{id}/resend`."""
    return device.call("POST", f"/phone-verifications/{verification}/resend", token)


def wrong(code):
    """A code of the same length that is not this one."""
    return str((int(code) + 1) % 10 ** len(code)).zfill(len(code))


@step
def prove_number(world):
    """A text brings the code; a repeated start sends nothing; the right code verifies, and again gives the same answer."""
    device, number = world.device(), new_number()
    session = world.log_in(device, world.user())
    token = session["session_token"]
    asked = now()
    answer = begin(device, token, number, push_endpoint=None)
    started = accepted(answer, 202)
    not_stored(answer)
    equal(set(started), {"id", "expires_at", "resend_after", "digits"}, "the members")
    equal(started["digits"], 6, "digits")
    lives(started["expires_at"], 300, asked)
    lives(started["resend_after"], 30, asked)
    [code] = wait_for_texts(world.texts, number)
    expect(len(code) == 6 and code.isdecimal(), f"the code is {code!r}")
    again = accepted(begin(device, token, number), 202)
    equal(again["id"], started["id"], "the id of a repeated start")
    refused(check(device, token, started["id"], wrong(code)), 422, "verification_failed")
    proved = accepted(check(device, token, started["id"], code))
    equal(proved, {"user_id": session["user_id"], "assurance": "phone"}, "the answer to the right code")
    equal(accepted(check(device, token, started["id"], code)), proved, "the answer to the right code, sent again")
    equal(len(texts(world.texts, number)), 1, "the number of texts")


@step
def national_number(world):
    """A number in its national form is read by its region, and meets the start that wrote it in full."""
    device, number = world.device(), new_number()
    token = world.log_in(device, world.user())["session_token"]
    started = accepted(begin(device, token, number), 202)
    national = f"({number[2:5]}) {number[5:8]}-{number[8:]}"
    equal(accepted(begin(device, token, national, region="US"), 202)["id"], started["id"], "the id")
    refused(begin(device, token, national), 400, "malformed_request")


@step
def malformed_starts(world):
    """What is no number, no endpoint of this service's applications or no known member is refused as malformed."""
    device = world.device()
    token = world.log_in(device, world.user())["session_token"]
    for number in ("", "+", "12", "hello", "+1415", "+1" + "5" * 40):
        refused(begin(device, token, number), 400, "malformed_request")
    number = new_number()
    endpoint = "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/elsewhere/" + str(uuid.uuid4())
    refused(begin(device, token, number, push_endpoint=endpoint), 400, "malformed_request")
    refused(begin(device, token, number, colour="red"), 400, "malformed_request")
    refused(device.call("POST", "/phone-verifications", token, json={}), 400, "malformed_request")
    refused(check(device, token, str(uuid.uuid4()), 123456), 400, "malformed_request")
    equal(texts(world.texts, number), [], "the texts")


@step
def phone_needs_session(world):
    """Without a session nothing is sent; an identity token in the header opens one in passing."""
    device, number = world.device(), new_number()
    challenged(world, begin(device, None, number), "session_required")
    identity = world.provider.identity_token(world.user(), device.nonce())
    value = f'Layer realm="{world.realm}", identity-token="{identity}", app-id="{world.provider.app_id}"'
    answer = device.call(
        "POST", "/phone-verifications", headers={"Authorization": value}, json={"phone_number": number})
    accepted(answer, 202)
    token = answer.headers["X-Layer-Session-Token"]
    equal(device.current(token).status_code, 200, "the status of an action in the session made in passing")


@step
def presence(world):
    """A presence proof by the registered key is taken once; a stranger's key and another number's proof are refused."""
    key = new_key("EC")
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    device = world.devices["presence"] = Device(world.public, world.client, world.authority, "EC")
    accepted(device.certify(presence_key=public), 201)
    token = world.log_in(device, world.user())["session_token"]
    number = new_number()

    def proof(number=number, signer=key, **changes):
        claims = {
            "nce": device.nonce(), "iat": int(time.time()), "method": "touch_id",
            "phone_sha256": base64url(hashlib.sha256(number.encode()).digest()), **changes}
        return jwt.encode(claims, signer, "ES256", headers={"typ": "JWS", "cty": "layer-presence;v=1"})

    good = proof()
    accepted(begin(device, token, number, presence=good), 202)
    refused_with_nonce(begin(device, token, number, presence=good), 422, "invalid_presence_proof", "nonce_used")
    cases = {
        "bad_signature": proof(signer=new_key("EC")), "malformed": proof(number=new_number()),
        "expired": proof(iat=int(time.time()) - 600), "nonce_unknown": proof(nce=base64.b64encode(b"x" * 48).decode()),
    }
    for reason, text in cases.items():
        refused_with_nonce(begin(device, token, number, presence=text), 422, "invalid_presence_proof", reason)
