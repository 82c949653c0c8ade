-------------------------- MODULE FederatedLeasing --------------------------
(***************************************************************************)
(* One budget, several regions.  Asking the global counter is dear, so     *)
(* each region takes shares of the budget, a chunk at a time, and its own  *)
(* fleet leases batches from the region's share.  It is leasing twice      *)
(* over, and one might fear that the overshoot adds up twice over too,     *)
(* once per node and once per region.                                      *)
(*                                                                         *)
(* It does not, provided that a region's share ends with the window.  The  *)
(* region's store keeps the window itself, so it can do that even where    *)
(* the nodes carry their credits over.  Then only the nodes carry, and     *)
(*                                                                         *)
(*     carried:   Limit + (all nodes) * (Batch - 1)                        *)
(*     coupled:   Limit                                                    *)
(*                                                                         *)
(* as in a single region: how the fleet is split does not matter, nor do   *)
(* the size of a chunk or the number of regions.  Shares carried over the  *)
(* edge break it.                                                          *)
(***************************************************************************)
EXTENDS FiniteSets, Sums

CONSTANTS
    Regions,       \* the regions
    Fleet,         \* how many nodes each of them has
    Limit,         \* the budget of one window
    Chunk,         \* what a region takes of it at a time
    Batch,         \* what a node asks its region for
    Coupled,       \* TRUE: credits end with their window; FALSE: they are carried over
    SharesCarried  \* TRUE: so are the regions' shares, which is the mistake

ASSUME /\ IsFiniteSet(Regions) /\ Regions # {}
       /\ {Fleet, Limit, Chunk, Batch} \subseteq Nat \ {0}
       /\ Coupled \in BOOLEAN /\ SharesCarried \in BOOLEAN

VARIABLES
    taken,    \* what the regions took of this window's budget
    share,    \* what each region has and has not leased to its nodes
    credits,  \* what each node may spend without asking
    admitted  \* what was charged in this window, over all regions

vars == <<taken, share, credits, admitted>>

Nodes == Regions \X (1..Fleet)
Region(n) == n[1]
N == Cardinality(Nodes)

TypeOK == /\ taken \in 0..Limit
          /\ share \in [Regions -> 0..Limit]
          /\ credits \in [Nodes -> 0..(Batch - 1)]
          /\ admitted \in Nat

Init == /\ taken = 0
        /\ share = [r \in Regions |-> 0]
        /\ credits = [n \in Nodes |-> 0]
        /\ admitted = 0

\* A region that has nothing left takes another chunk, or what is left of the budget.
Take(r) ==
    LET chunk == Min(Chunk, Limit - taken)
    IN  /\ share[r] = 0
        /\ chunk > 0
        /\ taken' = taken + chunk
        /\ share' = [share EXCEPT ![r] = chunk]
        /\ UNCHANGED <<credits, admitted>>

\* A node that has nothing left leases a batch, or what is left of its region's share, for a
\* request that is charged in the same step.
Lease(n) ==
    LET grant == Min(Batch, share[Region(n)])
    IN  /\ credits[n] = 0
        /\ grant > 0
        /\ share' = [share EXCEPT ![Region(n)] = @ - grant]
        /\ credits' = [credits EXCEPT ![n] = grant - 1]
        /\ admitted' = admitted + 1
        /\ UNCHANGED taken

\* A request that finds a credit.
Spend(n) ==
    /\ credits[n] > 0
    /\ credits' = [credits EXCEPT ![n] = @ - 1]
    /\ admitted' = admitted + 1
    /\ UNCHANGED <<taken, share>>

\* The window ends, for the budget and for the regions' shares of it.
Roll ==
    /\ taken' = 0
    /\ admitted' = 0
    /\ share' = IF SharesCarried THEN share ELSE [r \in Regions |-> 0]
    /\ credits' = IF Coupled THEN [n \in Nodes |-> 0] ELSE credits

Next == \/ Roll
        \/ \E r \in Regions : Take(r)
        \/ \E n \in Nodes : Lease(n) \/ Spend(n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

\* The claim for coupled credits.
NeverOverAdmits == admitted <= Limit

\* The claim for carried credits.  Neither regions nor chunks are in it.
OvershootWithinCarry == admitted <= Limit + N * (Batch - 1)

\* Why: what regions hold, nodes hold or have admitted was taken of this window's budget, or
\* carried into it by the nodes.
SharesAreBackedOrCarried ==
    admitted + Sum(share) + Sum(credits) <= taken + N * (Batch - 1)

\* The bounds less one.  They must be violated, or the bounds would be too generous.
LimitUnreached == admitted < Limit
CarryUnreached == admitted < Limit + N * (Batch - 1)
=============================================================================
