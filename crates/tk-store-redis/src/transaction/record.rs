//! A state as it lies in the server, and for how long.

use serde::{Serialize, de::DeserializeOwned};
use tk_core::{Strategy, Timestamp};

use crate::error::{ErrorKind, StoreError};

/// What records begin with; another form would have another number.
const VERSION: u8 = 1;

/// The longest life that the ranges of input allow, 2^52 microseconds, in milliseconds.
const MAX_LIFE: u64 = 4_503_599_627_371;

/// The version, the incarnation and the state, as postcard writes them.
pub(super) fn encode<T: Serialize>(incarnation: u64, state: &T) -> Result<Vec<u8>, StoreError> {
    postcard::to_allocvec(&(VERSION, incarnation, state)).map_err(|_| unwritable())
}

/// The incarnation and the state.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<(u64, T), StoreError> {
    match postcard::take_from_bytes::<(u8, u64, T)>(bytes) {
        Ok(((VERSION, incarnation, state), [])) => Ok((incarnation, state)),
        _ => Err(ErrorKind::BadState("it cannot be read as a state of this type").into()),
    }
}

const fn unwritable() -> StoreError {
    StoreError::new(ErrorKind::BadState("it cannot be written"))
}

/// How many milliseconds a state lives on: until a new one would decide alike, rounded up.
pub(super) fn life<S: Strategy>(strategy: &S, state: &S::State, now: Timestamp) -> u64 {
    let full = strategy.decide(&mut state.clone(), now, 0).reset_at;
    let life = full.since(now).max(strategy.span(state, now));
    u64::try_from(life.as_micros().div_ceil(1_000))
        .unwrap_or(MAX_LIFE)
        .clamp(1, MAX_LIFE)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tk_core::{FixedWindow, Gcra};

    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let bytes = encode(7, &(1u64, true)).unwrap();
        assert_eq!(decode::<(u64, bool)>(&bytes).unwrap(), (7, (1, true)));
        assert!(decode::<(u64, bool)>(&bytes[..bytes.len() - 1]).is_err());
        assert!(decode::<u64>(&bytes).is_err(), "something is left over");
        assert!(decode::<(u64, bool)>(b"").is_err());
        let mut newer = bytes;
        newer[0] += 1;
        assert!(decode::<(u64, bool)>(&newer).is_err());
    }

    #[test]
    fn a_state_lives_until_it_is_as_good_as_new() {
        let now = Timestamp::from_micros(59_999_500);
        let minute = FixedWindow::per_minute(5).unwrap();
        let mut state = Default::default();
        assert!(minute.decide(&mut state, now, 5).allowed);
        assert_eq!(life(&minute, &state, now), 1);
        assert_eq!(life(&minute, &state, now - Duration::from_secs(30)), 30_001);
        let gcra = Gcra::per_second(1).unwrap().burst(100).unwrap();
        let mut state = Default::default();
        assert!(gcra.decide(&mut state, now, 100).allowed);
        assert_eq!(life(&gcra, &state, now), 100_000);
    }
}
