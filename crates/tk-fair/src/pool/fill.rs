//! Water-filling where no water flows back.

/// `a * b / c`, rounded down; 0 if `c` is 0. `c` is at least `a` wherever this is used, so the result is at most `b`.
pub(super) const fn muldiv(a: u64, b: u64, c: u64) -> u64 {
    if c == 0 {
        return 0;
    }
    (a as u128 * b as u128 / c as u128) as u64
}

/// A region's claim while the rule is being worked out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) own: bool,
    pub(super) active: bool,
    pub(super) weight: u64,
    pub(super) settled: u64,
    pub(super) drawn: u64,
    pub(super) promised: u64,
    pub(super) fair: u64,
}

/// Step 4: finds every active region's fair share of `limit`.
pub(super) fn fill(claims: &mut [Claim], limit: u64) {
    let fixed = |claim: &Claim| {
        if claim.active {
            claim.settled
        } else {
            claim.drawn
        }
    };
    let mut rest = limit.saturating_sub(claims.iter().map(fixed).sum());
    let mut filling: Vec<&mut Claim> = claims.iter_mut().filter(|claim| claim.active).collect();
    loop {
        let weight: u64 = filling.iter().map(|claim| claim.weight).sum();
        let share = |claim: &Claim| muldiv(claim.weight, rest, weight);
        let (above, below): (Vec<_>, Vec<_>) = filling
            .into_iter()
            .partition(|claim| claim.drawn - claim.settled > share(claim));
        if above.is_empty() {
            for claim in below {
                claim.fair = claim.settled + share(claim);
            }
            return;
        }
        for claim in above {
            claim.fair = claim.drawn;
            rest = rest.saturating_sub(claim.drawn - claim.settled);
        }
        filling = below;
    }
}
