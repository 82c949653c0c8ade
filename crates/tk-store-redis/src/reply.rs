//! What a script answers.

use fred::types::Value;
use tk_core::Timestamp;

use crate::error::{ErrorKind, StoreError};

/// The reply of every script: see `script/shared/time.lua`.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The instant at which the script decided.
    pub(crate) now: Timestamp,
    /// Units charged, granted or taken back.
    pub(crate) units: u64,
    /// The incarnation of the state as it was found; 0 if there was none.
    pub(crate) incarnation: u64,
    /// The state as it was found.
    pub(crate) state: Box<str>,
}

impl Reply {
    pub(crate) fn parse(value: Value) -> Result<Self, StoreError> {
        let Value::Array(items) = value else {
            return Err(malformed("not a list"));
        };
        let Ok([now, units, incarnation, state]) = <[Value; 4]>::try_from(items) else {
            return Err(malformed("not four items"));
        };
        let (Some(now), Some(units), Some(incarnation)) =
            (number(&now), number(&units), number(&incarnation))
        else {
            return Err(malformed("an item that is to be a number is none"));
        };
        let Some(state) = state.as_str() else {
            return Err(malformed("the state is no text"));
        };
        if now > Timestamp::MAX.as_micros() {
            return Err(malformed("an instant beyond the year 2112"));
        }
        Ok(Self {
            now: Timestamp::from_micros(now),
            units,
            incarnation,
            state: state.as_ref().into(),
        })
    }
}

/// A number that is not negative; a sentinel like -1 is none.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

pub(crate) const fn malformed(what: &'static str) -> StoreError {
    StoreError::new(ErrorKind::Malformed(what))
}

/// The numbers of a text, separated by single spaces.
pub(crate) fn numbers<const N: usize>(text: &str) -> Option<[u64; N]> {
    let mut numbers = [0; N];
    let mut words = text.split(' ');
    for number in &mut numbers {
        *number = words.next()?.parse().ok()?;
    }
    words.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(items: Vec<Value>) -> Result<Reply, StoreError> {
        Reply::parse(Value::Array(items))
    }

    #[test]
    fn sentinels_and_floats_are_malformed() {
        let text = || Value::from_static_str("");
        let good = parse(vec![7.into(), 1.into(), 0.into(), text()]).unwrap();
        assert_eq!((good.now.as_micros(), good.units), (7, 1));
        for bad in [Value::Integer(-1), Value::Double(0.7), Value::Null, text()] {
            assert!(parse(vec![bad.clone(), 1.into(), 0.into(), text()]).is_err());
            assert!(parse(vec![7.into(), bad.clone(), 0.into(), text()]).is_err());
            assert!(parse(vec![7.into(), 1.into(), bad, text()]).is_err());
        }
        assert!(parse(vec![7.into(), 1.into(), 0.into()]).is_err());
        assert!(Reply::parse(Value::Null).is_err());
        assert!(parse(vec![i64::MAX.into(), 1.into(), 0.into(), text()]).is_err());
    }

    #[test]
    fn numbers_are_counted() {
        assert_eq!(numbers::<2>("1 2"), Some([1, 2]));
        for bad in ["", "1", "1 2 3", "1  2", "1 -2", "1 2 "] {
            assert_eq!(numbers::<2>(bad), None, "{bad:?}");
        }
    }
}
