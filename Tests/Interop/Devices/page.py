"""A client that was written from the page on streams alone, and uses what it describes.

    python3 page.py --countersign FILE --policies DIRECTORY
"""

import argparse
import time

from Devices import page_streams, page_sync
from Devices.people import Cluster, User, permit
from Shared.checks import expect

POLICY = "required_level: none\nwrites_per_minute: 100000\nreads_per_minute: 100000\nindexed_metadata: [topic, size]\n"


class World:
    """Three users who may write to each other, one of them with two devices, and one who may not."""

    def __init__(self, cluster):
        self.cluster, app = cluster, cluster.provider.app_id
        self.ann, self.cat, self.eve = (User(cluster, name, {"phone": (app, {})}) for name in ("ann", "cat", "eve"))
        self.bob = User(cluster, "bob", {"phone": (app, {}), "tablet": (app, {})})
        for one, other in ((self.ann, self.bob), (self.ann, self.cat), (self.bob, self.cat)):
            permit(one["phone"], other["phone"])


def main():
    """Each section of the page; all that fail are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("countersign", "policies"):
        parser.add_argument(f"--{name}", required=True)
    chosen = parser.parse_args()
    failed = []
    with Cluster(chosen.countersign, chosen.policies, 1, {"streams.yaml": POLICY}) as cluster:
        world = World(cluster)
        for step in (page_streams.opening, page_streams.kinds, page_streams.messages, page_streams.receipts,
                     page_streams.copies, page_streams.members, page_streams.metadata, page_sync.lists,
                     page_sync.synchronization, page_sync.typing, page_sync.presence, page_sync.calls,
                     page_sync.notifications, page_sync.erasure):
            began = time.monotonic()
            try:
                step(world)
                print(f"passed  {step.__name__}: {time.monotonic() - began:.2f} s", flush=True)
            except (AssertionError, KeyError, ValueError) as error:
                failed.append(f"{step.__name__}: {error!r}")
        cluster.installation.stop()
    expect(not failed, "\n".join(failed))
    print("the page is as it says")


if __name__ == "__main__":
    main()
