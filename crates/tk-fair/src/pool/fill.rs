//! Water-filling where no water flows back.

/// The sum, or 2^64 - 1 if it is more.
pub(super) fn sum(units: impl Iterator<Item = u64>) -> u64 {
    units.fold(0, u64::saturating_add)
}

/// `a * b / c`, rounded down, and at most `b`; 0 if `c` is 0. `c` is at least `a` unless a state from elsewhere says otherwise.
pub(super) const fn muldiv(a: u64, b: u64, c: u64) -> u64 {
    if c == 0 {
        return 0;
    }
    let a = if a < c { a } else { c };
    // At most `b`.
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

impl Claim {
    /// What it has drawn for those who are active.
    const fn unsettled(&self) -> u64 {
        self.drawn.saturating_sub(self.settled)
    }
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
    let mut rest = limit.saturating_sub(sum(claims.iter().map(fixed)));
    let mut filling: Vec<&mut Claim> = claims.iter_mut().filter(|claim| claim.active).collect();
    loop {
        let weight = sum(filling.iter().map(|claim| claim.weight));
        let share = |claim: &Claim| muldiv(claim.weight, rest, weight);
        let (above, below): (Vec<_>, Vec<_>) = filling
            .into_iter()
            .partition(|claim| claim.unsettled() > share(claim));
        if above.is_empty() {
            for claim in below {
                claim.fair = claim.settled.saturating_add(share(claim));
            }
            return;
        }
        for claim in above {
            claim.fair = claim.drawn;
            rest = rest.saturating_sub(claim.unsettled());
        }
        filling = below;
    }
}
