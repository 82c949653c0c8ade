//! What the scripts of a pool answer.

use fred::types::Value;
use tk_core::Timestamp;
use tk_fair::{MAX_REGION_WEIGHT, MAX_REGIONS, PoolState, Region};

use crate::{
    StoreError,
    reply::{malformed, numbers},
};

/// What the fields of regions begin with.
const REGION: &str = "region:";

/// The field of a region.
pub(super) fn field(region: &str) -> String {
    format!("{REGION}{region}")
}

/// The reply of both scripts: see `script/pool/state.lua`.
#[derive(Debug)]
pub(super) struct Reply {
    /// The instant at which the script decided, in microseconds.
    pub(super) now: u64,
    /// Units granted or taken back.
    pub(super) units: u64,
    /// The state as it was found.
    pub(super) state: PoolState,
}

impl Reply {
    pub(super) fn parse(value: Value) -> Result<Self, StoreError> {
        let Value::Array(items) = value else {
            return Err(malformed("not a list"));
        };
        let Ok([now, units, Value::Array(fields)]) = <[Value; 3]>::try_from(items) else {
            return Err(malformed("not two numbers and a list"));
        };
        let (Some(now), Some(units)) = (now.as_u64(), units.as_u64()) else {
            return Err(malformed("an item that is to be a number is none"));
        };
        let state = state(&fields).ok_or_else(|| malformed("the state is no state"))?;
        if now > Timestamp::MAX.as_micros() {
            return Err(malformed("an instant beyond the year 2112"));
        }
        Ok(Self { now, units, state })
    }
}

/// A state of which anything can be asked; nothing if it breaks what the rule relies on.
fn state(fields: &[Value]) -> Option<PoolState> {
    let mut state = PoolState::new();
    for pair in fields.chunks(2) {
        let [name, value] = pair else {
            return None;
        };
        let (name, value) = (name.as_str()?, value.as_str()?);
        match name.strip_prefix(REGION) {
            Some(name) => {
                state.regions.insert(name.into(), region(&value)?);
            }
            None => [state.start, state.begun, state.latest] = exact(&value)?,
        }
    }
    (state.regions.len() <= MAX_REGIONS).then_some(state)
}

fn region(value: &str) -> Option<Region> {
    let [weight, base, peak, settled, granted, returned, turn, asked] = exact(value)?;
    let region = Region {
        weight,
        base,
        peak,
        settled,
        granted,
        returned,
        turn,
        asked,
    };
    let drawn = granted.checked_sub(returned)?;
    let weighs = base <= weight && weight <= peak && peak <= MAX_REGION_WEIGHT;
    (weighs && settled <= drawn).then_some(region)
}

/// Numbers with which the rule can be reckoned, here and in the script.
fn exact<const N: usize>(text: &str) -> Option<[u64; N]> {
    numbers(text).filter(|numbers| numbers.iter().all(|number| *number < 1 << 53))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(fields: &[&'static str]) -> Result<Reply, StoreError> {
        let fields = fields
            .iter()
            .map(|text| Value::from_static_str(text))
            .collect();
        Reply::parse(Value::Array(vec![7.into(), 1.into(), Value::Array(fields)]))
    }

    #[test]
    fn a_state_is_read_and_what_breaks_the_rule_is_not() {
        let reply = parse(&["window", "100 105 107", "region:a:b", "3 2 3 1 9 4 1 106"]).unwrap();
        assert_eq!((reply.now, reply.units), (7, 1));
        assert_eq!(reply.state.latest, 107);
        assert_eq!(reply.state.regions["a:b"].drawn(), 5);
        for bad in [
            ["window", "100 105"],
            ["window", "18446744073709551615 0 0"],
            ["window", "0 0 9007199254740992"],
            ["region:a", "3 9007199254740991 3 1 9 4 1 106"],
            ["region:a", "4 2 3 1 9 4 1 106"],
            ["region:a", "3 2 3 1 9 10 1 106"],
            ["region:a", "3 2 3 6 9 4 1 106"],
            ["other", "no numbers"],
        ] {
            assert!(parse(&bad).is_err(), "{bad:?}");
        }
        assert!(parse(&["window"]).is_err());
        assert!(Reply::parse(Value::Null).is_err());
    }
}
