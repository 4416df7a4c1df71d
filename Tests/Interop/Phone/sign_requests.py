"""Signs requests with botocore's SigV4Auth, the signer of Amazon's own Python tools.

Reads JSON lines on standard input: {"method", "url", "headers": [[name, value], …], "body": base64, "region",
"service", "access_key", "secret_key", "token": text or null, "time": "20260131T235959Z"}. For each one line is printed:
an object of the fields that make it a signed request.
"""

import base64
import datetime
import json
import sys

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

ADDED = ("X-Amz-Date", "X-Amz-Security-Token", "Authorization")


def signed(case):
    request = AWSRequest(method=case["method"], url=case["url"], data=base64.b64decode(case["body"]))
    for name, value in case["headers"]:
        request.headers.add_header(name, value)
    time = datetime.datetime.strptime(case["time"], botocore.auth.SIGV4_TIMESTAMP)
    botocore.auth.get_current_datetime = lambda: time
    credentials = Credentials(case["access_key"], case["secret_key"], case["token"])
    botocore.auth.SigV4Auth(credentials, case["service"], case["region"]).add_auth(request)
    return {name: request.headers[name] for name in ADDED if name in request.headers}


def main():
    print("\n".join(json.dumps(signed(json.loads(line))) for line in sys.stdin))


if __name__ == "__main__":
    main()
