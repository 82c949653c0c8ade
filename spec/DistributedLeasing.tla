------------------------- MODULE DistributedLeasing -------------------------
(***************************************************************************)
(* A fleet shares one limit per window.  The counter of the window lives   *)
(* in L2, the shared store; a node that has no credits leases a batch of   *)
(* them there and then serves requests without asking.                     *)
(*                                                                         *)
(* Nobody tells the nodes that a window has ended, so what a node has not  *)
(* spent is carried over the edge and admitted in a window that did not    *)
(* pay for it.  How much can that be?  A node leases only to serve a       *)
(* request that its credits do not cover, and charges that request in the  *)
(* same step, so that at most Batch - 1 credits are left on each node.     *)
(* The window then admits at most                                          *)
(*                                                                         *)
(*     Limit + N * (Batch - 1)                                             *)
(*                                                                         *)
(* and that many are indeed admitted in some run: all nodes enter the      *)
(* window with Batch - 1 credits, spend them, and then share the limit.    *)
(*                                                                         *)
(* Asking and being answered is one step here.  AsyncLeasing takes the     *)
(* step apart, and shows what an implementation must do for the bound to   *)
(* survive that.                                                           *)
(***************************************************************************)
EXTENDS FiniteSets, Sums

CONSTANTS
    Nodes,    \* the fleet
    Limit,    \* what L2 grants in one window
    Batch,    \* what a node asks for
    Costs,    \* what a request may cost
    Partial   \* TRUE: L2 grants what is left when that covers the request;
              \* FALSE: it grants all that was asked for, or nothing

ASSUME /\ IsFiniteSet(Nodes) /\ Nodes # {}
       /\ Limit \in Nat \ {0} /\ Batch \in 1..Limit
       /\ Costs # {} /\ Costs \subseteq 1..Limit
       /\ Partial \in BOOLEAN

VARIABLES
    credits,  \* what each node may spend without asking
    used,     \* L2's counter of this window
    admitted  \* what was charged in this window, over all nodes

vars == <<credits, used, admitted>>

N == Cardinality(Nodes)

TypeOK == /\ credits \in [Nodes -> 0..Limit]
          /\ used \in 0..Limit
          /\ admitted \in Nat

Init == /\ credits = [n \in Nodes |-> 0]
        /\ used = 0
        /\ admitted = 0

\* What L2 gives to a node that asks for `want` and has no use for less than `atLeast`.
Granted(want, atLeast) ==
    LET left  == Limit - used
        offer == IF Partial THEN Min(want, left) ELSE IF want <= left THEN want ELSE 0
    IN  IF offer >= atLeast THEN offer ELSE 0

\* A request that the node's own credits cover.
Spend(n, cost) ==
    /\ credits[n] >= cost
    /\ credits' = [credits EXCEPT ![n] = @ - cost]
    /\ admitted' = admitted + cost
    /\ UNCHANGED used

\* A request that they do not cover: ask for what fills the node up to a batch, or covers a
\* dearer request, and charge it in the same step.
Lease(n, cost) ==
    LET grant == Granted(Max(Batch, cost) - credits[n], cost - credits[n])
    IN  /\ credits[n] < cost
        /\ grant > 0
        /\ used' = used + grant
        /\ credits' = [credits EXCEPT ![n] = @ + grant - cost]
        /\ admitted' = admitted + cost

\* The window ends.  L2 starts a new count; the nodes do not notice.
Roll ==
    /\ used' = 0
    /\ admitted' = 0
    /\ UNCHANGED credits

Next == \/ \E n \in Nodes, cost \in Costs : Spend(n, cost) \/ Lease(n, cost)
        \/ Roll

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

Bound == Limit + N * (Batch - 1)

\* The claim.
OvershootWithinCarry == admitted <= Bound

\* Why it holds: what a node keeps after a lease is less than a batch ...
HoldingsStayBelowBatch == \A n \in Nodes : credits[n] <= Batch - 1

\* ... and whatever is admitted or still held was paid for in this window or carried into it.
CreditsAreBackedOrCarried == admitted + Sum(credits) <= used + N * (Batch - 1)

\* The bound less one.  It must be violated, or the bound would be too generous.
CarryUnreached == admitted < Bound
=============================================================================
