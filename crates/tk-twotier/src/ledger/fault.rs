//! The protocol broken on purpose.

/// A rule to break, so that simulations and model checkers can show that they notice.
#[cfg(feature = "faults")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(
    clippy::exhaustive_enums,
    reason = "a test that runs through all faults should not compile when one is added"
)]
pub enum Fault {
    /// Compares the store's reset time with this node's wall clock.
    ExpiryByWallClock,
    /// Counts a grant's span from the receipt of the reply.
    ExpiryFromReceipt,
    /// Keeps a grant that is over when it arrives.
    KeepLateGrant,
    /// Keeps a carried-over grant whole though nobody waits for it.
    KeepOwnerlessGrant,
    /// Charges waiters when they [wake](super::LeaseLedger::wake) instead of when the grant is applied.
    ChargeOnWake,
    /// Sends each hand-back twice.
    DoubleHandBack,
    /// Carries coupled credits over.
    CarryOverInCoupled,
    /// Asks while a lease is in flight.
    TwoInFlight,
    /// Spends and hands back after a reset what was granted before it.
    KeepAfterReset,
}

use super::LeaseRules;

/// Each rule that can be broken, as a question. Without the feature the answers are constants.
macro_rules! questions {
    ($($question:ident: $fault:ident,)*) => {
        impl LeaseRules { $(
            #[inline]
            pub(super) fn $question(&self) -> bool {
                #[cfg(feature = "faults")]
                return self.fault == Some(Fault::$fault);
                #[cfg(not(feature = "faults"))]
                false
            }
        )* }
    };
}

questions! {
    ends_by_wall: ExpiryByWallClock,
    ends_from_receipt: ExpiryFromReceipt,
    keeps_late: KeepLateGrant,
    keeps_ownerless: KeepOwnerlessGrant,
    charges_on_wake: ChargeOnWake,
    hands_back_twice: DoubleHandBack,
    never_ends: CarryOverInCoupled,
    leases_twice: TwoInFlight,
    spends_after_reset: KeepAfterReset,
}
