"""Uploads recordings to the reading service's sample, over broken connections too, to a folder and to moto's S3."""

import base64
import hashlib
import http.client
import json
import logging
import os
import sqlite3
import ssl
import time
import urllib.parse
import uuid

import boto3
import requests
from moto.server import ThreadedMotoServer

from Samples import sample_reader, samples
from Shared.checks import accepted, equal, expect, soon
from Shared.client import TIMEOUT
from Shared.ports import free_port

REGION, BUCKET = "us-east-1", "recordings"
PART = "application/offset+octet-stream"


def encoded(data):
    return base64.b64encode(data).decode()


def audio(size):
    """A file that begins as FLAC does."""
    return b"fLaC" + os.urandom(size - 4)


class World(sample_reader.World):
    """The reading service with a reader who has a session, and a listener who has none."""

    def begin(self):
        sample_reader.provision(self)
        sample_reader.passwords(self)
        self.session = str(uuid.uuid4())
        accepted(self.vera.post("/sessions", id=self.session), 201)

    def article(self):
        made = str(uuid.uuid4())
        accepted(self.vera.post(f"/sessions/{self.session}/articles", id=made, title="The weather", seconds=1), 201)
        return made

    def tus(self, method, path="/recordings", person=None, data=None, version="1.0.0", **fields):
        person = person or self.vera
        headers = {"Authorization": f"Bearer {person.token}", "Tus-Resumable": version}
        headers |= {name.replace("_", "-"): str(value) for name, value in fields.items()}
        return person.connection.request(
            method, person.sample.device + path, headers=headers, data=data, timeout=60)

    def announce(self, size, article=None, digest=None, **more):
        metadata = f"article {encoded((article or self.article()).encode())}"
        metadata += f",sha256 {encoded(digest)}" if digest else ""
        return self.tus("POST", Upload_Length=size, Upload_Metadata=metadata, **more)

    def announced(self, *arguments, **more):
        answer = self.announce(*arguments, **more)
        equal((answer.status_code, answer.headers["Tus-Resumable"]), (201, "1.0.0"), answer.text)
        return answer.headers["Location"]

    def send(self, path, offset, data, **fields):
        return self.tus("PATCH", path, data=data, Upload_Offset=offset, **{"Content_Type": PART, **fields})

    def offset(self, path):
        answer = self.tus("HEAD", path)
        equal(answer.status_code, 200, "the status")
        return int(answer.headers["Upload-Offset"])

    def state(self, path):
        return accepted(self.vera.get(path))["state"]

    def broken(self, path, offset, data, sent):
        """Sends a part, and closes the connection in the middle of it."""
        context = ssl.create_default_context(cafile=self.reader.authority)
        context.load_cert_chain(*self.vera.device.files)
        place = urllib.parse.urlsplit(self.reader.device).netloc
        connection = http.client.HTTPSConnection(place, context=context, timeout=TIMEOUT)
        connection.putrequest("PATCH", path)
        for name, value in {"Authorization": f"Bearer {self.vera.token}", "Tus-Resumable": "1.0.0", "Content-Type": PART,
                            "Upload-Offset": offset, "Content-Length": len(data)}.items():
            connection.putheader(name, str(value))
        connection.endheaders()
        connection.send(data[:sent])
        connection.close()

    def again(self, **more):
        """The same store, served by a new process; the session stays."""
        self.reader.__exit__(None, None, None)
        self.start(**more)
        self.vera = samples.SignedIn(self.reader, self.vera.device, self.vera.session, self.provider["provider_id"])


def until(look, wanted):
    """Looks again until it is so."""
    soon(lambda: look() == wanted, lambda: f"{look()} in place of {wanted}")


