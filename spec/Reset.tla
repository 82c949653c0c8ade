-------------------------------- MODULE Reset --------------------------------
(***************************************************************************)
(* Resetting a key while leases are in flight.  CreditReturn treats a      *)
(* reset as one step; here the node tells L2, L2 starts its count again,   *)
(* and the node hears of it later.  What must the node give up, and when?  *)
(*                                                                         *)
(* From the confirmation on, the key shall admit its limit, and what the   *)
(* other nodes still have, who do not know of the reset: a batch each, as  *)
(* credits or in flight.  That is                                          *)
(*                                                                         *)
(*     Limit + (N - 1) * Batch                                             *)
(*                                                                         *)
(* until the window ends or the key is reset again.  The node that resets  *)
(* adds nothing of its own if it clears its credits when L2 has confirmed, *)
(* and uses no grant that it asked for before that: such a grant may have  *)
(* been given before or after L2 started again, and the node cannot tell.  *)
(* It hands it back, and the tag tells L2.  Two plausible shortcuts fail,  *)
(* with one node already: keeping the grant in flight, and clearing the    *)
(* credits when the reset is sent rather than when it is confirmed.        *)
(***************************************************************************)
EXTENDS AsyncLeasing

CONSTANTS
    Flight,  \* a grant asked for before the confirmation is "voided" or "kept"
    Clears   \* the node clears its credits when the reset is "confirmed" or "sent"

ASSUME Flight \in {"voided", "kept"} /\ Clears \in {"confirmed", "sent"}

VARIABLES
    reset,  \* the reset that is going on: who asked for it, and how far it is
    void,   \* nodes whose lease in flight will not be used
    old,    \* nodes whose reply in flight was granted before L2 started again
    since   \* what was charged since the last reset was confirmed, or the window began; 0 while
            \* the next is going on, which asks for a budget of its own

resetVars == <<vars, reset, void, old, since>>

NoReset == [by |-> {}, phase |-> "none"]

ResetInit == Init /\ reset = NoReset /\ void = {} /\ old = {} /\ since = 0

\* Which nodes have a lease in flight, and which a reply.
Flying == {n \in Nodes : request[n] # None}
Replied == {n \in Nodes : request[n].amount > 0}

\* A node asks L2 to reset the key.
SendReset(n) ==
    /\ reset = NoReset
    /\ reset' = [by |-> {n}, phase |-> "sent"]
    /\ IF Clears = "sent"
       THEN /\ credits' = [credits EXCEPT ![n] = 0]
            /\ void' = IF Flight = "voided" THEN void \cup (Flying \cap {n}) ELSE void
       ELSE UNCHANGED <<credits, void>>
    /\ since' = 0
    /\ UNCHANGED <<request, waiting, used, admitted, old>>

\* L2 starts again.  No node is told but the one that asked, and not yet.
StoreResets ==
    /\ reset.phase = "sent"
    /\ reset' = [reset EXCEPT !.phase = "done"]
    /\ used' = 0
    /\ admitted' = 0
    /\ old' = Replied
    /\ UNCHANGED <<credits, request, waiting, void, since>>

\* The node hears that it is done.
Confirm ==
    /\ reset.phase = "done"
    /\ reset' = NoReset
    /\ IF Clears = "confirmed"
       THEN /\ credits' = [n \in Nodes |-> IF n \in reset.by THEN 0 ELSE credits[n]]
            /\ void' = IF Flight = "voided" THEN void \cup (Flying \cap reset.by) ELSE void
       ELSE UNCHANGED <<credits, void>>
    /\ since' = 0
    /\ UNCHANGED <<request, waiting, used, admitted, old>>

\* A void grant arrives and is handed back.  L2 refuses it unless it is its own, by the tag.
DropVoid(n) ==
    /\ n \in void
    /\ n \in Replied
    /\ request' = [request EXCEPT ![n] = None]
    /\ used' = IF request[n].phase = "granted" /\ n \notin old
               THEN used - request[n].amount ELSE used
    /\ void' = void \ {n}
    /\ old' = old \ {n}
    /\ UNCHANGED <<credits, waiting, admitted, reset, since>>

\* Any other step of the protocol.
Other(n) ==
    /\ ~(n \in void /\ n \in Replied)
    /\ Step(n)
    /\ since' = IF reset = NoReset THEN since + (admitted' - admitted) ELSE 0
    /\ void' = void \cap {m \in Nodes : request'[m] # None}
    /\ old' = old \cap {m \in Nodes : request'[m].amount > 0}
    /\ UNCHANGED reset

\* Somebody spends although a void grant is about to arrive.
OtherWhileVoid(n) ==
    /\ n \in void /\ n \in Replied
    /\ Spend(n) \/ Arrive(n) \/ Leave(n)
    /\ since' = IF reset = NoReset THEN since + (admitted' - admitted) ELSE 0
    /\ UNCHANGED <<reset, void, old>>

ResetNext ==
    \/ StoreResets
    \/ Confirm
    \/ Roll /\ since' = 0 /\ UNCHANGED <<reset, void, old>>
    \/ \E n \in Nodes : SendReset(n) \/ DropVoid(n) \/ Other(n) \/ OtherWhileVoid(n)

ResetSpec == ResetInit /\ [][ResetNext]_resetVars

-----------------------------------------------------------------------------

\* The claim.
SinceResetWithinOthersBatches == since <= Limit + (N - 1) * Batch

\* The bound less one.  It must be violated, or the bound would be too generous.
OthersBatchesUnreached == since < Limit + (N - 1) * Batch
=============================================================================
