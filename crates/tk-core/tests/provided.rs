//! What a strategy gets that states its capacity and its rule, and nothing else.

use std::time::Duration;

use tk_core::{Decision, Error, Grant, Mark, Strategy, Timestamp};

/// Three units, for ever.
#[derive(Clone, Debug)]
struct Three;

impl Strategy for Three {
    type State = u64;

    fn capacity(&self) -> u64 {
        3
    }

    fn decide(&self, used: &mut u64, now: Timestamp, cost: u64) -> Decision {
        let allowed = *used + cost <= 3;
        *used += if allowed { cost } else { 0 };
        Decision {
            allowed,
            limit: 3,
            remaining: 3 - *used,
            reset_at: now + Duration::from_secs(1),
            retry_after: if allowed {
                Duration::ZERO
            } else {
                Duration::from_secs(9)
            },
        }
    }
}

#[test]
fn units_granted_are_never_taken_back() -> Result<(), Error> {
    let (mut used, now) = (0, Timestamp::EPOCH);
    let grant = Grant::charge(&Three, &mut used, now, 2, 1, 7)?;
    assert_eq!((grant.amount, grant.span), (2, Duration::from_secs(1)));
    assert_eq!(grant.tag.mark(), Mark::default());
    assert_eq!(grant.tag.give_back(&Three, &mut used, now, 7, 2), 0);
    assert_eq!(used, 2);
    Ok(())
}

#[test]
fn nothing_is_forgotten_or_packed_and_nothing_converted() {
    assert!(!Three.is_fresh(&0, Timestamp::MAX));
    assert_eq!(Three.pack(&0), None);
    assert!(Three.same_scale(&Three));
    assert!(Three.has_edges());
}

#[test]
fn a_peek_weighs_one_unit_and_charges_none() {
    let peek = Three.peek(&3, Timestamp::EPOCH);
    assert!(peek.is_denied());
    assert_eq!((peek.remaining, peek.retry_after.as_secs()), (0, 9));
    let peek = Three.peek(&1, Timestamp::EPOCH);
    assert!(!peek.is_denied());
    assert_eq!((peek.remaining, peek.retry_after), (2, Duration::ZERO));
    assert_eq!(Three.available(&1, Timestamp::EPOCH), 2);
}
