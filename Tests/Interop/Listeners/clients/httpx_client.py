"""httpx over HTTP/1.1 and HTTP/2, many requests at once from one thread.

Its client for threads breaks HTTP/2 by itself. httpcore 1.0.9 neither reserves a stream's number nor holds a lock from the
number to the bytes: with 20 threads the HEADERS of stream 9 left after those of 13 (of 5 after 7, of 43 after 45), as seen
in what it writes to its socket. A server must end such a connection (RFC 9113 §5.1.1). In 34 of 34 recorded connections
that ended by GOAWAY with PROTOCOL_ERROR such a number came before it; in 13 others h2 refused to send at all.
"""

import asyncio
import json
import ssl
import sys

import httpx

world = json.load(open(sys.argv[1]))
# The client's own limit is five seconds, which a busy machine can need.
TIMEOUT = 60
authorization = {"Authorization": f'Layer session-token="{world["token"]}"'}


async def call(client):
    """A nonce and a look at the session."""
    nonce = await client.post(world["client"] + "/nonces")
    assert nonce.status_code == 201 and nonce.json()["nonce"], nonce.text
    current = await client.get(world["client"] + "/sessions/current", headers=authorization)
    assert current.status_code == 200 and current.json()["user_id"] == world["user_id"], current.text
    head = await client.head(world["client"] + "/sessions/current", headers=authorization)
    assert head.status_code == 200 and not head.content


async def main():
    """Certifies on the public listener, then asks the client listener by twenty tasks."""
    for http2, csr in ((False, world["csrs"][0]), (True, world["csrs"][1])):
        tls = ssl.create_default_context(cafile=world["ca"])
        async with httpx.AsyncClient(http2=http2, verify=tls, trust_env=False, timeout=TIMEOUT) as client:
            certified = await client.post(world["public"] + "/certificates", json={"csr": csr})
            assert certified.status_code == 201, certified.text
        tls.load_cert_chain(world["certificate"], world["key"])
        async with httpx.AsyncClient(http2=http2, verify=tls, trust_env=False, timeout=TIMEOUT) as client:
            await asyncio.gather(*(call(client) for _ in range(20)))
            version = await client.options(world["client"] + "/nonces")
            assert version.status_code == 204 and version.headers["allow"] == "OPTIONS, POST", version.headers
            print(version.http_version)


asyncio.run(main())
