------------------------------ MODULE Session ------------------------------
(* Sessions in the store: sign-in, renewal, and the acts that cut them off.

   A ban, a revocation or a log-out everywhere is one change of a gate: its generation rises. A session stores the
   generations that its sign-in read, and may act only while they are still the gates'. Rows are ended afterwards, in
   any order. Statements run under READ COMMITTED: what a statement has read may be over when it commits; what it
   updates is looked at again. A device's gate is like a user's, a provider's like a key's; one of each is enough. *)
EXTENDS Naturals, FiniteSets

CONSTANTS
    Sessions,                \* sign-ins, each of which may open a session
    Renewals,                \* requests to renew
    Cuts, Lifts, Restores,   \* how many acts of each kind there are at most
    GuardBanRaises,          \* a ban and a revocation raise the gate's generation
    GuardHeldAtSignIn,       \* a sign-in is refused while one of its gates is held
    GuardOneStatement,       \* a sign-in stores the generations of the snapshot in which it looked at the holds
    GuardGenerationOnLoad,   \* a session whose generations are not the gates' may not act
    GuardRenewEquality,      \* nor is it renewed
    GuardHeldAtRenew,        \* a renewal is refused while one of its gates is held
    GuardRenewCompareToken,  \* a renewal replaces the token that it was shown, no other
    GuardRenewLiveOnly,      \* an ended session is not renewed
    GuardLiftLooksAtOthers,  \* lifting a ban leaves the hold if another ban is in force
    GuardLiftSerializable,   \* and fails if the gate has changed since it looked
    GuardSweepByGeneration,  \* what is ended afterwards are rows with old generations, not a user's rows
    GuardRestoreEndsAll,     \* a restore ends every session of the backup
    GuardRestoreReplays      \* a restore takes over the holds of the store that it replaces

VARIABLES
    gates,     \* gate -> generation and hold
    rows,      \* session -> its row
    signIns,   \* sign-in -> what its statement has read
    renewals,  \* renewal -> what it was shown, and what its statement has read
    bans,      \* how many bans on the user are in force, and what a lifting that is under way has read
    acts,      \* how many acts are still to come
    backup,    \* gates and rows as a backup has them
    truth      \* what nobody may forget: sessions that were ended or cut off, holds in force, tokens exchanged

vars == <<gates, rows, signIns, renewals, bans, acts, backup, truth>>

Keys == {"key1", "key2"}
Gates == {"user"} \cup Keys

NoRow == [state |-> "none"]
Idle == [phase |-> "idle"]

Generations(key) == [user |-> gates["user"].generation, key |-> gates[key].generation]
Current(row) == Generations(row.key) = row.generations
IsHeld(key) == gates["user"].isHeld \/ gates[key].isHeld

(* What a node answers from the row, whoever asks. *)
MayAct(s) == rows[s].state = "live" /\ (GuardGenerationOnLoad => Current(rows[s]))

Init ==
    /\ gates = [g \in Gates |-> [generation |-> 0, isHeld |-> FALSE]]
    /\ rows = [s \in Sessions |-> NoRow]
    /\ signIns = [s \in Sessions |-> Idle]
    /\ renewals = [r \in Renewals |-> Idle]
    /\ bans = [inForce |-> 0, lifting |-> Idle]
    /\ acts = [cuts |-> Cuts, lifts |-> Lifts, restores |-> Restores]
    /\ backup = [isTaken |-> FALSE]
    /\ truth = [cut |-> {}, ended |-> {}, admittedWhileHeld |-> {}, renewedWhileHeld |-> {}, held |-> {},
                sweptAlive |-> {}, exchanged |-> {}]

-----------------------------------------------------------------------------
(* Sign-in: the statement's snapshot, then its commit *)

SignInReads(s, key) ==
    /\ signIns[s] = Idle
    /\ GuardHeldAtSignIn => ~IsHeld(key)
    /\ signIns' = [signIns EXCEPT ![s] = [phase |-> "read", key |-> key, generations |-> Generations(key)]]
    /\ truth' = [truth EXCEPT !.admittedWhileHeld = IF {"user", key} \cap truth.held = {} THEN @ ELSE @ \cup {s}]
    /\ UNCHANGED <<bans, gates, rows, renewals, acts, backup>>

SignInCommits(s) ==
    /\ signIns[s].phase = "read"
    /\ LET key == signIns[s].key IN
        rows' = [rows EXCEPT ![s] = [
            state |-> "live", key |-> key, token |-> <<s, 0>>,
            generations |-> IF GuardOneStatement THEN signIns[s].generations ELSE Generations(key)]]
    /\ signIns' = [signIns EXCEPT ![s] = [phase |-> "done"]]
    /\ UNCHANGED <<bans, gates, renewals, acts, backup, truth>>

