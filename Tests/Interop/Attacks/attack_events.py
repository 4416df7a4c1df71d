"""Attacks on what leaves the service: events to dead hosts, pushes of another provider, streams by a stolen token."""

import http.server
import json
import os
import socket
import statistics
import threading
import time
import urllib.parse
from collections import Counter

from Attacks.attack_world import attack, new_id, share
from Shared.checks import accepted, expect, soon
from Shared.client import Device
from Shared.phones import begin, check, code_of, new_number
from SharedSignals.shared_signals_receiver import POLL, Backend, Transmitter

RESOLVER = "127.0.0.99"
APPLICATION = "arn:aws:sns:us-east-1:123456789012:app/GCM/app"


class Server(http.server.ThreadingHTTPServer):
    """A stand-in on this machine that notes when it was called."""

    request_queue_size = 256
    daemon_threads = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.seen = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Says nothing."""

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Receiver(Handler):
    """A provider's receiver of events."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append(time.monotonic())
        self.answer(202)


class SNS(Handler):
    """Amazon SNS as slow as it may be."""

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        time.sleep(0.1)
        self.server.seen.append((time.monotonic(), form))
        self.answer(200, b"<PublishResponse><PublishResult><MessageId>m</MessageId></PublishResult></PublishResponse>")


def without_names(target):
    """A service whose name server takes every question and answers none."""
    silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    target.last.append(silent.close)
    silent.bind((RESOLVER, 53))
    file = target.directory / "resolv.conf"
    file.write_text(f"nameserver {RESOLVER}\noptions timeout:5 attempts:2\n")
    script = f'mount --bind {file} /etc/resolv.conf && exec "$@"'
    return {}, ["unshare", "--mount", "sh", "-c", script, "sh"], {}


def set_webhook(provider, url):
    body, path = json.dumps({"url": url}).encode(), "/provider/webhook"
    accepted(provider.call("PUT", path, provider.fresh_token("PUT", path, body), data=body,
                           headers={"Content-Type": "application/json"}))


def ended_session(device, provider):
    """Opens a session of a new user and ends it, which is an event; the moment."""
    token = accepted(device.create_session(
        provider.identity_token(f"user-{new_id()}", device.nonce()), provider.app_id), 201)["session_token"]
    device.end_session(token)
    return time.monotonic()


@attack(limits="off", arguments=["--loopback-urls"], prepare=without_names)
def dead_name_server(target):
    """A hundred events for a webhook whose name nobody resolves, and those of another provider beside them. Needs root."""
    expect(os.geteuid() == 0, "it needs root, for a name server of its own")
    other, receiver = target.other_provider(), Server(Receiver)
    time.sleep(1.5)
    device = Device(target.public, target.client, target.ca, "EC")
    accepted(device.certify(), 201)
    set_webhook(other, receiver.url + "/")

    def delays(count):
        times = []
        for _ in range(count):
            seen = len(receiver.seen)
            ended = ended_session(device, other)
            soon(lambda seen=seen: len(receiver.seen) > seen, "no event came")
            times.append(receiver.seen[seen] - ended)
        return times

    alone = delays(5)
    set_webhook(target.backend, "https://events.invalid/")
    for _ in range(100):
        ended_session(device, target.backend)
    beside = delays(5)
    receiver.shutdown()
    return (f"another provider's event takes {statistics.median(alone) * 1000:.0f} ms alone, beside them "
            f"{statistics.median(beside) * 1000:.0f} ms, {max(beside) * 1000:.0f} ms at most")


def with_pushes(target):
    """A service whose texts and pushes go to a stand-in."""
    target.sns = Server(SNS)
    target.last.append(target.sns.shutdown)
    policies = {
        "delivery.yaml": f"senders:\n  - kind: sns\n    region: us-east-1\n    endpoint: {target.sns.url}\n",
        "phones.yaml": f"push_applications: ['{APPLICATION}']\n"}
    return policies, (), {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


def with_endpoint(target, provider, name):
    """A user with a number and a push endpoint; the endpoint."""
    person, number = target.person(name, provider), new_number()
    endpoint = APPLICATION.replace(":app/", ":endpoint/") + "/" + new_id()
    started = accepted(begin(person.device, person.token, number, push_endpoint=endpoint), 202)
    [code] = soon(lambda: [code_of({"text": form["Message"]}) for _, form in list(target.sns.seen)
                            if form.get("PhoneNumber") == number], "text")
    accepted(check(person.device, person.token, started["id"], code))
    return person, endpoint


def notify(provider, person):
    path = f"/provider/users/{urllib.parse.quote(person.name, safe='')}/notifications"
    body = json.dumps({"id": new_id(), "title": "News"}).encode()
    return provider.call("POST", path, data=body, headers={"Content-Type": "application/json"}).status_code


@attack(limits="off", prepare=with_pushes)
def notifications_of_one_provider(target):
    """1,000 notifications of one provider, and then a push of another one's."""
    other = target.other_provider()
    time.sleep(1.5)
    flooded = [with_endpoint(target, target.backend, f"flooded-{number}")[0] for number in range(10)]
    quiet, endpoint = with_endpoint(target, other, "quiet")

    def delay():
        start = time.monotonic()
        seen = len(target.sns.seen)
        expect(notify(other, quiet) == 202, "the notification was not taken")
        came = soon(
            lambda: [at for at, form in target.sns.seen[seen:] if form.get("TargetArn") == endpoint], "no push came")
        return came[0] - start

    alone, statuses = delay(), Counter()
    for number in range(1000):
        statuses[notify(target.backend, flooded[number % len(flooded)])] += 1
    sent = len([1 for _, form in target.sns.seen if "TargetArn" in form])
    beside = delay()
    return (f"another one's push takes {alone * 1000:.0f} ms alone, {beside * 1000:.0f} ms behind them "
            f"({sent} of {statuses[202]} were out by then)")


@attack()
def stolen_bearer(target):
    """Who has stolen a provider's access token makes, changes and deletes event streams with it alone."""
    backend = Backend(target, Transmitter(target), target.backend, "ssf.manage")
    place = backend.transmitter.metadata["configuration_endpoint"]
    own = backend.proven("POST", {"delivery": {"method": POLL}})
    made, changed = Counter(), Counter()
    for _ in range(200):
        made[backend.call("POST", place, {"delivery": {"method": POLL}}).status_code] += 1
    stream = own.json().get("stream_id", new_id())
    for _ in range(50):
        changed[backend.call("PATCH", place, {"stream_id": stream, "description": "x"}).status_code] += 1
        changed[backend.call("DELETE", place, stream_id=stream).status_code] += 1
    after = backend.proven("POST", {"delivery": {"method": POLL}}).status_code
    total = sum(changed.values())
    return (f"{made[201]} of 200 streams made, {share(200 - made[201], 200)} refused; "
            f"{share(total - changed[200] - changed[204], total)} of changes refused; the owner's next stream: {after}")
