"""Is the collector of a service that records spans: a span for each request, the store's waits and outgoing calls inside.

It is the captcha's judge as well, to see what trace a question to it belongs to.
"""

import http.server
import json
import re
import threading
import urllib.request

from Shared import options
from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT, Device, https

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"
SPANS, ASKED, DEFECTS = [], [], []


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes spans at /v1/traces, and captchas."""

    def log_message(self, *_):
        """Says nothing."""

    def do_POST(self):
        """Keeps what came."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/siteverify":
            ASKED.append(self.headers["traceparent"])
            answer = b'{"success":true}'
        else:
            if (self.path, self.headers["Content-Type"]) != ("/v1/traces", "application/json"):
                DEFECTS.append((self.path, self.headers["Content-Type"]))
            for resource in json.loads(body)["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    SPANS.extend(scope["spans"])
            answer = b"{}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def header(number, sampled=True):
    """A traceparent of the caller's, a trace for each number."""
    return {"traceparent": f"00-{TRACE[:-4]}{number:04x}-{CALLER}-0{int(sampled)}"}


def of(number, least=1):
    """The spans of a trace, once so many have come."""
    def found():
        return [span for span in SPANS if span["traceId"] == f"{TRACE[:-4]}{number:04x}"]

    soon(lambda: len(found()) >= least, lambda: f"{len(found())} spans of trace {number} came, not {least}")
    return found()


def attribute(span, name):
    """The value of an attribute."""
    for entry in span["attributes"]:
        if entry["key"] == name:
            return next(iter(entry["value"].values()))
    return None


def outer(spans, name):
    """The one span of the request among them, the caller's child."""
    found = [span for span in spans if span["kind"] == 2]
    equal([span["name"] for span in found], [name], "the spans of requests")
    equal(found[0].get("parentSpanId"), CALLER, "the parent of the request's span")
    return found[0]


def counter(chosen, name):
    """A counter of the service."""
    text = urllib.request.urlopen(chosen.ops + "/metrics", timeout=60).read().decode()
    found = re.search(rf"^countersign_{name}_total (\d+)$", text, re.M)
    return int(found[1]) if found else 0


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--port", type=int, required=True)
    chosen = parser.parse_args()

    def drops():
        urllib.request.urlopen(chosen.ops + "/livez", timeout=TIMEOUT).read()
        return counter(chosen, "spans_dropped") > 0

    soon(drops, "no span was dropped while nobody collected them")
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", chosen.port), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()

    device = Device(chosen.public, chosen.client, chosen.ca, "EC")
    with https(chosen.ca) as public:
        answer = public.post(chosen.public + "/certificates", timeout=TIMEOUT, headers=header(1),
                             json={"csr": device.layer_csr(), "captcha": "anything"})
    accepted(answer, 201)
    device.adopt(answer.json())
    spans = of(1, 3)
    request = outer(spans, "POST /certificates")
    equal(attribute(request, "http.response.status_code"), "201", "the status")
    equal(attribute(request, "countersign.request_id"), answer.headers["X-Request-ID"], "the request's id")
    inner = [span for span in spans if span is not request]
    expect(all(span["parentSpanId"] == request["spanId"] for span in inner), f"{inner}")
    expect(any(span["name"].startswith("store ") for span in inner), f"no wait for the store in {inner}")
    for span in spans:
        expect(int(request["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) <= int(request["endTimeUnixNano"]),
               f"{span} is not inside")
    question = [span for span in inner if span["name"] == "POST"]
    equal(len(question), 1, "the spans of the question to the judge")
    equal(ASKED, [f"00-{TRACE[:-4]}0001-{question[0]['spanId']}-01"], "what the judge was sent")
    expect(str(chosen.port) in attribute(question[0], "server.address"), question[0])

    # The fast path has a span too; what the caller does not record is not recorded, nor what names no trace badly.
    accepted(device.call("POST", "/nonces", headers=header(5)), 201)  # the first one waits for the store
    before = counter(chosen, "fast_path_answers")
    answer = device.call("POST", "/nonces", headers=header(2))
    accepted(answer, 201)
    equal(counter(chosen, "fast_path_answers"), before + 1, "answers of the fast path")
    equal(len(of(2)), 1, "the spans of an answer from memory")
    outer(of(2), "POST /nonces")
    accepted(device.call("POST", "/nonces", headers=header(3, sampled=False)), 201)
    accepted(device.call("POST", "/nonces", headers={"traceparent": "00-" + "z" * 40}), 201)
    refused = device.call("GET", "/sessions/current", headers=header(4))
    equal(refused.status_code, 401, "the status")
    equal(attribute(outer(of(4), "GET /sessions/current"), "countersign.code"), "session_required", "the code")
    equal([span for span in SPANS if span["traceId"].endswith("0003")], [], "spans that the caller does not record")
    roots = [span for span in SPANS if "parentSpanId" not in span and span["name"] == "POST /nonces"]
    equal(len(roots), 1, "spans of a request that names no trace")
    equal(DEFECTS, [], "requests that are no spans")
    text = json.dumps(SPANS)
    for secret in ("anything", device.layer_csr()[:40]):
        expect(secret not in text, f"{secret} is in a span")
    print(f"{len(SPANS)} spans")


if __name__ == "__main__":
    main()
