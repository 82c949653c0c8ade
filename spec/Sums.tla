-------------------------------- MODULE Sums --------------------------------
(***************************************************************************)
(* The little arithmetic that the other modules share.                     *)
(***************************************************************************)
EXTENDS Naturals

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

RECURSIVE SumOver(_, _)
\* The sum of f[x] over the elements x of a finite set S.
SumOver(f, S) ==
    IF S = {} THEN 0
    ELSE LET x == CHOOSE x \in S : TRUE
         IN  f[x] + SumOver(f, S \ {x})

\* The sum of all values of f.
Sum(f) == SumOver(f, DOMAIN f)
=============================================================================
