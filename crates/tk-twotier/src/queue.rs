//! Where somebody stands in a queue.

use std::collections::VecDeque;

use crate::Waiter;

/// The place of `waiter` in a queue of waiters with numbers of their own.
///
/// Whoever is served is in front. Whoever leaves may be anywhere, and is soon found if all came in the order of their numbers, as a
/// [`Line`](crate::line::Line) gives them; else all are looked at.
pub(crate) fn place_of<T>(
    queue: &VecDeque<T>,
    waiter: Waiter,
    number: impl Fn(&T) -> Waiter,
) -> Option<usize> {
    let front = queue.front()?;
    if number(front) == waiter {
        return Some(0);
    }
    let place = queue.binary_search_by_key(&waiter, &number).ok();
    place.or_else(|| queue.iter().position(|one| number(one) == waiter))
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, collections::BTreeSet};

    use quickcheck::quickcheck;

    use super::*;

    quickcheck! {
        fn everybody_is_found_in_whatever_order_they_came(numbers: Vec<Waiter>, absent: Waiter) -> bool {
            let mut known = BTreeSet::from([absent]);
            let queue: VecDeque<_> = numbers.into_iter().filter(|one| known.insert(*one)).collect();
            let found = |(place, one): (usize, &Waiter)| place_of(&queue, *one, |one| *one) == Some(place);
            queue.iter().enumerate().all(found) && place_of(&queue, absent, |one| *one).is_none()
        }
    }

    #[test]
    fn whoever_came_in_order_is_found_in_a_few_looks() {
        let queue: VecDeque<Waiter> = (0..1_000).map(|number| number * 3).collect();
        for (place, waiter) in queue.iter().enumerate() {
            let looks = Cell::new(0);
            let number = |one: &Waiter| {
                looks.set(looks.get() + 1);
                *one
            };
            assert_eq!(place_of(&queue, *waiter, number), Some(place));
            assert!(looks.get() <= 13, "{} looks", looks.get());
        }
    }
}