-----------------------------------------------------------------------------
(* Renewal: the session is looked up and the new identity token verified; later comes the statement *)

RenewalIsShown(r, s, key) ==
    /\ renewals[r] = Idle
    /\ rows[s].state = "challenged"
    /\ renewals' = [renewals EXCEPT ![r] = [phase |-> "shown", session |-> s, key |-> key, old |-> rows[s].token]]
    /\ UNCHANGED <<bans, gates, rows, signIns, acts, backup, truth>>

RenewalReads(r) ==
    LET renewal == renewals[r]
        row == rows[renewal.session]
    IN /\ renewal.phase = "shown"
       /\ row.state # "none"
       /\ GuardHeldAtRenew => ~IsHeld(renewal.key)
       /\ GuardRenewEquality => Current(row)
       /\ renewals' = [renewals EXCEPT ![r] = [
              phase |-> "read", session |-> @.session, key |-> @.key, old |-> @.old,
              generations |-> Generations(renewal.key), wasHeld |-> {"user", renewal.key} \cap truth.held # {},
              cut |-> {cut[2] : cut \in {cut \in truth.cut : cut[1] = renewal.session}}]]
       /\ UNCHANGED <<bans, gates, rows, signIns, acts, backup, truth>>

(* The row is locked and looked at again, the gates are not. A key that was revoked since the snapshot has no part in a
   session that another key renews: it is as if the renewal had come first. *)
RenewalCommits(r) ==
    LET renewal == renewals[r]
        s == renewal.session
    IN /\ renewal.phase = "read"
       /\ rows[s].state # "none"
       /\ GuardRenewCompareToken => rows[s].token = renewal.old
       /\ GuardRenewLiveOnly => rows[s].state # "over"
       /\ rows' = [rows EXCEPT ![s] = [state |-> "live", key |-> renewal.key, token |-> <<s, r>>,
                                       generations |-> renewal.generations]]
       /\ truth' = [truth EXCEPT
              !.exchanged = @ \cup {<<renewal.old, r>>},
              !.cut = {cut \in @ : cut[1] # s \/ cut[2] = "user"} \cup {<<s, g>> : g \in renewal.cut},
              !.renewedWhileHeld = IF renewal.wasHeld THEN @ \cup {s} ELSE @]
       /\ renewals' = [renewals EXCEPT ![r] = [phase |-> "done"]]
       /\ UNCHANGED <<bans, gates, signIns, acts, backup>>

-----------------------------------------------------------------------------
(* What ends sessions *)

Challenge(s) ==
    /\ MayAct(s)
    /\ rows' = [rows EXCEPT ![s].state = "challenged"]
    /\ UNCHANGED <<bans, gates, signIns, renewals, acts, backup, truth>>

End(s) ==
    /\ rows[s].state \in {"live", "challenged"}
    /\ rows' = [rows EXCEPT ![s].state = "over"]
    /\ truth' = [truth EXCEPT !.ended = @ \cup {s}]
    /\ UNCHANGED <<bans, gates, signIns, renewals, acts, backup>>

(* Sessions that a gate's change must end: those that are there, and those that are being opened. *)
Behind(g) == {<<s, g>> : s \in
    {s \in Sessions :
        \/ rows[s].state # "none" /\ g \in {"user", rows[s].key}
        \/ signIns[s].phase = "read" /\ g \in {"user", signIns[s].key}}}

(* A renewal that comes about in spite of it takes the cut with it. *)
Reached(g) == [r \in Renewals |->
    IF renewals[r].phase = "read" /\ g = renewals[r].key THEN [renewals[r] EXCEPT !.cut = @ \cup {g}] ELSE renewals[r]]

CutOff == {cut[1] : cut \in truth.cut}

(* A ban or the revocation of a key holds; a log-out everywhere does not. *)
Cut(g, holds) ==
    /\ acts.cuts > 0
    /\ acts' = [acts EXCEPT !.cuts = @ - 1]
    /\ gates' = [gates EXCEPT ![g] = [
           generation |-> IF GuardBanRaises \/ ~holds THEN @.generation + 1 ELSE @.generation,
           isHeld |-> @.isHeld \/ holds]]
    /\ truth' = [truth EXCEPT
           !.cut = @ \cup Behind(g),
           !.held = IF holds THEN @ \cup {g} ELSE @]
    /\ renewals' = Reached(g)
    /\ bans' = IF holds /\ g = "user" THEN [bans EXCEPT !.inForce = @ + 1] ELSE bans
    /\ UNCHANGED <<rows, signIns, backup>>

(* A key that is revoked without the end of its sessions, or retired: it opens and renews nothing any more. *)
Retire(key) ==
    /\ acts.cuts > 0
    /\ acts' = [acts EXCEPT !.cuts = @ - 1]
    /\ gates' = [gates EXCEPT ![key].isHeld = TRUE]
    /\ truth' = [truth EXCEPT !.held = @ \cup {key}]
    /\ UNCHANGED <<bans, rows, signIns, renewals, backup>>