def announcement(world):
    """A recording is announced once for an article of one's own, and what tus the server knows is public."""
    world.begin()
    answer = world.tus("OPTIONS", version="")
    equal((answer.status_code, answer.headers["Tus-Version"], answer.headers["Tus-Max-Size"]),
          (204, "1.0.0", str(4 << 20)), "what is supported")
    expect("sha1" in answer.headers["Tus-Checksum-Algorithm"], "the algorithms")
    article = world.article()
    path = world.announced(1000, article)
    equal(world.announced(1000, article), path, "the place of the same recording")
    equal(world.announce(1001, article).status_code, 409, "the status of another size")
    equal(world.announce(10, article=str(uuid.uuid4())).status_code, 404, "the status of an unknown article")
    equal(world.announce(10, article, person=world.lou).status_code, 403, "the status for a listener")
    equal(world.announce((4 << 20) + 1).status_code, 413, "the status of a large one")
    for size in (0, -1, "x", "1_0", "", str(1 << 80)):
        equal(world.announce(size).status_code, 400, f"the status of {size!r} bytes")
    for wrong in ("", "article", "article !", "article eA==", f"article {encoded(article.encode())},sha256 eA=="):
        answer = world.tus("POST", Upload_Length=10, Upload_Metadata=wrong)
        equal(answer.status_code, 400, f"the status of {wrong!r}")
    for version in ("0.2.2", ""):
        answer = world.tus("HEAD", path, version=version)
        equal((answer.status_code, answer.headers["Tus-Version"]), (412, "1.0.0"), "the status of another version")
    samples.refuses_strangers(world.reader, world.chosen, world.vera, world.lou, path)
    equal(world.tus("DELETE", path).status_code, 204, "the status of a withdrawal")
    equal(world.tus("HEAD", path).status_code, 404, "the status after it")


def resumption(world):
    """An upload continues at the offset where its connection broke, and the archive has every byte."""
    data, article = audio(3 << 20), world.article()
    path = world.announced(len(data), article, hashlib.sha256(data).digest())
    equal(world.offset(path), 0, "the offset at first")
    def begun():
        """A reset discards what the service has not read yet. Then the app sends it again."""
        if world.offset(path) == 0:
            world.broken(path, 0, data, 1 << 20)
            time.sleep(1)
        return world.offset(path) > 0

    for _ in range(20):
        world.broken(path, 0, data, 1 << 20)
    soon(begun, "no byte of a broken part stayed")
    # The rest of the broken part may still be on its way to the disk.
    def taken():
        offset = world.offset(path)
        answer = world.send(path, offset, data[offset:2 << 20])
        expect(answer.status_code in (204, 409, 423), answer.text)
        return [answer] if answer.status_code == 204 else []

    [answer] = soon(taken, "the rest is not taken")
    equal(answer.headers["Upload-Offset"], str(2 << 20), "the offset")
    expect(answer.headers["Upload-Expires"].endswith(" GMT"), "the end of its life")
    part, following = data[2 << 20:(2 << 20) + 1000], (2 << 20) + 1000
    wrong = world.send(path, 2 << 20, part, Upload_Checksum=f"sha1 {encoded(hashlib.sha1(b'x').digest())}")
    equal((wrong.status_code, world.offset(path)), (460, 2 << 20), "a part that was changed on its way")
    equal(world.send(path, 2 << 20, part, Upload_Checksum="md5 eA==").status_code, 400, "another algorithm")
    right = world.send(path, 2 << 20, part, Upload_Checksum=f"sha1 {encoded(hashlib.sha1(part).digest())}")
    equal((right.status_code, right.headers["Upload-Offset"]), (204, str(following)), "the same part")
    equal(world.send(path, 2 << 20, part).status_code, 409, "the status of another offset")
    equal(world.send(path, following, part, Content_Type="audio/flac").status_code, 415, "another type")
    equal(world.send(path, following, data[following:] + b"x" * 100_000).status_code, 413, "more than was announced")
    offset = world.offset(path)
    if offset < len(data):
        equal(world.state(path), "incomplete", "the state")
        rest = data[offset:]
        last = world.send(path, offset, rest, Upload_Checksum=f"sha256 {encoded(hashlib.sha256(rest).digest())}")
        equal(last.status_code, 204, last.text)
    equal(world.send(path, len(data), b"").status_code, 204, "the last part again")
    equal(world.state(path), "stored", "the state")
    found = list(world.archive.rglob("*.flac"))
    equal((len(found), found[0].stem, found[0].read_bytes() == data), (1, article, True), "what the archive has")
    equal([file.name for file in world.uploads.iterdir()], [], "what is left of the upload")
    equal(world.tus("DELETE", path).status_code, 403, "the status of a withdrawal")
    equal(world.announce(len(data), article).status_code, 409, "the status of a second recording")
    listed = world.staff("recordings")[0]
    equal((listed["username"], listed["title"], listed["bytes"], listed["state"], listed["sha256"]),
          ("vera@example.org", "The weather", str(3 << 20), "stored", hashlib.sha256(data).hexdigest()), "what staff see")


