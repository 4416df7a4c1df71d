------------------------------- MODULE Nonce -------------------------------
(* One nonce, which several requests on two nodes show.

   It is stateless until it is spent: its code covers its expiry and the store's generation of nonces. Whoever spends
   it writes a row under an id that is made from it, and the primary key refuses the second. *)
EXTENDS Integers, FiniteSets

CONSTANTS
    Requests, Nodes,
    Expiry, Skew, Latest,      \* when the nonce ends, how far a standby's clock may be behind, the end of time
    Restores,
    GuardExpiry,               \* an expired nonce is refused, by the store's clock in the spending transaction
    GuardPrimaryKey,           \* the insert decides, not a look before it
    GuardDecodedBytes,         \* the id is made from the nonce's bytes, not from one of the texts that stand for them
    GuardEverySpenderWrites,   \* renewals and presence proofs write a row, too
    GuardNonceRowKept,         \* the row of an ended session is kept like any other
    GuardErasureKeepsRow,      \* an erasure leaves the row
    GuardMargin,               \* a row is kept for longer than clocks differ
    GuardRestoreRaises,        \* a restore begins a generation of nonces
    GuardGenerationInSpend     \* the spending transaction compares the generation that the node verified with

VARIABLES
    now,        \* time
    store,      \* what has a row, whether its session ended, the generation, how far its clock is behind
    nodes,      \* node -> the generation that it verifies with
    requests,
    backup,
    spent       \* how often the nonce was accepted

vars == <<now, store, nodes, requests, backup, spent>>

Kinds == {"session", "renewal"}
Texts == {1, 2}
Margin == IF GuardMargin THEN Skew + 1 ELSE 0
Clock == now - store.behind
Id(text) == IF GuardDecodedBytes THEN 1 ELSE text

Init ==
    /\ now = 0
    /\ store = [rows |-> {}, ended |-> {}, generation |-> 1, behind |-> 0, restores |-> Restores]
    /\ nodes = [n \in Nodes |-> 1]
    /\ requests = [r \in Requests |-> [phase |-> "idle"]]
    /\ backup = [isTaken |-> FALSE]
    /\ spent = 0

Tick == now < Latest /\ now' = now + 1 /\ UNCHANGED <<store, nodes, requests, backup, spent>>

(* The code is right where the node has the generation in which the nonce was made: the first. *)
Verify(r, n, kind, text) ==
    /\ requests[r].phase = "idle"
    /\ nodes[n] = 1
    /\ requests' = [requests EXCEPT ![r] = [phase |-> "verified", kind |-> kind, id |-> Id(text),
                                            sawRow |-> Id(text) \in store.rows]]
    /\ UNCHANGED <<now, store, nodes, backup, spent>>

Spend(r) ==
    LET request == requests[r] IN
    /\ request.phase = "verified"
    /\ GuardExpiry => Clock < Expiry
    /\ GuardGenerationInSpend => store.generation = 1
    /\ IF GuardPrimaryKey THEN request.id \notin store.rows ELSE ~request.sawRow
    /\ store' = [store EXCEPT
           !.rows = IF request.kind = "session" \/ GuardEverySpenderWrites THEN @ \cup {request.id} ELSE @]
    /\ requests' = [requests EXCEPT ![r] = [phase |-> "done"]]
    /\ spent' = spent + 1
    /\ UNCHANGED <<now, nodes, backup>>

-----------------------------------------------------------------------------
(* What becomes of rows *)

End(id) ==
    /\ id \in store.rows
    /\ store' = [store EXCEPT !.ended = @ \cup {id}]
    /\ UNCHANGED <<now, nodes, requests, backup, spent>>

Without(id) == [store EXCEPT !.rows = @ \ {id}, !.ended = @ \ {id}]

Purge(id) ==
    /\ id \in store.ended
    /\ GuardNonceRowKept => Clock >= Expiry + Margin
    /\ store' = Without(id)
    /\ UNCHANGED <<now, nodes, requests, backup, spent>>

Erase(id) ==
    /\ id \in store.rows
    /\ store' = IF GuardErasureKeepsRow THEN [store EXCEPT !.ended = @ \cup {id}] ELSE Without(id)
    /\ UNCHANGED <<now, nodes, requests, backup, spent>>

-----------------------------------------------------------------------------
(* Faults *)

(* A standby whose clock is behind takes over; every row is there. *)
Failover ==
    /\ store.behind = 0
    /\ store' = [store EXCEPT !.behind = Skew]
    /\ UNCHANGED <<now, nodes, requests, backup, spent>>

BackUp ==
    /\ ~backup.isTaken /\ store.restores > 0
    /\ backup' = [isTaken |-> TRUE, rows |-> store.rows, ended |-> store.ended]
    /\ UNCHANGED <<now, store, nodes, requests, spent>>

(* A node that was halted meanwhile goes on with the generation that it began with. `store copy` is like this. *)
Restore ==
    /\ backup.isTaken /\ store.restores > 0
    /\ store' = [store EXCEPT !.rows = backup.rows, !.ended = backup.ended, !.restores = @ - 1,
                              !.generation = IF GuardRestoreRaises THEN @ + 1 ELSE @]
    /\ UNCHANGED <<now, nodes, requests, backup, spent>>

Restart(n) ==
    /\ nodes' = [nodes EXCEPT ![n] = store.generation]
    /\ UNCHANGED <<now, store, requests, backup, spent>>

Next ==
    \/ Tick
    \/ \E r \in Requests, n \in Nodes, kind \in Kinds, text \in Texts : Verify(r, n, kind, text)
    \/ \E r \in Requests : Spend(r)
    \/ \E id \in store.rows : End(id) \/ Purge(id) \/ Erase(id)
    \/ Failover \/ BackUp \/ Restore
    \/ \E n \in Nodes : Restart(n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* No nonce opens two sessions, renews and opens one, or opens one before a restore and another behind it. *)
SpentOnce == spent <= 1
=============================================================================
