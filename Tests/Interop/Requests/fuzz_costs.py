"""What each request costs the service's process: none may cost more than 20 times the median of its route."""

import statistics
import time

from Shared.client import TIMEOUT

MOST = 20
# A route's median is known after so many requests.
KNOWN = 30
AGAIN = 5


def processor(pid):
    """The processor time of a process, nanoseconds (clock_getcpuclockid(3) makes such a clock of its id)."""
    return time.clock_gettime_ns((~pid << 3) | 2)


class Costs:
    """The costs of the requests of each route."""

    def __init__(self, pid):
        self.pid, self.all, self.worst = pid, {}, {}
        # What the process does by itself, nanoseconds a second: a request that waits is not charged for it.
        before = processor(pid)
        time.sleep(1)
        self.idle = 2 * (processor(pid) - before)

    def measure(self, route, channel, send):
        """Sends a request; its answer, and what is wrong with its cost, or `None`. A handshake is no part of a request: what
        needs one is not looked at."""
        answer, cost = self.timed(channel, send)
        if cost is None:
            return answer, None
        known = self.all.setdefault(route, [])
        known.append(cost)
        if len(known) < KNOWN:
            return answer, None
        median = statistics.median(known[-10 * KNOWN:])
        if cost > MOST * median:
            # What the process did besides at that moment is not in the median of some more.
            more = [one for one in (self.again(channel, send) for _ in range(AGAIN)) if one is not None]
            if not more:
                return answer, None
            cost = statistics.median(more)
        self.worst[route] = max(self.worst.get(route, 0), cost / median)
        if cost > MOST * median:
            return answer, f"{cost / 1000:.0f} µs of processor time, {cost / median:.0f} times the median of {route}"
        return answer, None

    def again(self, channel, send):
        """The cost of the same request once more, on a connection that is made before; `None` where that does not go."""
        try:
            if channel.socket is None:
                channel.open(TIMEOUT)
                time.sleep(0.05)
        except OSError:
            return None
        return self.timed(channel, send)[1]

    def timed(self, channel, send):
        """The answer and the cost; `None` where a connection had to be made."""
        opened = channel.opened if channel.socket else None
        before, began = processor(self.pid), time.monotonic()
        answer = send()
        cost = processor(self.pid) - before - self.idle * max(0, time.monotonic() - began - 0.1)
        return answer, max(1, cost) if channel.opened == opened else None

    def __str__(self):
        if not self.worst:
            return "no cost was looked at"
        route = max(self.worst, key=self.worst.get)
        return f"the costliest was {self.worst[route]:.1f} times the median of {route}"
