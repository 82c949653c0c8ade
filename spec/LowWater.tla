------------------------------ MODULE LowWater ------------------------------
(***************************************************************************)
(* Proactive refill.  A node does not wait until it has run dry: once it   *)
(* is down to LowWater credits it asks for the next batch in the           *)
(* background, so that no request waits for the network.                   *)
(*                                                                         *)
(* Nobody waits for such a grant, and it lands on top of what is left.     *)
(* Kept whole, as refills are, it lets a node enter a window with          *)
(* LowWater + Batch credits, so that with carried credits the bound is     *)
(*                                                                         *)
(*     Limit + N * (Batch + LowWater),                                     *)
(*                                                                         *)
(* and it is reached.  Trimmed to Batch - 1 it would be one less per node; *)
(* capped so that the node never holds more than Batch - 1 it would be     *)
(* Limit + N * (Batch - 1) again.  Coupled credits do not care: the bound  *)
(* is Limit.                                                               *)
(***************************************************************************)
EXTENDS AsyncLeasing

CONSTANT LowWater  \* refill once no more than this many credits are left

ASSUME LowWater \in Nat \ {0}

\* Ask for the next batch although nobody waits for it.
Refill(n) ==
    /\ credits[n] <= LowWater
    /\ request[n] = None
    /\ request' = [request EXCEPT ![n] = Asked]
    /\ UNCHANGED <<credits, waiting, used, admitted>>

LowWaterNext == Next \/ \E n \in Nodes : Refill(n)

LowWaterSpec == Init /\ [][LowWaterNext]_vars

-----------------------------------------------------------------------------

\* The claim for carried credits, with refills kept whole.
OvershootWithinBatchesAndLowWater == admitted <= Limit + N * (Batch + LowWater)

\* Why it holds.
HoldingsStayWithinBatchAndLowWater == \A n \in Nodes : credits[n] <= Batch + LowWater

\* The claim when refills are trimmed to Batch - 1.
OvershootWithinCarryAndLowWater == admitted <= Limit + N * (Batch - 1 + LowWater)

\* The bounds less one.  They must be violated, or the bounds would be too generous.
BatchesAndLowWaterUnreached == admitted < Limit + N * (Batch + LowWater)
CarryAndLowWaterUnreached == admitted < Limit + N * (Batch - 1 + LowWater)
=============================================================================
