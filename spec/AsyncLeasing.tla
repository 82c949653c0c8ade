---------------------------- MODULE AsyncLeasing ----------------------------
(***************************************************************************)
(* Leasing as it happens: a request finds no credits and waits, the node   *)
(* asks, L2 grants, and the reply arrives when it likes.  Windows may end  *)
(* in between, and whoever waits may lose patience and leave.  A node has  *)
(* one lease in flight at most.                                            *)
(*                                                                         *)
(* With credits carried over the window's edge, the bound                  *)
(* Limit + N * (Batch - 1) of DistributedLeasing is now easy to lose, for  *)
(* it rests on each node having charged at least one unit of its batch     *)
(* before the edge.  Three plausible implementations do not:               *)
(*                                                                         *)
(*   - the reply arrives after the edge, and the grant is kept whole;      *)
(*   - the waiter has left, nobody is charged, and the grant is kept whole;*)
(*   - the waiter is charged not by the step that applies the grant but    *)
(*     when it wakes, and it wakes after the edge or never.                *)
(*                                                                         *)
(* Each of them reaches Limit + N * Batch.  The protocol therefore drops   *)
(* late grants (the waiters ask again), keeps Batch - 1 of a grant that    *)
(* nobody waits for and hands back the rest, and charges waiters in the    *)
(* step that applies the grant.  With all three, the bound holds again.    *)
(*                                                                         *)
(* With coupled credits only the first of them matters, and nothing above  *)
(* Limit is admitted; a grant that nobody waits for may be kept whole.     *)
(*                                                                         *)
(* There is no time here but the window's edge, and a node that could tell *)
(* exactly whether a grant is over is the most that any clock could give   *)
(* it: LateBy = "grant".  The shipped rule of SkewedLeasing counts from    *)
(* the send and is stricter; when nothing but the edge moves the clock it  *)
(* also drops what was asked for before the edge and granted after it:     *)
(* LateBy = "send".                                                        *)
(***************************************************************************)
EXTENDS FiniteSets, Sums

CONSTANTS
    Nodes,      \* the fleet
    Limit,      \* what L2 grants in one window
    Batch,      \* what a node asks for
    Partial,    \* TRUE: L2 grants what is left; FALSE: all that was asked for, or nothing
    Coupled,    \* TRUE: credits end with their window; FALSE: they are carried over
    LateBy,     \* a grant is late once a window has ended since L2 gave it, "grant", or since
                \* the node asked for it, "send"
    Late,       \* what becomes of a late grant: "kept" or "dropped"
    Ownerless,  \* a grant that nobody waits for is kept "whole", "trimmed" to
                \* Batch - 1, or "capped" so that the node holds Batch - 1 in all
    HandBack,   \* what is trimmed off is "applied" by L2 at once, or "lost" on the way
    Charge      \* waiters are charged when the grant is applied, "apply", or later, "wake"

ASSUME /\ IsFiniteSet(Nodes) /\ Nodes # {}
       /\ Limit \in Nat \ {0} /\ Batch \in 1..Limit
       /\ Partial \in BOOLEAN /\ Coupled \in BOOLEAN
       /\ LateBy \in {"grant", "send"}
       /\ Late \in {"kept", "dropped"}
       /\ Ownerless \in {"whole", "trimmed", "capped"}
       /\ HandBack \in {"applied", "lost"}
       /\ Charge \in {"apply", "wake"}

VARIABLES
    credits,  \* what each node may spend without asking
    request,  \* each node's lease in flight: its phase, and the amount once granted
    waiting,  \* whether somebody waits at the node
    used,     \* L2's counter of this window
    admitted  \* what was charged in this window, over all nodes

vars == <<credits, request, waiting, used, admitted>>

N == Cardinality(Nodes)

\* "asked": the request is under way; "stale": so it was when a window ended, and by LateBy its
\* grant will be late.  "granted": the reply is under way; "late": and too late.
None  == [phase |-> "none", amount |-> 0]
Asked == [phase |-> "asked", amount |-> 0]
Stale == [phase |-> "stale", amount |-> 0]
Reply(phase, amount) == [phase |-> phase, amount |-> amount]

TypeOK == /\ credits \in [Nodes -> Nat]
          /\ \A n \in Nodes : \/ request[n] \in {None, Asked, Stale}
                              \/ /\ request[n].phase \in {"granted", "late"}
                                 /\ request[n].amount \in 1..Batch
          /\ waiting \in [Nodes -> BOOLEAN]
          /\ used \in 0..Limit
          /\ admitted \in Nat

Init == /\ credits = [n \in Nodes |-> 0]
        /\ request = [n \in Nodes |-> None]
        /\ waiting = [n \in Nodes |-> FALSE]
        /\ used = 0
        /\ admitted = 0

\* What L2 gives to a node that asks.
Granted == LET left == Limit - used
           IN  IF Partial THEN Min(Batch, left) ELSE IF Batch <= left THEN Batch ELSE 0

\* A request that finds a credit.
Spend(n) ==
    /\ credits[n] > 0
    /\ credits' = [credits EXCEPT ![n] = @ - 1]
    /\ admitted' = admitted + 1
    /\ UNCHANGED <<request, waiting, used>>

\* A request that finds none, and waits.
Arrive(n) ==
    /\ credits[n] = 0
    /\ ~waiting[n]
    /\ waiting' = [waiting EXCEPT ![n] = TRUE]
    /\ UNCHANGED <<credits, request, used, admitted>>

\* Whoever waits gives up.  The lease in flight stays in flight.
Leave(n) ==
    /\ waiting[n]
    /\ waiting' = [waiting EXCEPT ![n] = FALSE]
    /\ UNCHANGED <<credits, request, used, admitted>>

\* The node asks for a batch because somebody waits.
Ask(n) ==
    /\ waiting[n]
    /\ credits[n] = 0
    /\ request[n] = None
    /\ request' = [request EXCEPT ![n] = Asked]
    /\ UNCHANGED <<credits, waiting, used, admitted>>

\* L2 decides.  A grant is on its way from here on.
Grant(n) ==
    /\ request[n] \in {Asked, Stale}
    /\ Granted > 0
    /\ request' = [request EXCEPT
           ![n] = Reply(IF @ = Stale THEN "late" ELSE "granted", Granted)]
    /\ used' = used + Granted
    /\ UNCHANGED <<credits, waiting, admitted>>

\* L2 has nothing to give, and the waiters are told so.
Deny(n) ==
    /\ request[n] \in {Asked, Stale}
    /\ Granted = 0
    /\ request' = [request EXCEPT ![n] = None]
    /\ waiting' = [waiting EXCEPT ![n] = FALSE]
    /\ UNCHANGED <<credits, used, admitted>>

\* What a node keeps of a grant that nobody waits for.
Kept(n) ==
    LET amount == request[n].amount
        room   == IF credits[n] < Batch - 1 THEN Batch - 1 - credits[n] ELSE 0
    IN  CASE Ownerless = "whole"   -> amount
          [] Ownerless = "trimmed" -> Min(amount, Batch - 1)
          [] Ownerless = "capped"  -> Min(amount, room)

\* The reply arrives, too late.  Whoever still waits will ask again.
Drop(n) ==
    /\ request[n].phase = "late"
    /\ Late = "dropped"
    /\ request' = [request EXCEPT ![n] = None]
    /\ UNCHANGED <<credits, waiting, used, admitted>>

Arrived(n) == \/ request[n].phase = "granted"
              \/ request[n].phase = "late" /\ Late = "kept"

\* The reply arrives and somebody waits.
ApplyOwned(n) ==
    /\ Arrived(n)
    /\ waiting[n]
    /\ request' = [request EXCEPT ![n] = None]
    /\ IF Charge = "apply"
       THEN /\ credits' = [credits EXCEPT ![n] = @ + request[n].amount - 1]
            /\ waiting' = [waiting EXCEPT ![n] = FALSE]
            /\ admitted' = admitted + 1
       ELSE /\ credits' = [credits EXCEPT ![n] = @ + request[n].amount]
            /\ UNCHANGED <<waiting, admitted>>
    /\ UNCHANGED used

\* The reply arrives and nobody waits.  L2 refuses what is handed back late.
ApplyOwnerless(n) ==
    LET rest == request[n].amount - Kept(n)
    IN  /\ Arrived(n)
        /\ ~waiting[n]
        /\ request' = [request EXCEPT ![n] = None]
        /\ credits' = [credits EXCEPT ![n] = @ + Kept(n)]
        /\ used' = IF HandBack = "applied" /\ request[n].phase = "granted"
                   THEN used - rest ELSE used
        /\ UNCHANGED <<waiting, admitted>>

\* A waiter that was not charged when the grant was applied pays now.
Wake(n) ==
    /\ Charge = "wake"
    /\ waiting[n]
    /\ credits[n] > 0
    /\ credits' = [credits EXCEPT ![n] = @ - 1]
    /\ waiting' = [waiting EXCEPT ![n] = FALSE]
    /\ admitted' = admitted + 1
    /\ UNCHANGED <<request, used>>

\* The window ends.  Grants under way are late from here on.
Roll ==
    /\ used' = 0
    /\ admitted' = 0
    /\ credits' = IF Coupled THEN [n \in Nodes |-> 0] ELSE credits
    /\ request' = [n \in Nodes |->
           IF request[n].phase = "granted" THEN Reply("late", request[n].amount)
           ELSE IF request[n] = Asked /\ LateBy = "send" THEN Stale
           ELSE request[n]]
    /\ UNCHANGED waiting

