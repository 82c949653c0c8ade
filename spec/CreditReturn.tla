---------------------------- MODULE CreditReturn ----------------------------
(***************************************************************************)
(* Handing back what will not be spent.  A node that goes idle, is closed  *)
(* or has a key evicted sends its credits home, and L2 counts them as      *)
(* unused.  A hand-back is a message, though: it may be slow, so that it   *)
(* arrives in another window; the client library may send it again after a *)
(* reconnect, so that it arrives twice; and L2 may have been reset in      *)
(* between, so that it speaks of a count that is no more.  In each of      *)
(* these cases L2 would take off its counter what it never put on it, and  *)
(* grant it a second time.                                                 *)
(*                                                                         *)
(* Hence a grant carries a tag, which is the window and the incarnation of *)
(* the counter that it was deducted from.  A hand-back shows it and counts *)
(* only if both are still L2's own; and it is sent once, never again.      *)
(* Then a hand-back costs capacity when it is lost and never safety:       *)
(* coupled credits admit at most Limit, carried ones Limit plus the carry. *)
(*                                                                         *)
(* A reset asks for a new budget.  It clears L2 and the node that asked    *)
(* for it, but the other nodes do not hear of it and may spend what they   *)
(* hold, so that at most Limit + (N - 1) * (Batch - 1) are admitted after  *)
(* it, until the window ends.                                              *)
(***************************************************************************)
EXTENDS FiniteSets, Sums

CONSTANTS
    Nodes,           \* the fleet
    Limit,           \* what L2 grants in one window
    Batch,           \* what a node asks for
    Coupled,         \* TRUE: credits end with their window; FALSE: they are carried over
    WindowTag,       \* TRUE: L2 refuses hand-backs of another window
    IncarnationTag,  \* TRUE: L2 refuses hand-backs from before a reset or a restart
    Repeats,         \* TRUE: the network may deliver a hand-back again
    Resets           \* TRUE: nodes may reset the key

ASSUME /\ IsFiniteSet(Nodes) /\ Nodes # {}
       /\ Limit \in Nat \ {0} /\ Batch \in 1..Limit
       /\ {Coupled, WindowTag, IncarnationTag, Repeats, Resets} \subseteq BOOLEAN

VARIABLES
    held,     \* each node's credits, with their tag
    back,     \* each node's hand-back on the network, if any, with its tag
    used,     \* L2's counter of this window
    admitted  \* what was charged since the window began or was reset, over all nodes

vars == <<held, back, used, admitted>>

N == Cardinality(Nodes)

\* Credits and the tag they carry.  A tag matters only in what it shares with L2's own, and
\* once it differs it always will, so it is two flags: same window, same incarnation.
Nothing == [amount |-> 0, window |-> TRUE, incarnation |-> TRUE]
Credits(amount, window, incarnation) ==
    IF amount = 0 THEN Nothing
    ELSE [amount |-> amount, window |-> window, incarnation |-> incarnation]

OtherWindow(c)      == Credits(c.amount, FALSE, c.incarnation)
OtherIncarnation(c) == Credits(c.amount, c.window, FALSE)

Tagged == [amount : 0..Batch, window : BOOLEAN, incarnation : BOOLEAN]

TypeOK == /\ held \in [Nodes -> Tagged]
          /\ back \in [Nodes -> Tagged]
          /\ used \in 0..Limit
          /\ admitted \in Nat

Init == /\ held = [n \in Nodes |-> Nothing]
        /\ back = [n \in Nodes |-> Nothing]
        /\ used = 0
        /\ admitted = 0

\* A request that finds a credit.
Spend(n) ==
    /\ held[n].amount > 0
    /\ held' = [held EXCEPT ![n] = Credits(@.amount - 1, @.window, @.incarnation)]
    /\ admitted' = admitted + 1
    /\ UNCHANGED <<back, used>>

\* A request that finds none: lease what is left, up to a batch, and charge it in the same step.
Lease(n) ==
    LET grant == Min(Batch, Limit - used)
    IN  /\ held[n].amount = 0
        /\ grant > 0
        /\ used' = used + grant
        /\ held' = [held EXCEPT ![n] = Credits(grant - 1, TRUE, TRUE)]
        /\ admitted' = admitted + 1
        /\ UNCHANGED back

\* The node sends home what it holds.
Send(n) ==
    /\ held[n].amount > 0
    /\ back[n] = Nothing
    /\ back' = [back EXCEPT ![n] = held[n]]
    /\ held' = [held EXCEPT ![n] = Nothing]
    /\ UNCHANGED <<used, admitted>>

\* L2 counts a hand-back if the tag is its own, as far as it looks at tags.
Accepts(c) == /\ WindowTag => c.window
              /\ IncarnationTag => c.incarnation

\* The hand-back arrives, for the last time or not.
Deliver(n) ==
    /\ back[n] # Nothing
    /\ used' = IF Accepts(back[n]) THEN used - Min(used, back[n].amount) ELSE used
    /\ \E again \in IF Repeats THEN BOOLEAN ELSE {FALSE} :
         back' = IF again THEN back ELSE [back EXCEPT ![n] = Nothing]
    /\ UNCHANGED <<held, admitted>>

\* The hand-back never arrives.
Lose(n) ==
    /\ back[n] # Nothing
    /\ back' = [back EXCEPT ![n] = Nothing]
    /\ UNCHANGED <<held, used, admitted>>

\* A node resets the key: L2 starts again, and so does the node.  Nobody else is told.
Reset(n) ==
    /\ Resets
    /\ used' = 0
    /\ admitted' = 0
    /\ held' = [m \in Nodes |-> IF m = n THEN Nothing ELSE OtherIncarnation(held[m])]
    /\ back' = [m \in Nodes |-> OtherIncarnation(back[m])]

\* The window ends.
Roll ==
    /\ used' = 0
    /\ admitted' = 0
    /\ held' = [n \in Nodes |-> IF Coupled THEN Nothing ELSE OtherWindow(held[n])]
    /\ back' = [n \in Nodes |-> OtherWindow(back[n])]

Step(n) == Spend(n) \/ Lease(n) \/ Send(n) \/ Deliver(n) \/ Lose(n) \/ Reset(n)

Next == Roll \/ \E n \in Nodes : Step(n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

\* The claim for coupled credits.
NeverOverAdmits == admitted <= Limit

\* The claim for carried credits.
OvershootWithinCarry == admitted <= Limit + N * (Batch - 1)

\* The claim for coupled credits and resets.
OvershootWithinOthersCredits == admitted <= Limit + (N - 1) * (Batch - 1)

\* Why: what L2 deducted and has not taken back covers all that its grants can still admit.
Own(c) == IF c.window /\ c.incarnation THEN c.amount ELSE 0
Outstanding == Sum([n \in Nodes |-> Own(held[n]) + Own(back[n])])
OutstandingIsDeducted == Outstanding <= used

\* The bounds less one.  They must be violated, or the bounds would be too generous.
LimitUnreached == admitted < Limit
CarryUnreached == admitted < Limit + N * (Batch - 1)
OthersCreditsUnreached == admitted < Limit + (N - 1) * (Batch - 1)
=============================================================================
