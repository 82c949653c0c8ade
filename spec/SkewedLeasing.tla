---------------------------- MODULE SkewedLeasing ----------------------------
(***************************************************************************)
(* When does a credit end?  At the window's edge on L2's clock, which the  *)
(* node cannot read.  It has a wall clock, which differs from L2's, and a  *)
(* monotonic clock, which measures spans; and messages take any time.      *)
(* Three ways to find the edge suggest themselves:                         *)
(*                                                                         *)
(*   WallClock     L2 sends the instant of the edge and the node compares  *)
(*                 it with its own wall clock.  One tick of difference is  *)
(*                 enough to spend credits in a window that did not pay.   *)
(*   SinceReceipt  L2 sends how long the grant lasts and the node counts   *)
(*                 from the moment the reply arrives.  By then some of it  *)
(*                 has passed, unnoticed, and the end is set too late.     *)
(*   SinceSend     the same, counted from the moment the node SENT its     *)
(*                 request.  L2 measured the span after that moment, so    *)
(*                 the node's end is never later than L2's, whatever the   *)
(*                 delays, and the wall clocks are never looked at.        *)
(*                                                                         *)
(* The last one pays with a round trip's worth of each span, and assumes   *)
(* that both clocks run at the same rate.  If a node's monotonic clock may *)
(* lose Drift ticks on L2's, the span has to be cut by a Margin that is at *)
(* least as large.                                                         *)
(*                                                                         *)
(* Time is L2's clock here, in ticks; it is bounded by Horizon, and all    *)
(* skews, delays and drifts up to there are tried.  A credit is spent at   *)
(* an instant, so what counts is the window in which that instant lies.    *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sums

CONSTANTS
    Nodes,    \* the fleet
    Limit,    \* what L2 grants in one window
    Batch,    \* what a node asks for
    Coupled,  \* TRUE: credits end with their window; FALSE: only grants that arrive late do
    Policy,   \* "WallClock", "SinceReceipt" or "SinceSend"
    MaxSkew,  \* by how many ticks a wall clock may differ from L2's
    Drift,    \* how many ticks a monotonic clock may lose, in all
    Margin,   \* by how much a span is cut
    Window,   \* ticks in a window
    Horizon   \* when to stop

ASSUME /\ IsFiniteSet(Nodes) /\ Nodes # {}
       /\ Limit \in Nat \ {0} /\ Batch \in 1..Limit
       /\ Coupled \in BOOLEAN
       /\ Policy \in {"WallClock", "SinceReceipt", "SinceSend"}
       /\ MaxSkew \in Nat /\ Drift \in Nat /\ Margin \in Nat
       /\ Window \in Nat \ {0} /\ Horizon \in Nat

VARIABLES
    now,      \* real time, which is L2's clock
    skew,     \* each node's wall clock less L2's; it does not change
    lost,     \* ticks that each node's monotonic clock has lost
    request,  \* each node's lease in flight: phase, instant sent (node's monotonic clock),
              \* and of the reply: instant of the edge (L2's clock) and span until then
    credits,  \* what each node may spend without asking
    ends,     \* when that ends, on the clock that the policy reads; 0 without credits
    used,     \* L2's counter of this window
    admitted  \* what was charged in this window, over all nodes

vars == <<now, skew, lost, request, credits, ends, used, admitted>>

N == Cardinality(Nodes)

None == [phase |-> "none", sent |-> 0, edge |-> 0, span |-> 0]

Monotonic(n) == now - lost[n]
Wall(n) == now + skew[n]

\* The reading of the clock that the policy compares ends with.
Reading(n) == IF Policy = "WallClock" THEN Wall(n) ELSE Monotonic(n)

\* When a reply that arrives now says its grant ends, on that clock.
EndOf(n) == CASE Policy = "WallClock"    -> request[n].edge - Margin
              [] Policy = "SinceReceipt" -> Monotonic(n) + request[n].span - Margin
              [] Policy = "SinceSend"    -> request[n].sent + request[n].span - Margin

TypeOK == /\ now \in 0..Horizon
          /\ skew \in [Nodes -> (-MaxSkew)..MaxSkew]
          /\ lost \in [Nodes -> 0..Drift]
          /\ \A n \in Nodes : request[n].phase \in {"none", "asked", "granted"}
          /\ credits \in [Nodes -> 0..(Batch - 1)]
          /\ ends \in [Nodes -> Nat]
          /\ used \in 0..Limit
          /\ admitted \in Nat

Init == /\ now = 0
        /\ skew \in [Nodes -> (-MaxSkew)..MaxSkew]
        /\ lost = [n \in Nodes |-> 0]
        /\ request = [n \in Nodes |-> None]
        /\ credits = [n \in Nodes |-> 0]
        /\ ends = [n \in Nodes |-> 0]
        /\ used = 0
        /\ admitted = 0

\* A node holds (credit, end) as long as there is something to spend.
Hold(n, amount, end) ==
    /\ credits' = [credits EXCEPT ![n] = amount]
    /\ ends' = [ends EXCEPT ![n] = IF amount > 0 /\ Coupled THEN end ELSE 0]

\* A request that finds a credit.
Spend(n) ==
    /\ credits[n] > 0
    /\ Hold(n, credits[n] - 1, ends[n])
    /\ admitted' = admitted + 1
    /\ UNCHANGED <<now, skew, lost, request, used>>

\* A request that finds none: the node asks, and notes when it sent.
Ask(n) ==
    /\ credits[n] = 0
    /\ request[n] = None
    /\ request' = [request EXCEPT ![n] = [None EXCEPT !.phase = "asked",
                                                      !.sent = Monotonic(n)]]
    /\ UNCHANGED <<now, skew, lost, credits, ends, used, admitted>>

\* L2 grants a batch and says when, and in how long, it ends.
Grant(n) ==
    LET span == Window - (now % Window)
    IN  /\ request[n].phase = "asked"
        /\ used + Batch <= Limit
        /\ used' = used + Batch
        /\ request' = [request EXCEPT ![n].phase = "granted",
                                      ![n].edge = now + span,
                                      ![n].span = span]
        /\ UNCHANGED <<now, skew, lost, credits, ends, admitted>>

\* L2 has nothing left to grant.
Deny(n) ==
    /\ request[n].phase = "asked"
    /\ used + Batch > Limit
    /\ request' = [request EXCEPT ![n] = None]
    /\ UNCHANGED <<now, skew, lost, credits, ends, used, admitted>>

\* The reply arrives.  The request that waits for it is charged, unless the grant is over.
Receive(n) ==
    /\ request[n].phase = "granted"
    /\ request' = [request EXCEPT ![n] = None]
    /\ IF Reading(n) < EndOf(n)
       THEN /\ Hold(n, Batch - 1, EndOf(n))
            /\ admitted' = admitted + 1
       ELSE UNCHANGED <<credits, ends, admitted>>
    /\ UNCHANGED <<now, skew, lost, used>>

\* Time passes.  Some monotonic clocks may lose the tick; coupled credits may end.
Tick ==
    /\ now < Horizon
    /\ now' = now + 1
    /\ UNCHANGED <<skew, request>>
    /\ \E late \in SUBSET {n \in Nodes : lost[n] < Drift} :
         lost' = [n \in Nodes |-> IF n \in late THEN lost[n] + 1 ELSE lost[n]]
    /\ LET over(n) == Coupled /\ credits[n] > 0 /\ Reading(n)' >= ends[n]
       IN  /\ credits' = [n \in Nodes |-> IF over(n) THEN 0 ELSE credits[n]]
           /\ ends' = [n \in Nodes |-> IF over(n) THEN 0 ELSE ends[n]]
    /\ IF now' % Window = 0
       THEN used' = 0 /\ admitted' = 0
       ELSE UNCHANGED <<used, admitted>>

Next == Tick \/ \E n \in Nodes : Spend(n) \/ Ask(n) \/ Grant(n) \/ Deny(n) \/ Receive(n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

\* The claim for coupled credits.
NeverOverAdmits == admitted <= Limit

\* The claim for carried credits, where the end only tells a late grant.
OvershootWithinCarry == admitted <= Limit + N * (Batch - 1)

\* Why: while a node may still use a grant, or credits from it, its window lasts.
\* The edge of the window that L2 is in:
Edge == now + Window - (now % Window)
Usable(n) == request[n].phase = "granted" /\ Reading(n) < EndOf(n)
GrantsEndInTime == \A n \in Nodes : Usable(n) => request[n].edge = Edge

\* The bounds less one.  They must be violated, or the bounds would be too generous.
LimitUnreached == admitted < Limit
CarryUnreached == admitted < Limit + N * (Batch - 1)
=============================================================================
