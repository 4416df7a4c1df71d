"""An OpenID provider that runs: Debian's glewlwyd on this machine, with one client and two people, and their sign-in.

    python3 openid_provider.py run
    python3 openid_provider.py sign-in ISSUER USER NONCE

`run` prints one line of JSON when it answers (issuer, client id, users and their password), and stays until it is stopped. At SIGHUP it
signs with another key from then on. `sign-in` walks the authorization code flow with PKCE as a user's app does, with a nonce
of Countersign's, and prints the ID token.
"""

import argparse
import json
import signal
import sys

from Providers.glewlwyd import PASSWORD, Glewlwyd, private_jwk

CLIENT, USERS = "app", ("alice", "bob")


def run():
    """Serves until SIGTERM or SIGINT."""
    stops = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    keys = [private_jwk("key-1", "RS256")]
    with Glewlwyd(keys, clients=(CLIENT,), users=USERS) as provider:
        print(json.dumps({"issuer": provider.issuer, "client_id": CLIENT, "users": USERS, "password": PASSWORD}), flush=True)
        while signal.sigwait(stops) == signal.SIGHUP:
            keys = [private_jwk(f"key-{len(keys) + 1}", "ES256"), *keys]
            provider.rotate(keys)
            print(json.dumps({"signs_with": keys[0]["kid"]}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    acts = parser.add_subparsers(dest="act", required=True)
    acts.add_parser("run")
    sign_in = acts.add_parser("sign-in")
    for name in ("issuer", "user", "nonce"):
        sign_in.add_argument(name)
    chosen = parser.parse_args()
    if chosen.act == "run":
        return run()
    print(Glewlwyd.at(chosen.issuer).sign_in(chosen.user, chosen.nonce, client=CLIENT))
    return None


if __name__ == "__main__":
    sys.exit(main())
