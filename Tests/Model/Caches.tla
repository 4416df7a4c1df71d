------------------------------- MODULE Caches -------------------------------
(* What nodes have in memory of one session while it is ended, and for how long they may answer from it.

   A node reads the change log on one connection, loads rows on another and writes on a third. After a split those may
   lie on different servers: A, the old primary, which still answers but commits nothing more, and B, which took over.
   Whether the log itself is read without a gap is the business of ChangeLog. *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
    Nodes,
    Busy,                        \* how many nodes are in the middle of something at once: what they do commutes
    Bound,                       \* for how long a view is fresh
    Latest,                      \* the end of time
    Splits,                      \* how often a standby takes over, 0 or 1
    Restarts,                    \* whether nodes crash and start again
    Beats,                       \* how many heartbeats a node sends at most
    Wrong,                       \* by how much a clock may be wrong
    Skew,                        \* by how much it may be wrong at a node that answers
    SessionEnd,                  \* when the session expires, by the store's clock
    GuardFreshness,              \* a node whose view is old does not answer
    GuardHeartbeat,              \* a view is as young as the node's last commit that it contains
    GuardHeartbeatAcknowledged,  \* only an acknowledged commit counts
    GuardFreshAtBegin,           \* the heartbeat's age counts from its begin
    GuardEpochOnLoad,            \* a load is not kept if a change was applied since its begin
    GuardChangeReachesLoads,     \* also a change of something of which nothing was in memory
    GuardLoadFromViewsServer,    \* a load from another server than the log's is thrown away
    GuardOwnChangeApplied,       \* a node applies its own change before it acknowledges it
    GuardClock                   \* a node whose clock is wrong does not answer

VARIABLES
    now,
    ended,      \* when the session's end was committed, and where; no time yet is Latest + 1
    split,      \* whether B has taken over
    nodes,
    acknowledged \* who acknowledged the end of its own making

vars == <<now, ended, split, nodes, acknowledged>>

Never == Latest + 1
Current == IF split THEN "B" ELSE "A"

Init ==
    /\ now = 1
    /\ ended = [at |-> Never, by |-> "nobody", onA |-> FALSE, onB |-> FALSE]
    /\ split = FALSE
    /\ \E offsets \in [Nodes -> {0, Wrong}] :
        nodes = [n \in Nodes |-> [
            isRemembered |-> FALSE, epoch |-> 0, load |-> [phase |-> "none"],
            log |-> "A", rows |-> "A", hasApplied |-> FALSE, freshAt |-> 0, poll |-> [phase |-> "none"],
            beat |-> [phase |-> "none"], beats |-> Beats, behind |-> offsets[n]]]
    /\ acknowledged = {}

Set(n, node) == nodes' = [nodes EXCEPT ![n] = node]

IsEndedOn(server) == IF server = "A" THEN ended.onA ELSE ended.onB

(* Time 0 is before everything: a node that has just begun has no view. *)
IsFresh(n) == nodes[n].freshAt > 0 /\ now < nodes[n].freshAt + Bound

MayAnswer(n) ==
    /\ GuardFreshness => IsFresh(n)
    /\ GuardClock => nodes[n].behind <= Skew
    /\ now < SessionEnd + nodes[n].behind

-----------------------------------------------------------------------------
(* The world *)

Tick == now < Latest /\ now' = now + 1 /\ UNCHANGED <<ended, split, nodes, acknowledged>>

(* The session's own end, or a ban of its user, or any other change that it depends on; by a node or a command. *)
End(by) ==
    /\ ended.at = Never
    /\ ended' = [at |-> now, by |-> by, onA |-> ~split, onB |-> TRUE]
    /\ UNCHANGED <<now, split, nodes, acknowledged>>

Acknowledge(n) ==
    /\ ended.by = n /\ n \notin acknowledged
    /\ acknowledged' = acknowledged \cup {n}
    /\ nodes' = IF GuardOwnChangeApplied
                THEN [nodes EXCEPT ![n].isRemembered = FALSE, ![n].epoch = @ + 1] ELSE nodes
    /\ UNCHANGED <<now, ended, split>>

Split ==
    /\ Splits > 0 /\ ~split
    /\ split' = TRUE
    /\ UNCHANGED <<now, ended, nodes, acknowledged>>

(* One of the connections breaks, and is made anew to where writes are taken. *)
Reconnect(n) ==
    /\ split
    /\ \/ nodes[n].log = "A" /\ Set(n, [nodes[n] EXCEPT !.log = "B", !.poll = [phase |-> "none"]])
       \/ nodes[n].rows = "A" /\ Set(n, [nodes[n] EXCEPT !.rows = "B"])
    /\ UNCHANGED <<now, ended, split, acknowledged>>

(* A crash, and a start without memory. *)
Restart(n) ==
    /\ Restarts
    /\ Set(n, [nodes[n] EXCEPT
           !.isRemembered = FALSE, !.epoch = 0, !.load = [phase |-> "none"], !.poll = [phase |-> "none"],
           !.beat = [phase |-> "none"], !.freshAt = 0, !.hasApplied = FALSE, !.log = Current, !.rows = Current])
    /\ UNCHANGED <<now, ended, split, acknowledged>>

-----------------------------------------------------------------------------
(* Heartbeats. A commit on A waits for a standby that is gone; somebody may end that wait, and the row is seen there. *)

BeatBegins(n) ==
    /\ nodes[n].beat.phase = "none" /\ nodes[n].beats > 0
    /\ \E server \in IF split THEN {"A", "B"} ELSE {"A"} :
        Set(n, [nodes[n] EXCEPT !.beats = @ - 1, !.beat = [phase |-> "sent", at |-> now, on |-> server]])
    /\ UNCHANGED <<now, ended, split, acknowledged>>

BeatCommits(n) ==
    LET beat == nodes[n].beat IN
    /\ beat.phase = "sent"
    /\ Set(n, [nodes[n] EXCEPT !.beat = [phase |-> "there", at |-> beat.at,
               onA |-> beat.on = "A", onB |-> beat.on = Current \/ ~split,
               isAcknowledged |-> beat.on = Current]])
    /\ UNCHANGED <<now, ended, split, acknowledged>>

-----------------------------------------------------------------------------
(* Reading the change log: the snapshot, and later what comes of it *)

PollReads(n) ==
    LET node == nodes[n]
        beat == node.beat
        isBeatSeen == /\ beat.phase = "there"
                      /\ IF node.log = "A" THEN beat.onA ELSE beat.onB
                      /\ GuardHeartbeatAcknowledged => beat.isAcknowledged
        freshAt == CASE ~GuardHeartbeat -> now
                     [] isBeatSeen -> IF GuardFreshAtBegin THEN beat.at ELSE now
                     [] OTHER -> node.freshAt
    IN /\ node.poll.phase = "none"
       /\ Set(n, [node EXCEPT
              !.poll = [phase |-> "read", freshAt |-> freshAt, isEnded |-> IsEndedOn(node.log)],
              !.beat = IF isBeatSeen THEN [phase |-> "none"] ELSE @])
       /\ UNCHANGED <<now, ended, split, acknowledged>>

PollApplies(n) ==
    LET node == nodes[n]
        isNew == node.poll.isEnded /\ ~node.hasApplied
        isHeard == isNew /\ (GuardChangeReachesLoads \/ node.isRemembered)
    IN /\ node.poll.phase = "read"
       /\ Set(n, [node EXCEPT
              !.isRemembered = @ /\ ~isNew, !.epoch = IF isHeard THEN @ + 1 ELSE @, !.hasApplied = @ \/ isNew,
              !.freshAt = node.poll.freshAt, !.poll = [phase |-> "none"]])
       /\ UNCHANGED <<now, ended, split, acknowledged>>

-----------------------------------------------------------------------------
(* A request that finds nothing in memory *)

Ask(n) ==
    /\ nodes[n].load.phase = "none" /\ ~nodes[n].isRemembered
    /\ MayAnswer(n)
    /\ Set(n, [nodes[n] EXCEPT !.load = [phase |-> "asked", at |-> now, epoch |-> nodes[n].epoch]])
    /\ UNCHANGED <<now, ended, split, acknowledged>>

LoadReads(n) ==
    LET node == nodes[n] IN
    /\ node.load.phase = "asked"
    /\ Set(n, [node EXCEPT !.load =
           IF IsEndedOn(node.rows) THEN [phase |-> "none"]
           ELSE [phase |-> "live", at |-> node.load.at, epoch |-> node.load.epoch, from |-> node.rows]])
    /\ UNCHANGED <<now, ended, split, acknowledged>>

IsUsable(node) ==
    node.load.phase = "live" /\ (GuardLoadFromViewsServer => node.load.from = node.log)

(* What overlaps a change is used for the request that asked, and not kept. *)
LoadEnds(n) ==
    LET node == nodes[n] IN
    /\ node.load.phase = "live"
    /\ Set(n, [node EXCEPT
           !.isRemembered = IsUsable(node) /\ (GuardEpochOnLoad => node.load.epoch = node.epoch),
           !.load = [phase |-> "none"]])
    /\ UNCHANGED <<now, ended, split, acknowledged>>

Next ==
    \/ Tick \/ Split
    \/ \E by \in Nodes \cup {"command"} : End(by)
    \/ \E n \in Nodes :
        \/ Acknowledge(n) \/ Reconnect(n) \/ Restart(n)
        \/ BeatBegins(n) \/ BeatCommits(n) \/ PollReads(n) \/ PollApplies(n)
        \/ Ask(n) \/ LoadReads(n) \/ LoadEnds(n)

Spec == Init /\ [][Next]_vars

IsBusy(n) == nodes[n].poll.phase # "none" \/ nodes[n].load.phase # "none" \/ nodes[n].beat.phase = "sent"
FewAreBusy == Cardinality({n \in Nodes : IsBusy(n)}) <= Busy
Alike == Permutations(Nodes)

-----------------------------------------------------------------------------
AnswersFromMemory(n) == nodes[n].isRemembered /\ MayAnswer(n)

(* No node answers from memory for a session whose end was committed the bound ago. *)
EndIsKnownInTime == \A n \in Nodes : AnswersFromMemory(n) => now < ended.at + Bound

(* Nor does a request that began so long afterwards get an answer from a load. *)
LoadIsNoOlder == \A n \in Nodes : IsUsable(nodes[n]) => nodes[n].load.at < ended.at + Bound

(* A node that acknowledged an end does not answer for the session at all. *)
OwnEndAtOnce == ~split => \A n \in acknowledged : ~AnswersFromMemory(n)

(* An expired session is not answered for much longer than its end. *)
ExpiryInTime == \A n \in Nodes : AnswersFromMemory(n) => now < SessionEnd + Skew
=============================================================================
