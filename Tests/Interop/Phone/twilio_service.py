"""Answers as Twilio's Messages resource does; the last four digits of `To` say how."""

import base64
import json
from urllib.parse import parse_qs

from Shared.stand_in import Handler, run, start

ACCOUNT = "AC" + "0123456789abcdef" * 2
TOKEN = "the-auth-token"
SID = "SM" + "fedcba9876543210" * 2

# A code of Twilio's dictionary, with the status that it comes with.
FAILURES = {"2211": (400, 21211), "2610": (400, 21610), "2408": (400, 21408), "2429": (429, 20429)}


class Messages(Handler):
    def failure(self, status, code, to):
        # Twilio's prose names the number: none of it may reach a log.
        body = {"code": code, "message": f"The 'To' number {to} does not do.", "status": status}
        self.answer(status, json.dumps(body).encode())

    def do_POST(self):
        fields = {name: values[0] for name, values in parse_qs(self.body().decode(), strict_parsing=True).items()}
        to = fields["To"]
        expected = "Basic " + base64.b64encode(f"{ACCOUNT}:{TOKEN}".encode()).decode()
        if self.headers["Authorization"] != expected:
            return self.failure(401, 20003, to)
        if self.path != f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json":
            return self.failure(404, 20404, to)
        assert self.headers["Content-Type"] == "application/x-www-form-urlencoded"
        self.server.seen.append(fields)
        if to[-4:] in FAILURES:
            return self.failure(*FAILURES[to[-4:]], to)
        match to[-4:]:
            case "2500":
                self.answer(500, b"<html>no</html>", "text/html")
            case "2000":
                self.hang()
            case "2777":
                self.drip(201)
            case "2999":
                self.answer(201, b'{"sid":"' + b"x" * 1_000_000 + b'"}')
            case "2307":
                self.answer(307, headers=[("Location", "/elsewhere")])
            case _:
                self.answer(201, json.dumps({"sid": SID, "status": "queued", "error_code": None}).encode())


if __name__ == "__main__":
    run(start(Messages), account=ACCOUNT, token=TOKEN, sid=SID)
