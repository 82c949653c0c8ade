------------------------------- MODULE Amnesia -------------------------------
(***************************************************************************)
(* An L2 that forgets.  A Redis without persistence restarts empty; a      *)
(* replica is promoted that has not seen the last writes.  The counter of  *)
(* the window is then smaller than what was granted, and L2 grants the     *)
(* difference again.  No protocol on the nodes can prevent that, but the   *)
(* damage has an exact bound: what is forgotten is admitted once more.     *)
(* With `forgotten` for the units that L2 forgot in this window,           *)
(*                                                                         *)
(*     coupled:   admitted <= Limit + forgotten                            *)
(*     carried:   admitted <= Limit + N * (Batch - 1) + forgotten          *)
(*                                                                         *)
(* and since one restart cannot forget more than the limit, k restarts in  *)
(* one window admit at most k times Limit on top, which is reached.        *)
(*                                                                         *)
(* Hand-backs are those of CreditReturn.  One that was granted before the  *)
(* restart and arrives after it would be taken off a counter that never    *)
(* had it.  Over the whole window that only moves units about, as what is  *)
(* handed back is not spent; but what is admitted SINCE the restart would  *)
(* no longer be bounded by the limit and the credits then held by nodes.   *)
(* So an L2 that restarts empty begins a new incarnation, and refuses it.  *)
(***************************************************************************)
EXTENDS CreditReturn

CONSTANTS
    Failovers,   \* TRUE: L2 may also lose just its last writes, and not know it
    MaxRestarts  \* how often L2 may forget in one window

ASSUME Failovers \in BOOLEAN /\ MaxRestarts \in Nat

VARIABLES
    restarts,   \* how often L2 forgot in this window
    forgotten,  \* how many units it forgot in this window
    since       \* what was charged since it last forgot, or since the window began

allVars == <<vars, restarts, forgotten, since>>

AmnesiaInit == /\ Init
               /\ restarts = 0
               /\ forgotten = 0
               /\ since = 0

\* L2 restarts empty, as a new incarnation.
Restart ==
    /\ restarts < MaxRestarts
    /\ restarts' = restarts + 1
    /\ forgotten' = forgotten + used
    /\ since' = 0
    /\ used' = 0
    /\ held' = [n \in Nodes |-> OtherIncarnation(held[n])]
    /\ back' = [n \in Nodes |-> OtherIncarnation(back[n])]
    /\ UNCHANGED admitted

\* L2 goes on with an older counter, and believes that nothing happened.
Failover ==
    /\ Failovers
    /\ restarts < MaxRestarts
    /\ restarts' = restarts + 1
    /\ \E older \in 0..used :
         /\ used' = older
         /\ forgotten' = forgotten + used - older
    /\ since' = 0
    /\ UNCHANGED <<held, back, admitted>>

AmnesiaNext ==
    \/ Restart
    \/ Failover
    \/ /\ Roll
       /\ restarts' = 0
       /\ forgotten' = 0
       /\ since' = 0
    \/ /\ \E n \in Nodes : Step(n)
       /\ since' = since + (admitted' - admitted)
       /\ UNCHANGED <<restarts, forgotten>>

AmnesiaSpec == AmnesiaInit /\ [][AmnesiaNext]_allVars

-----------------------------------------------------------------------------

\* The claims for coupled credits.
OvershootWithinForgotten == admitted <= Limit + forgotten
OvershootWithinRestarts == admitted <= Limit * (1 + restarts)

\* The claims for carried credits.
OvershootWithinCarryAndForgotten == admitted <= Limit + N * (Batch - 1) + forgotten
OvershootWithinCarryAndRestarts == admitted <= Limit * (1 + restarts) + N * (Batch - 1)

\* The claim that needs the incarnation: after a restart, the limit and what nodes then held.
SinceRestartWithinHoldings == since <= Limit + N * (Batch - 1)

\* The bounds less one.  They must be violated, or the bounds would be too generous.
ForgottenUnreached == forgotten > 0 => admitted < Limit + forgotten
RestartsUnreached == admitted < Limit * (1 + MaxRestarts)
CarryAndRestartsUnreached == admitted < Limit * (1 + MaxRestarts) + N * (Batch - 1)
HoldingsUnreached == since < Limit + N * (Batch - 1)
=============================================================================