Step(n) == \/ Spend(n) \/ Arrive(n) \/ Leave(n) \/ Ask(n) \/ Grant(n) \/ Deny(n)
           \/ Drop(n) \/ ApplyOwned(n) \/ ApplyOwnerless(n) \/ Wake(n)

Next == Roll \/ \E n \in Nodes : Step(n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

\* The claim for coupled credits.
NeverOverAdmits == admitted <= Limit

\* The claim for carried credits.
OvershootWithinCarry == admitted <= Limit + N * (Batch - 1)

\* What remains of it when any of the three rules is broken.
OvershootWithinBatches == admitted <= Limit + N * Batch

\* Why the claim for carried credits holds.
HoldingsStayBelowBatch == \A n \in Nodes : credits[n] <= Batch - 1

\* Why the claim for coupled credits holds: L2 has deducted all that can still be admitted.
InFlight == [n \in Nodes |-> IF request[n].phase = "granted" THEN request[n].amount ELSE 0]
CreditsAreBacked == admitted + Sum(credits) + Sum(InFlight) <= used

\* What one lease in flight at a time buys: no node ties up more than a batch of the limit.
OutstandingWithinBatch == \A n \in Nodes : credits[n] + request[n].amount <= Batch

\* The bounds less one.  They must be violated, or the bounds would be too generous.
LimitUnreached == admitted < Limit
CarryUnreached == admitted < Limit + N * (Batch - 1)
BatchesUnreached == admitted < Limit + N * Batch
=============================================================================
