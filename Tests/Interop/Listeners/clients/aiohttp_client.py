"""aiohttp, 50 at once; it speaks HTTP/1.1 alone."""

import asyncio
import json
import ssl
import sys

import aiohttp

world = json.load(open(sys.argv[1]))
authorization = {"Authorization": f'Layer session-token="{world["token"]}"'}


async def call(session):
    """A nonce and a look at the session."""
    async with session.post(world["client"] + "/nonces") as answer:
        assert answer.status == 201 and (await answer.json())["nonce"]
    async with session.get(world["client"] + "/sessions/current", headers=authorization) as answer:
        assert answer.status == 200 and (await answer.json())["user_id"] == world["user_id"]
    async with session.head(world["client"] + "/sessions/current", headers=authorization) as answer:
        assert answer.status == 200 and not await answer.read()


async def main():
    """Certifies with `Expect: 100-continue`, then calls."""
    tls = ssl.create_default_context(cafile=world["ca"])
    tls.load_cert_chain(world["certificate"], world["key"])
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls)) as session:
        async with session.post(
                world["public"] + "/certificates", json={"csr": world["csrs"][0]}, expect100=True) as answer:
            assert answer.status == 201, await answer.text()
        await asyncio.gather(*(call(session) for _ in range(50)))
        async with session.get(world["public"] + "/sessions") as answer:
            assert answer.status == 404 and world["client"] in (await answer.json())["detail"]
        print(f"HTTP/{answer.version.major}.{answer.version.minor}")


asyncio.run(main())
