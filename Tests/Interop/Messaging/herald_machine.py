"""Any order of frames of Herald against the running service: Hypothesis chooses it, and a model says each answer.

    python3 herald_machine.py … --interface FILE --examples 40
"""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from Shared import options
from Shared.checks import equal, expect
from Messaging.herald_client import (
    CONTROL, DATA, EXISTS, KEEPALIVE, LARGE, MALFORMED, NOT_AUTHENTICATED, OK, PUSH, RESPONSE, RPC, TYPE, UNKNOWN,
    Herald, Person, data, frame, generated)

CHANNELS = st.integers(min_value=0, max_value=4)
LARGEST = 73_728


def machine(chosen, rpc, alice):
    """The class of a connection's life, for one user."""

    class Connection(RuleBasedStateMachine):
        """What is known of the connection: its session, its channels with what is unfinished on them, its failures."""

        def __init__(self):
            super().__init__()
            self.connect()

        def connect(self):
            self.herald = Herald(chosen, alice.device)
            self.session, self.failures, self.over = False, 0, False
            self.channels = {}

        def teardown(self):
            self.herald.socket.close()

        def ends(self, error, *frames):
            """Frames that the connection does not survive, and the last word of the service."""
            self.herald.send(*frames)
            equal(self.herald.ended(), [error] if error else [], f"the end by {frames!r}")
            self.over = True

        def judge(self, wanted, sent):
            equal(self.herald.control(sent), [wanted], f"the response to {sent!r} with {self.channels}")

        @precondition(lambda self: self.over)
        @rule()
        def connect_again(self):
            self.connect()

        @precondition(lambda self: not self.over)
        @rule()
        def authenticate(self):
            self.judge(OK, frame(CONTROL, 0, alice.token.encode()))
            self.session, self.channels = True, {}

        @precondition(lambda self: not self.over)
        @rule(token=st.binary(max_size=64).filter(lambda token: token != b""))
        def fail(self, token):
            self.judge(NOT_AUTHENTICATED, frame(CONTROL, 0, token))
            self.session, self.channels = False, {}
            self.failures += 1
            if self.failures == 5:
                equal(self.herald.ended(), [], "after the fifth failure")
                self.over = True

        @precondition(lambda self: not self.over)
        @rule(channel=CHANNELS, kind=st.integers(min_value=0, max_value=3))
        def add(self, channel, kind):
            known = kind in (PUSH, RPC)
            self.judge(
                NOT_AUTHENTICATED if not self.session else TYPE if not known else EXISTS if channel in self.channels
                else OK, frame(CONTROL, 1 << 2 | kind, bytes([channel])))
            if self.session and known and channel not in self.channels:
                self.channels[channel] = (kind, b"")
                if kind == PUSH:
                    equal(self.herald.message(channel), (2, b""), "the first sync request")

        @precondition(lambda self: not self.over)
        @rule(channel=CHANNELS)
        def delete(self, channel):
            self.judge(
                NOT_AUTHENTICATED if not self.session else OK if channel in self.channels else UNKNOWN,
                frame(CONTROL, 2 << 2, bytes([channel])))
            if self.session:
                self.channels.pop(channel, None)

        @precondition(lambda self: not self.over)
        @rule()
        def keep(self):
            kept = self.herald.kept
            self.herald.send(frame(KEEPALIVE, 0))
            while self.herald.kept == kept:
                self.herald.read()

        @precondition(lambda self: not self.over and any(kind == RPC for kind, _ in self.channels.values()))
        @rule(choice=st.randoms(use_true_random=False), part=st.integers(min_value=1, max_value=64))
        def call(self, choice, part):
            """A whole call, in parts, on a channel on which nothing is unfinished."""
            free = sorted(one for one, (kind, begun) in self.channels.items() if kind == RPC and not begun)
            if not free:
                return
            streams = self.herald.client(rpc, choice.choice(free))
            streams._oprot.trans.part = part
            expect(streams.synchronize("latest").anchor, "an answer without an anchor")

        @precondition(lambda self: not self.over)
        @rule(channel=CHANNELS, payload=st.binary(min_size=1, max_size=40))
        def begin(self, channel, payload):
            """A part of a message that has 100 bytes."""
            sent = data(channel, 100, payload)
            kind, begun = self.channels.get(channel, (None, b""))
            if not self.session:
                self.ends(NOT_AUTHENTICATED, sent)
            elif kind is None:
                self.ends(UNKNOWN, sent)
            elif kind == PUSH:
                self.ends(TYPE, sent)
            elif len(begun) + len(payload) >= 100:
                # More than the message has; or all of it, which is no call.
                self.ends(MALFORMED, sent)
            else:
                self.herald.send(sent)
                self.channels[channel] = (kind, begun + payload)

        @precondition(lambda self: not self.over)
        @rule(odd=st.sampled_from([
            (MALFORMED, bytes(4)), (MALFORMED, frame(CONTROL, 15 << 2)), (MALFORMED, frame(RESPONSE, 0)),
            (MALFORMED, frame(KEEPALIVE, 1)), (MALFORMED, frame(KEEPALIVE, 0, b"x")), (MALFORMED, frame(DATA, 0, b"x")),
            (LARGE, (1 << 30).to_bytes(4, "big")), (LARGE, (LARGEST + 11).to_bytes(4, "big")),
        ]))
        def break_off(self, odd):
            """Bytes that are no frame."""
            self.ends(*odd)

    return Connection


def main():
    """So many lives of a connection."""
    parser = options.parser(__doc__)
    parser.add_argument("--interface", required=True)
    parser.add_argument("--examples", type=int, default=40)
    chosen = parser.parse_args()
    rpc = generated(chosen.interface)
    alice = Person(chosen, options.provider(chosen), "alice")
    run_state_machine_as_test(
        machine(chosen, rpc, alice), settings=settings(
            max_examples=chosen.examples, stateful_step_count=30, deadline=None, derandomize=True, database=None,
            suppress_health_check=list(HealthCheck)))
    print(f"herald: {chosen.examples} lives are as the model says")


if __name__ == "__main__":
    main()
