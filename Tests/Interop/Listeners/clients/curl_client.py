"""The curl of the machine, over HTTP/1.1 and HTTP/2; for HTTP/2 a hundred requests at once."""

import json
import subprocess
import sys
import tempfile

world = json.load(open(sys.argv[1]))


def curl(*arguments):
    """Standard output; fails where curl does."""
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", "20", "--cacert", world["ca"], *arguments],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"curl {arguments}: {done.returncode}, {done.stderr}"
    return done.stdout


certificate = ["--cert", world["certificate"], "--key", world["key"]]
authorization = ["--header", f'Authorization: Layer session-token="{world["token"]}"']
for protocol, version, csr in (("--http1.1", "1.1", world["csrs"][0]), ("--http2", "2", world["csrs"][1])):
    shown = ["--write-out", "\n%{http_version} %{http_code}"]
    with tempfile.NamedTemporaryFile("w") as body:
        json.dump({"csr": csr}, body)
        body.flush()
        out = curl(protocol, "--header", "Content-Type: application/json", "--header", "Expect: 100-continue",
                   "--expect100-timeout", "15", "--data", f"@{body.name}", *shown, world["public"] + "/certificates")
    assert out.endswith(f"\n{version} 201"), out
    out = curl(protocol, *certificate, "--request", "POST", *shown, world["client"] + "/nonces")
    assert out.endswith(f"\n{version} 201"), out
    out = curl(protocol, *certificate, *authorization, *shown, world["client"] + "/sessions/current")
    assert out.endswith(f"\n{version} 200") and world["user_id"] in out, out
    out = curl(protocol, *certificate, *authorization, "--head", *shown, world["client"] + "/sessions/current")
    assert f"{version} 200" in out and "application/json" in out, out
    print(f"HTTP/{version}")
many = [part for _ in range(100) for part in ("--output", "/dev/null", world["public"] + "/")]
out = curl("--http2", "--parallel", "--parallel-max", "50", "--write-out", "%{http_code}\n", *many)
assert out.split() == ["200"] * 100, out
