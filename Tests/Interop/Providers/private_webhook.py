"""A webhook on this machine, in a private network or in the clear is refused when it is set, in every spelling of it."""

from Shared import options
from Shared.checks import accepted, equal, refused
from Providers.events import set_webhook

PRIVATE = (
    "127.0.0.1", "127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "localhost", "LOCALHOST", "localhost.",
    "a.localhost", "10.0.0.1", "169.254.169.254", "192.168.1.1", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
    "[fd00::1]", "[fe80::1]", "[64:ff9b::7f00:1]", "intranet",
)


def main():
    chosen = options.parser(__doc__).parse_args()
    provider = options.provider(chosen)
    for host in PRIVATE:
        for url in (f"https://{host}/", f"https://{host}:8443/events"):
            refused(set_webhook(provider, url), 400, "malformed_request")
    for url in ("http://receiver.example/", "http://127.0.0.1/", "https://me@receiver.example/", "ftp://a.example/"):
        refused(set_webhook(provider, url), 400, "malformed_request")
    refused(provider.call("GET", "/provider/webhook"), 404, "not_found")
    # One spelling is kept, whatever was sent.
    answer = accepted(set_webhook(provider, "https://Receiver.Invalid.:443/Events?x"))
    equal(answer, {"url": "https://receiver.invalid/Events?x"}, "the webhook")
    equal(accepted(provider.call("GET", "/provider/webhook")), answer, "the webhook")
    print("private receivers are refused")


if __name__ == "__main__":
    main()
