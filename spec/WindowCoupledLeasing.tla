------------------------ MODULE WindowCoupledLeasing ------------------------
(***************************************************************************)
(* Leasing as in DistributedLeasing, except that a credit ends with the    *)
(* window that granted it.  Then nothing is carried over the edge: what is *)
(* admitted and what is held were both deducted from this window's limit,  *)
(*                                                                         *)
(*     admitted + credits held = used <= Limit,                            *)
(*                                                                         *)
(* for any number of nodes and any batch, and some run admits exactly      *)
(* Limit.                                                                  *)
(*                                                                         *)
(* The price is capacity.  Credits unspent at the edge are lost, and when  *)
(* grants are all-or-nothing, what the batch does not divide is never      *)
(* granted at all: of a limit of five in batches of two, the fifth unit is *)
(* admitted in no window.  Partial grants mend that.                       *)
(*                                                                         *)
(* That a node knows when the window ends is assumed here.  SkewedLeasing  *)
(* shows which way of knowing it is sound.                                 *)
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
    credits,  \* what each node may spend without asking, in this window
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

\* The window ends, and with it every credit that it granted.
Roll ==
    /\ used' = 0
    /\ admitted' = 0
    /\ credits' = [n \in Nodes |-> 0]

Next == \/ \E n \in Nodes, cost \in Costs : Spend(n, cost) \/ Lease(n, cost)
        \/ Roll

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

\* The claim.
NeverOverAdmits == admitted <= Limit

\* Why it holds: L2 has deducted, in this window, all that is admitted or held.
CreditsAreBacked == admitted + Sum(credits) = used

\* With grants that are all-or-nothing, what the batch does not divide stays unused.
RemainderIsStranded == admitted <= Limit - (Limit % Batch)

\* The bound less one.  It must be violated, or the bound would be too generous.
LimitUnreached == admitted < Limit
=============================================================================
