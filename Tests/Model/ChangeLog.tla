----------------------------- MODULE ChangeLog -----------------------------
(* One node reads the append-only change log of a PostgreSQL server.

   A row carries the number (xid) of the transaction that appended it. Numbers are given out in order, transactions
   end in any order, so the reader asks again from the lowest number that was still open in its snapshot. A server that
   crashes gives out again the numbers of which nothing was written down; a standby that takes over lacks the last
   commits; a restored backup counts from the beginning. Old rows are purged, with a note up to where. *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Most,                       \* transactions in a behaviour
    PageSize,                   \* rows that one statement of the reader returns
    Purges,                     \* rows that are purged at most
    Reading,                    \* from where on a reader asks: "horizon", or "snapshot"
    LossCheck,                  \* how a reader notices a take-over: "timeline", "tag" (of the last row), or "none"
    GuardHorizon,               \* the position never passes the lowest number that is still open
    GuardPositionBelowLastRow,  \* nor does it pass the number behind the last row that was seen
    GuardOpenRemembered,        \* with "snapshot": what was open in the last snapshot is asked for again
    GuardSkipSeen,              \* a row that was seen is not applied again
    GuardPageToEnd,             \* the position moves only when a page was the last
    GuardPurgeBelowPosition,    \* rows are purged only below the position of each reader that is listed
    GuardPurgeOwnServer,        \* a position that was read of another server, or before a restore, says nothing here
    GuardPurgeNoted,            \* a purge notes up to where it went, and a reader that needs more forgets everything
    GuardIncarnation,           \* the reader notices a restore
    GuardRestoreEmptiesLog      \* a restored store begins with an empty log

VARIABLES
    begun,      \* how many transactions have begun; it names them, as a row's random tag does
    server,     \* what gives out numbers: next number, timeline, incarnation, faults that are still to come
    open,       \* transactions that hold a number: [xid, tag]; tag 0 is a stranger's, which appends nothing
    commits,    \* rows in the order in which this server committed them
    base,       \* rows of before this server, in the backup that it came from
    purged,     \* rows that were removed from the log
    note,       \* below which number rows were purged at most
    backup,     \* what a backup holds
    reader      \* the node

vars == <<begun, server, open, commits, base, purged, note, backup, reader>>

Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Max(S) == CHOOSE x \in S : \A y \in S : x >= y
Range(s) == {s[i] : i \in 1..Len(s)}
Numbers(rows) == {r.xid : r \in rows}

(* Every change that the store's tables reflect, and the rows that its log still has. *)
History == base \cup Range(commits)
Log == (Range(commits) \cup (IF GuardRestoreEmptiesLog THEN {} ELSE base)) \ purged
Horizon == Min(Numbers(open) \cup {server.next})

(* The number that follows the last one of which the server has anything in writing. *)
NextNumber(s) == Max(Numbers(Range(s)) \cup {0}) + 1

NewPosition(highest) ==
    LET bound == IF GuardPositionBelowLastRow THEN highest + 1 ELSE server.next
        horizon == IF GuardHorizon THEN Horizon ELSE server.next
    IN Min({bound, horizon})

OpenNow == IF GuardOpenRemembered /\ Reading = "snapshot" THEN Numbers(open) ELSE {}

(* A reader that begins has nothing in memory: whatever it loads later is at least as new as this. *)
Beginning ==
    LET highest == Max(Numbers(Log) \cup {0})
        position == NewPosition(highest)
    IN [position |-> position, highest |-> highest,
        seen |-> IF Reading = "horizon" THEN {r \in Log : r.xid >= position} ELSE {},
        last |-> IF LossCheck = "tag" THEN {r \in Log : r.xid = highest} ELSE {}, wasOpen |-> OpenNow,
        timeline |-> server.timeline, incarnation |-> server.incarnation, isListed |-> TRUE,
        covered |-> History, asOf |-> History, complete |-> TRUE, repeated |-> FALSE]

(* Rows below are of no use to a reader: it has them, and waits for none of them. *)
Needed(r) == Min({r.position, r.highest})

Init ==
    /\ begun = 0
    /\ server = [next |-> 1, timeline |-> 1, incarnation |-> 1, crash |-> 1, failover |-> 1, restore |-> 1]
    /\ open = {} /\ commits = <<>> /\ base = {} /\ purged = {} /\ backup = {} /\ note = 0
    /\ reader = [position |-> 1, highest |-> 0, seen |-> {}, last |-> {}, wasOpen |-> {},
                 timeline |-> 1, incarnation |-> 1, isListed |-> TRUE, covered |-> {}, asOf |-> {}, complete |-> TRUE,
                 repeated |-> FALSE]

-----------------------------------------------------------------------------
(* Transactions *)

Begin(stranger) ==
    /\ begun < Most
    /\ begun' = begun + 1
    /\ open' = open \cup {[xid |-> server.next, tag |-> IF stranger THEN 0 ELSE begun + 1]}
    /\ server' = [server EXCEPT !.next = @ + 1]
    /\ UNCHANGED <<commits, base, purged, note, backup, reader>>

Commit(row) ==
    /\ row.tag # 0
    /\ open' = open \ {row}
    /\ commits' = Append(commits, row)
    /\ UNCHANGED <<begun, server, base, purged, note, backup, reader>>

(* Also how a stranger's transaction ends: what it commits is not in the log. *)
Abort(row) ==
    /\ open' = open \ {row}
    /\ UNCHANGED <<begun, server, commits, base, purged, note, backup, reader>>

IsOfThisServer == reader.timeline = server.timeline /\ reader.incarnation = server.incarnation

(* Rows are purged below what every listed reader needs. One that was not seen for long is listed no more; where it is
   not, or its position does not count, others are, which may have read everything. A part of the log that somebody uses
   is left, so that any of these rows may stay. A reader that goes by the last row's tag needs that row. *)
Purge(row, isListed) ==
    LET isSpared == isListed /\ (GuardPurgeOwnServer => IsOfThisServer) /\ GuardPurgeBelowPosition
        end == IF isSpared THEN Needed(reader) ELSE Min({Max(Numbers(Log) \cup {0})} \cup Numbers(open))
    IN \E floor \in {row.xid + 1, end} :
        /\ row.xid < floor /\ floor <= end /\ Cardinality(purged) < Purges
        /\ LossCheck = "tag" => row \notin reader.last
        /\ purged' = purged \cup {row}
        /\ note' = Max({note, floor})
        /\ reader' = [reader EXCEPT !.isListed = isListed]
        /\ UNCHANGED <<begun, server, open, commits, base, backup>>

-----------------------------------------------------------------------------
(* Faults of the server *)

(* It starts again by itself. Commits are flushed before anybody sees them, numbers are not. *)
Crash ==
    /\ server.crash > 0
    /\ open' = {}
    /\ server' = [server EXCEPT !.next = NextNumber(commits), !.crash = @ - 1]
    /\ UNCHANGED <<begun, commits, base, purged, note, backup, reader>>

(* A standby takes over. It may lack commits that were seen: somebody ended their wait for the standby. Purges behind
   them are lost with them; that their rows are back would change nothing, for every reader forgets. *)
Failover(kept) ==
    /\ server.failover > 0
    /\ open' = {}
    /\ commits' = SubSeq(commits, 1, kept)
    /\ note' = IF kept < Len(commits) THEN 0 ELSE note
    /\ server' = [server EXCEPT !.next = NextNumber(commits'), !.timeline = @ + 1, !.failover = @ - 1]
    /\ UNCHANGED <<begun, base, purged, note, backup, reader>>

BackUp ==
    /\ backup = {} /\ server.restore > 0
    /\ backup' = History
    /\ UNCHANGED <<begun, server, open, commits, base, purged, note, reader>>

(* The backup is filled into a new server, which counts from the beginning, on a timeline of perhaps the same name. *)
Restore ==
    /\ server.restore > 0
    /\ open' = {} /\ commits' = <<>> /\ base' = backup
    /\ note' = 0
    /\ server' = [server EXCEPT !.next = 1, !.incarnation = @ + 1, !.restore = @ - 1, !.failover = 0]
    /\ UNCHANGED <<begun, purged, backup, reader>>

-----------------------------------------------------------------------------
(* The reader: one statement, one snapshot *)

IsKnownServer ==
    /\ GuardIncarnation => reader.incarnation = server.incarnation
    /\ LossCheck = "timeline" => reader.timeline = server.timeline
    /\ LossCheck = "tag" => reader.last \subseteq Log
    /\ GuardPurgeNoted => note <= Needed(reader)

Forget == reader' = [Beginning EXCEPT !.repeated = reader.repeated]

(* By "horizon" everything behind the lowest number that was open: all of it again, for as long as a stranger's
   transaction lasts. By "snapshot" what was open, and what is behind the last row: no row twice, whoever is open. *)
IsAskedFor(row) ==
    IF Reading = "horizon" THEN row.xid >= reader.position
    ELSE row.xid \in reader.wasOpen \/ row.xid > reader.highest

Read ==
    LET rows == {r \in Log : IsAskedFor(r)}
        new == IF GuardSkipSeen THEN {r \in rows : r.xid \notin Numbers(reader.seen)} ELSE rows
        page == {r \in new : Cardinality({s \in new : s.xid < r.xid}) < PageSize}
        isLast == page = new
        highest == Max(Numbers(page \cup reader.seen) \cup {reader.highest})
        isMoved == isLast \/ ~GuardPageToEnd
        position == IF isMoved THEN NewPosition(highest) ELSE reader.position
    IN reader' = [reader EXCEPT
        !.position = position, !.highest = IF isMoved THEN highest ELSE @,
        !.seen = IF Reading = "horizon" THEN {r \in @ \cup page : r.xid >= position}
                 ELSE IF isMoved THEN {} ELSE @ \cup page,
        !.wasOpen = IF isMoved THEN OpenNow ELSE @,
        !.last = IF LossCheck # "tag" \/ page = {} THEN @ ELSE {r \in page : r.xid = Max(Numbers(page))},
        !.covered = @ \cup page, !.asOf = History, !.complete = isLast,
        !.repeated = @ \/ page \cap reader.covered # {}]

Poll ==
    /\ IF IsKnownServer THEN Read ELSE Forget
    /\ UNCHANGED <<begun, server, open, commits, base, purged, note, backup>>

Next ==
    \/ \E stranger \in BOOLEAN : Begin(stranger)
    \/ \E row \in open : Commit(row) \/ Abort(row)
    \/ \E row \in Log, isListed \in {FALSE, reader.isListed} : Purge(row, isListed)
    \/ Crash
    \/ \E kept \in 0..Len(commits) : Failover(kept)
    \/ BackUp \/ Restore
    \/ Poll

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* A reader that has come to the end of a snapshot knows of every change that it holds. *)
NothingMissed == reader.complete => reader.asOf \subseteq reader.covered

(* It has nothing in memory of changes that the store has lost. *)
NothingLostIsKept == reader.covered \subseteq reader.asOf

AppliedOnce == ~reader.repeated

(* No purge makes a listed reader forget. *)
ListedReadsOn == reader.isListed /\ IsOfThisServer => note <= Needed(reader)

(* Nor one that begins at this moment: it would forget again and again. *)
BeginnerReadsOn == note <= Needed(Beginning)
=============================================================================
