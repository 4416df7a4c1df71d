"""httpx over HTTP/1.1 and HTTP/2."""

import json
import ssl
import sys
import threading

import httpx

world = json.load(open(sys.argv[1]))
authorization = {"Authorization": f'Layer session-token="{world["token"]}"'}


def call(client, failures):
    """A nonce and a look at the session."""
    try:
        nonce = client.post(world["client"] + "/nonces")
        assert nonce.status_code == 201 and nonce.json()["nonce"], nonce.text
        current = client.get(world["client"] + "/sessions/current", headers=authorization)
        assert current.status_code == 200 and current.json()["user_id"] == world["user_id"], current.text
        head = client.head(world["client"] + "/sessions/current", headers=authorization)
        assert head.status_code == 200 and not head.content
    except Exception as failure:
        failures.append(failure)


for http2, csr in ((False, world["csrs"][0]), (True, world["csrs"][1])):
    tls = ssl.create_default_context(cafile=world["ca"])
    with httpx.Client(http2=http2, verify=tls, trust_env=False) as client:
        certified = client.post(world["public"] + "/certificates", json={"csr": csr})
        assert certified.status_code == 201, certified.text
    tls.load_cert_chain(world["certificate"], world["key"])
    with httpx.Client(http2=http2, verify=tls, trust_env=False) as client:
        failures = []
        threads = [threading.Thread(target=call, args=(client, failures)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
        version = client.options(world["client"] + "/nonces")
        assert version.status_code == 204 and version.headers["allow"] == "OPTIONS, POST", version.headers
        print(version.http_version)
