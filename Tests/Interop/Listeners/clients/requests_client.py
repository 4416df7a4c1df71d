"""requests, which speaks HTTP/1.1 alone."""

import json
import sys

import requests

world = json.load(open(sys.argv[1]))
authorization = {"Authorization": f'Layer session-token="{world["token"]}"'}
with requests.Session() as session:
    session.trust_env, session.verify = False, world["ca"]
    certified = session.post(world["public"] + "/certificates", json={"csr": world["csrs"][0]}, timeout=60)
    assert certified.status_code == 201, certified.text
    session.cert = (world["certificate"], world["key"])
    for _ in range(20):
        nonce = session.post(world["client"] + "/nonces", timeout=60)
        assert nonce.status_code == 201 and nonce.json()["nonce"], nonce.text
        head = session.head(world["client"] + "/sessions/current", headers=authorization, timeout=60)
        assert head.status_code == 200 and not head.content
        current = session.get(world["client"] + "/sessions/current", headers=authorization, timeout=60)
        assert current.status_code == 200 and current.json()["user_id"] == world["user_id"], current.text
    # A body in chunks.
    refused = session.post(
        world["client"] + "/sessions", data=iter([b"{", b"}"]), headers={"Content-Type": "application/json"}, timeout=60)
    assert refused.status_code == 400 and refused.json()["code"] == "malformed_request", refused.text
    print("HTTP/1.1")
