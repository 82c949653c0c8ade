----------------------------- MODULE RegionPool -----------------------------
(***************************************************************************)
(* The pool from which regions draw their shares of one budget, fairly.    *)
(*                                                                         *)
(* Every region has a weight, and those that are active are promised       *)
(* floor(weight * Limit / sum of the active weights) of each window.  Work *)
(* must not stop while others are idle, so a region may draw more than it  *)
(* was promised, as long as what the other active regions were promised    *)
(* and have not drawn yet remains in the pool.                             *)
(*                                                                         *)
(* What a region was granted in a window only grows, so that a region can  *)
(* act on an old answer: it never has less than it was told.  A region     *)
(* that goes idle gives back what it has not spent, in a message of its    *)
(* own that counts once; counted twice, the pool would grant those units   *)
(* to two regions.                                                         *)
(*                                                                         *)
(* A region is a number here and that number is its weight, so that no two *)
(* weights are alike.                                                      *)
(***************************************************************************)
EXTENDS FiniteSets, Sums

CONSTANTS
    Regions,  \* the regions, each named by its weight
    Limit,    \* the budget of one window
    Repeats,  \* TRUE: what is given back may be counted twice, which is a mistake
    Reserves  \* FALSE: whoever comes first is served first, which is another

ASSUME /\ IsFiniteSet(Regions) /\ Regions # {} /\ Regions \subseteq Nat \ {0}
       /\ Limit \in Nat \ {0}
       /\ Repeats \in BOOLEAN /\ Reserves \in BOOLEAN

VARIABLES
    active,    \* who asks at present
    early,     \* who has been asking since the window's first instant
    everyone,  \* who has asked at some time in this window
    granted,   \* what the pool granted each region in this window
    returned,  \* what the pool counted as given back by it
    spent,     \* what the region admitted
    given,     \* what the region gave back
    back       \* what of that is on its way

vars == <<active, early, everyone, granted, returned, spent, given, back>>

Zero == [r \in Regions |-> 0]

TypeOK == /\ {active, early, everyone} \subseteq SUBSET Regions
          /\ {granted, spent, given, back, returned} \subseteq [Regions -> Nat]

Init == /\ active = {} /\ early = {} /\ everyone = {}
        /\ granted = Zero /\ returned = Zero
        /\ spent = Zero /\ given = Zero /\ back = Zero

\* The sum of the weights of a set of regions.
Weight(S) == SumOver([r \in Regions |-> r], S)

\* What a region is promised when those in S compete.
Promised(r, S) == (r * Limit) \div Weight(S)

\* What a region has, in the eyes of the pool and in its own.
Drawn(r) == granted[r] - returned[r]
Left(r) == granted[r] - given[r] - spent[r]

\* What the pool keeps for a region: what it has drawn and, while active, what it was promised.
Reserved(r) == IF Reserves /\ r \in active
               THEN Max(Drawn(r), Promised(r, active))
               ELSE Drawn(r)

\* A region begins to ask, or stops asking.
Wakes(r) ==
    /\ r \notin active
    /\ active' = active \cup {r}
    /\ everyone' = everyone \cup {r}
    /\ UNCHANGED <<early, granted, returned, spent, given, back>>

Rests(r) ==
    /\ r \in active
    /\ active' = active \ {r}
    /\ early' = early \ {r}
    /\ UNCHANGED <<everyone, granted, returned, spent, given, back>>

\* The pool grants a region one more unit, if nobody else has a better claim to it.
Draw(r) ==
    /\ r \in active
    /\ Drawn(r) + 1 + SumOver([s \in Regions |-> Reserved(s)], Regions \ {r}) <= Limit
    /\ granted' = [granted EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<active, early, everyone, returned, spent, given, back>>

\* A region admits a request out of what it has.
Admit(r) ==
    /\ Left(r) > 0
    /\ spent' = [spent EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<active, early, everyone, granted, returned, given, back>>

\* An idle region parts with what it has not spent, once in a window.
GiveBack(r) ==
    /\ r \notin active
    /\ Left(r) > 0
    /\ given[r] = 0
    /\ back' = [back EXCEPT ![r] = Left(r)]
    /\ given' = [given EXCEPT ![r] = @ + Left(r)]
    /\ UNCHANGED <<active, early, everyone, granted, returned, spent>>

\* The pool counts it.
TakeBack(r) ==
    /\ back[r] > 0
    /\ returned' = [returned EXCEPT ![r] = Min(granted[r], @ + back[r])]
    /\ \E again \in IF Repeats THEN BOOLEAN ELSE {FALSE} :
         back' = IF again THEN back ELSE [back EXCEPT ![r] = 0]
    /\ UNCHANGED <<active, early, everyone, granted, spent, given>>

\* The window ends.  What is on its way is refused when it arrives, by its tag.
Roll ==
    /\ early' = active
    /\ everyone' = active
    /\ granted' = Zero /\ returned' = Zero
    /\ spent' = Zero /\ given' = Zero /\ back' = Zero
    /\ UNCHANGED active

Next == \/ Roll
        \/ \E r \in Regions : \/ Wakes(r) \/ Rests(r)
                              \/ Draw(r) \/ Admit(r) \/ GiveBack(r) \/ TakeBack(r)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

\* Safety first: all regions together admit at most the limit ...
NeverOverAdmits == Sum(spent) <= Limit

\* ... because the pool never has more out than the limit.
DrawnWithinLimit == Sum([r \in Regions |-> Drawn(r)]) <= Limit

\* The pool's opinion of what a region has is never below the region's own.
PoolNeverForgets == \A r \in Regions : spent[r] + Left(r) <= Drawn(r)

\* Fairness: who asked from the window's first instant finds room for what was promised.
PromisesAreKept ==
    \A r \in early :
        LET others == SumOver([s \in Regions |-> Drawn(s)], Regions \ {r})
        IN  Limit - others >= Promised(r, everyone)

\* What was granted in a window is never taken away.
GrantsOnlyGrow == [][\/ granted' = Zero /\ spent' = Zero
                     \/ \A r \in Regions : granted'[r] >= granted[r]]_vars

\* The bound less one.  It must be violated, or the bound would be too generous.
LimitUnreached == Sum(spent) < Limit
=============================================================================