def faults(world):
    """A file with another digest, or one that is no recording, is removed and can be announced again."""
    article, data = world.article(), audio(5000)
    for sent, digest, status in ((data, hashlib.sha256(b"x").digest(), 460), (b"MZ" + data, None, 415)):
        path = world.announced(len(sent), article, digest)
        equal(world.send(path, 0, sent).status_code, status, "the status of the last part")
        equal(world.tus("HEAD", path).status_code, 404, "the status after it")
    equal(list(world.uploads.iterdir()), [], "what is left of them")
    path = world.announced(len(data), article)
    equal((world.send(path, 0, data).status_code, world.state(path)), (204, "stored"), "the right one")


def bounds(world):
    """A person has five incomplete recordings at most, and one of yesterday is removed."""
    paths = [world.announced(100) for _ in range(5)]
    equal(world.announce(100).status_code, 409, "the status of a sixth")
    equal(world.send(paths[0], 0, b"fLaC").status_code, 204, "the status of a part")
    with sqlite3.connect(world.reader.place / "reader.db", timeout=TIMEOUT) as store:
        store.execute("UPDATE recordings SET created_at = created_at - 86401 WHERE name IS NULL")
    world.again()
    until(lambda: [world.tus("HEAD", path).status_code for path in paths], [404] * 5)
    until(lambda: list(world.uploads.iterdir()), [])
    world.announced(100)


def bucket(world):
    """A file waits while the bucket cannot be reached, then the bucket gets it, by signed requests alone."""
    port, data = free_port(), [audio(700_000), audio(300_000), audio(1000)]
    endpoint = f"http://127.0.0.1:{port}"
    place = {"recordings": f"s3://{BUCKET}/radio", "s3_endpoint": endpoint, "s3_region": REGION}
    os.environ |= {"AWS_ACCESS_KEY_ID": "early", "AWS_SECRET_ACCESS_KEY": "early"}
    world.again(**place)
    waiting = world.announced(len(data[0]))
    equal(world.send(waiting, 0, data[0]).status_code, 204, "the status without the bucket")
    equal(world.state(waiting), "received", "the state without the bucket")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    moto.start()
    made = lambda service, key, secret: boto3.client(
        service, endpoint_url=endpoint, region_name=REGION, aws_access_key_id=key, aws_secret_access_key=secret)
    iam = made("iam", "setup", "setup")
    iam.create_user(UserName="reader")
    permission = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
    iam.put_user_policy(UserName="reader", PolicyName="store", PolicyDocument=json.dumps(permission))
    key = iam.create_access_key(UserName="reader")["AccessKey"]
    store = made("s3", key["AccessKeyId"], key["SecretAccessKey"])
    store.create_bucket(Bucket=BUCKET)
    # From here on every request must be signed.
    requests.post(f"{endpoint}/moto-api/reset-auth", data=b"0", timeout=TIMEOUT).raise_for_status()
    os.environ |= {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"] + "x"}
    world.again(**place)
    refused = world.announced(len(data[1]))
    equal(world.send(refused, 0, data[1]).status_code, 204, "the status with a wrong secret")
    equal([world.state(path) for path in (waiting, refused)], ["received"] * 2, "the states with a wrong secret")
    os.environ["AWS_SECRET_ACCESS_KEY"] = key["SecretAccessKey"]
    world.again(**place)
    until(lambda: [world.state(path) for path in (waiting, refused)], ["stored"] * 2)
    path = world.announced(len(data[2]))
    equal((world.send(path, 0, data[2]).status_code, world.state(path)), (204, "stored"), "with the right one")
    kept = [store.get_object(Bucket=BUCKET, Key=one["Key"]) for one in store.list_objects_v2(Bucket=BUCKET)["Contents"]]
    equal({one["ContentType"] for one in kept}, {"audio/flac"}, "the media types")
    equal(sorted(one["Body"].read() for one in kept), sorted(data), "what the bucket has")
    until(lambda: [file for file in world.uploads.iterdir() if file.stat().st_size], [])
    moto.stop()


def main():
    world = World(samples.parser(__doc__).parse_args(), recording_megabytes=4)
    try:
        samples.walk([announcement, resumption, faults, bounds, bucket], world)
    finally:
        world.reader.__exit__(None, None, None)


if __name__ == "__main__":
    main()
