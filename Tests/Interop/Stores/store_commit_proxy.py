"""Stands between a client and PostgreSQL, passes everything on, and gives its own answer to COMMIT.

    store_commit_proxy.py LISTEN SERVER ANSWER FATE COUNT

ANSWER is an SQLSTATE, `tag:WORD` for a completion that reads WORD, or `close`; FATE says what the server is asked for
instead: `kept` passes the commit on, `undone` makes a rollback of it. After COUNT commits everything passes."""

import asyncio
import struct
import sys

SSL_REQUEST, GSS_REQUEST = 80877103, 80877104


def message(kind, body):
    """A message of the protocol (PostgreSQL, 55.7)."""
    return kind + struct.pack("!I", len(body) + 4) + body


class Proxy:
    """All connections together: commits are counted over all of them."""

    def __init__(self, server, answer, fate, count):
        self.server, self.answer, self.fate, self.left = server, answer, fate, count

    async def serve(self, reader, writer):
        """One connection."""
        upstream_reader, upstream_writer = await asyncio.open_unix_connection(self.server)
        asked = []
        tasks = [asyncio.create_task(self.forward(reader, upstream_writer, asked)),
                 asyncio.create_task(self.back(upstream_reader, writer, asked))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for end in (upstream_writer, writer):
            end.close()

    async def forward(self, reader, writer, asked):
        """From the client to the server."""
        while True:
            start = await reader.readexactly(4)
            body = await reader.readexactly(struct.unpack("!I", start)[0] - 4)
            writer.write(start + body)
            if struct.unpack("!I", body[:4])[0] not in (SSL_REQUEST, GSS_REQUEST):
                break
        while True:
            kind = await reader.readexactly(1)
            body = await reader.readexactly(struct.unpack("!I", await reader.readexactly(4))[0] - 4)
            if kind == b"P" and body.split(b"\0")[1] == b"COMMIT" and self.left:
                self.left -= 1
                asked.append(True)
                if self.fate == "undone":
                    body = body.replace(b"COMMIT", b"ROLLBACK")
            writer.write(message(kind, body))

    async def back(self, reader, writer, asked):
        """From the server to the client."""
        while True:
            kind = await reader.readexactly(1)
            body = await reader.readexactly(struct.unpack("!I", await reader.readexactly(4))[0] - 4)
            if asked and kind == b"C" and body in (b"COMMIT\0", b"ROLLBACK\0"):
                asked.pop()
                if self.answer == "close":
                    return
                if self.answer.startswith("tag:"):
                    body = self.answer[4:].encode() + b"\0"
                else:
                    kind = b"E"
                    body = b"SERROR\0VERROR\0C" + self.answer.encode() + b"\0Mtold by a proxy\0\0"
            writer.write(message(kind, body))


async def main():
    """Listens until it is killed."""
    listen, server, answer, fate, count = sys.argv[1:]
    proxy = Proxy(server, answer, fate, int(count))
    async with await asyncio.start_unix_server(proxy.serve, listen) as listener:
        print("ready", flush=True)
        await listener.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