(* A lifting looks for other bans, and writes later. *)
LiftReads ==
    /\ acts.lifts > 0 /\ bans.inForce > 0 /\ bans.lifting = Idle
    /\ acts' = [acts EXCEPT !.lifts = @ - 1]
    /\ bans' = [bans EXCEPT !.lifting = [
           phase |-> "read", generation |-> gates["user"].generation,
           isHeld |-> GuardLiftLooksAtOthers /\ bans.inForce > 1]]
    /\ UNCHANGED <<gates, rows, signIns, renewals, backup, truth>>

(* The generation rises here, too: no property needs it. *)
LiftCommits ==
    /\ bans.lifting.phase = "read"
    /\ GuardLiftSerializable => bans.lifting.generation = gates["user"].generation
    /\ bans' = [inForce |-> bans.inForce - 1, lifting |-> Idle]
    /\ gates' = [gates EXCEPT !["user"] = [generation |-> @.generation + 1, isHeld |-> bans.lifting.isHeld]]
    /\ truth' = [truth EXCEPT
           !.held = IF bans.inForce = 1 THEN @ \ {"user"} ELSE @, !.cut = @ \cup Behind("user")]
    /\ UNCHANGED <<rows, signIns, renewals, acts, backup>>

(* One row of a batch. *)
Sweep(s) ==
    /\ rows[s].state \in {"live", "challenged"}
    /\ IF GuardSweepByGeneration THEN ~Current(rows[s]) ELSE acts.cuts < Cuts
    /\ rows' = [rows EXCEPT ![s].state = "over"]
    /\ truth' = [truth EXCEPT !.sweptAlive = IF s \in CutOff THEN @ ELSE @ \cup {s}]
    /\ UNCHANGED <<bans, gates, signIns, renewals, acts, backup>>

-----------------------------------------------------------------------------
(* Restore of a backup; requests that were under way fail with the server *)

BackUp ==
    /\ ~backup.isTaken /\ acts.restores > 0
    /\ backup' = [isTaken |-> TRUE, gates |-> gates, rows |-> rows, bans |-> bans.inForce]
    /\ UNCHANGED <<bans, gates, rows, signIns, renewals, acts, truth>>

Restore ==
    /\ backup.isTaken /\ acts.restores > 0
    /\ acts' = [acts EXCEPT !.restores = @ - 1]
    /\ rows' = [s \in Sessions |->
           IF backup.rows[s].state # "none" /\ GuardRestoreEndsAll
           THEN [backup.rows[s] EXCEPT !.state = "over"] ELSE backup.rows[s]]
    /\ gates' = [g \in Gates |->
           IF GuardRestoreReplays THEN [backup.gates[g] EXCEPT !.isHeld = gates[g].isHeld] ELSE backup.gates[g]]
    /\ bans' = [inForce |-> IF GuardRestoreReplays THEN bans.inForce ELSE backup.bans, lifting |-> Idle]
    /\ signIns' = [s \in Sessions |-> IF signIns[s].phase = "read" THEN [phase |-> "done"] ELSE signIns[s]]
    /\ renewals' = [r \in Renewals |-> IF renewals[r] = Idle THEN Idle ELSE [phase |-> "done"]]
    /\ UNCHANGED <<backup, truth>>

Next ==
    \/ \E s \in Sessions, key \in Keys : SignInReads(s, key)
    \/ \E s \in Sessions : SignInCommits(s) \/ Challenge(s) \/ End(s) \/ Sweep(s)
    \/ \E r \in Renewals, s \in Sessions, key \in Keys : RenewalIsShown(r, s, key)
    \/ \E r \in Renewals : RenewalReads(r) \/ RenewalCommits(r)
    \/ \E g \in Gates, holds \in BOOLEAN : Cut(g, holds)
    \/ \E key \in Keys : Retire(key)
    \/ LiftReads \/ LiftCommits \/ BackUp \/ Restore

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
Acting == {s \in Sessions : MayAct(s)}

(* Whoever was there, or was coming, when a ban, revocation or log-out was committed never acts again, lifted or not. *)
CutStays == Acting \cap CutOff = {}

EndStays == Acting \cap truth.ended = {}

(* No session acts that was opened, or renewed, while user or key was held. *)
HeldOpensNothing == Acting \cap truth.admittedWhileHeld = {}
HeldRenewsNothing == Acting \cap truth.renewedWhileHeld = {}

(* A token is exchanged for one other: there are never two that live. *)
RenewedOnce == \A a, b \in truth.exchanged : a[1] = b[1] => a = b

(* When and in which order rows are ended changes no decision: what is ended could not act. *)
SweepEndsOnlyCut == truth.sweptAlive = {}
=============================================================================
