------------------------------ MODULE History ------------------------------
(* What clients may be told of one user, who shows one nonce: histories that were recorded are judged by it.

   A request takes effect at one moment between its begin and its answer; one whose answer is not known takes effect
   at any later moment, or never. What the store has only grows: no session, live, challenged, over. A node's view may
   lag behind, but never falls back, and not longer than the bound behind an act that was acknowledged. *)
EXTENDS Naturals, Sequences, TLC

(* Traces is made by trace.py: for each user the requests and, in the order of time, the points at which one begins,
   is answered, or has been known to all nodes; the last point says what the store holds. *)
CONSTANT Traces

VARIABLES
    trace,    \* one user's part; kept here since TLC would make all of Traces anew at each look
    next,     \* the next point
    pending,  \* requests that began and have not taken effect
    isSpent,  \* whether the nonce is
    session,  \* 0 to 3: none, live, challenged, over
    isBanned,
    views     \* node -> the least that it knows of the session

vars == <<trace, next, pending, isSpent, session, isBanned, views>>

Request(r) == trace.requests[r]
Points == trace.points
Max(a, b) == IF a > b THEN a ELSE b

Range(sequence) == {sequence[i] : i \in 1..Len(sequence)}

Init ==
    /\ LET all == Traces IN \E number \in 1..Len(all) :
        /\ trace = [number |-> number, requests |-> all[number].requests, points |-> all[number].points]
        /\ views = [n \in {request.node : request \in Range(all[number].requests)} |-> 0]
    /\ next = 1 /\ pending = {} /\ isSpent = FALSE /\ session = 0 /\ isBanned = FALSE

Learn(node, known) == views' = [views EXCEPT ![node] = Max(@, known)]
AllLearn(known) == views' = [n \in DOMAIN views |-> Max(views[n], known)]

-----------------------------------------------------------------------------
(* How a request takes effect *)

Opens ==
    /\ ~isSpent /\ ~isBanned /\ session = 0
    /\ isSpent' = TRUE /\ session' = 1 /\ UNCHANGED <<isBanned, views>>

(* A ban is told only to the holder of a proof, and the proof is used up. *)
IsRefusedAsBanned ==
    /\ ~isSpent /\ isBanned
    /\ isSpent' = TRUE /\ UNCHANGED <<session, isBanned, views>>

IsRefusedAsUsed == isSpent /\ UNCHANGED <<isSpent, session, isBanned, views>>

(* A node whose view is behind ends the session once more. *)
Ends(node) ==
    /\ session >= 1 /\ views[node] <= 2
    /\ session' = 3 /\ UNCHANGED <<isSpent, isBanned, views>>

Challenges == session = 1 /\ session' = 2 /\ UNCHANGED <<isSpent, isBanned, views>>

Bans ==
    /\ isBanned' = TRUE /\ session' = IF session = 0 THEN 0 ELSE 3
    /\ UNCHANGED <<isSpent, views>>

(* The node says what the session is: something that it is or was, and not less than the node knew. *)
Shows(node, state) ==
    /\ views[node] <= state /\ state <= session
    /\ Learn(node, state)
    /\ UNCHANGED <<isSpent, session, isBanned>>

TakesEffect(r) ==
    LET request == Request(r) IN
    /\ pending' = pending \ {r}
    /\ CASE request.does = "open" -> Opens
         [] request.does = "open, perhaps" -> Opens \/ IsRefusedAsBanned
         [] request.does = "refused as banned" -> IsRefusedAsBanned
         [] request.does = "refused as used" -> IsRefusedAsUsed
         [] request.does = "end" -> Ends(request.node)
         [] request.does = "challenge" -> Challenges
         [] request.does = "ban" -> Bans
         [] request.does = "show live" -> Shows(request.node, 1)
         [] request.does = "show challenged" -> Shows(request.node, 2)
         [] request.does = "show over" -> Shows(request.node, 3)
    /\ UNCHANGED <<trace, next>>

-----------------------------------------------------------------------------
(* Time *)

(* What all must know of an act that was acknowledged. *)
Left(does) == CASE does = "open" -> 1 [] does = "challenge" -> 2 [] does \in {"end", "ban"} -> 3 [] OTHER -> 0

Passes ==
    LET point == Points[next] IN
    /\ next' = next + 1
    /\ CASE point.at = "begin" -> pending' = pending \cup {point.request} /\ UNCHANGED views
         [] point.at = "answer" ->
              /\ point.request \notin pending
              /\ LET request == Request(point.request) IN
                  IF request.does = "open" THEN AllLearn(1) ELSE Learn(request.node, Left(request.does))
              /\ UNCHANGED pending
         [] point.at = "known" -> AllLearn(Left(Request(point.request).does)) /\ UNCHANGED pending
         [] point.at = "store" -> session = point.session /\ UNCHANGED <<pending, views>>
    /\ UNCHANGED <<trace, isSpent, session, isBanned>>

IsAtEnd == next > Len(Points)

(* Says so once it is there: the script counts who was. *)
Accept == IsAtEnd /\ pending # {0} /\ PrintT(<<"accepted", trace.number>>) /\ pending' = {0}
          /\ UNCHANGED <<trace, next, isSpent, session, isBanned, views>>

(* What takes effect before another begins might as well do so behind that. *)
Next ==
    IF IsAtEnd THEN Accept
    ELSE Passes \/ (Points[next].at # "begin" /\ \E r \in pending : TakesEffect(r))

Spec == Init /\ [][Next]_vars
=============================================================================
