//! What a script answers.

use fred::types::Value;
use tk_core::Timestamp;

use crate::error::{ErrorKind, StoreError};

/// What stands in front of the state: three numbers.
const HEAD: usize = 3 * 8;

/// The reply of every script: see `script/shared/time.lua`.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The instant at which the script decided.
    pub(crate) now: Timestamp,
    /// Units charged, granted or taken back.
    pub(crate) units: u64,
    /// The incarnation of the state as it was found; 0 if there was none.
    pub(crate) incarnation: u64,
    answer: Value,
}

impl Reply {
    pub(crate) fn parse(answer: Value) -> Result<Self, StoreError> {
        let bytes = match &answer {
            Value::Bytes(bytes) => bytes,
            // Bytes that happen to be a text.
            Value::String(text) => text.as_bytes(),
            _ => return Err(malformed("no bytes")),
        };
        let Some([now, units, incarnation]) = bytes.get(..HEAD).and_then(packed) else {
            return Err(malformed("not three numbers and a state"));
        };
        if now > Timestamp::MAX.as_micros() {
            return Err(malformed("an instant beyond the year 2112"));
        }
        Ok(Self {
            now: Timestamp::from_micros(now),
            units,
            incarnation,
            answer,
        })
    }

    /// The state as it was found.
    pub(crate) fn state(&self) -> &[u8] {
        let bytes = self.answer.as_bytes().unwrap_or_default();
        bytes.get(HEAD..).unwrap_or_default()
    }
}

pub(crate) const fn malformed(what: &'static str) -> StoreError {
    StoreError::new(ErrorKind::Malformed(what))
}

/// The numbers that bytes hold, each below 2^53 in 8 of them, the lowest first.
pub(crate) fn packed<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let chunks: &[[u8; 8]; N] = chunks.try_into().ok().filter(|_| rest.is_empty())?;
    let numbers = chunks.map(u64::from_le_bytes);
    numbers
        .iter()
        .all(|number| *number < 1 << 53)
        .then_some(numbers)
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

    fn bytes(numbers: &[u64]) -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect()
    }

    fn parse(bytes: Vec<u8>) -> Result<Reply, StoreError> {
        Reply::parse(Value::Bytes(bytes.into()))
    }

    #[test]
    fn a_reply_is_three_numbers_and_a_state() {
        let good = parse([&bytes(&[7, 1, 5])[..], b"state"].concat()).unwrap();
        assert_eq!(
            (good.now.as_micros(), good.units, good.incarnation),
            (7, 1, 5)
        );
        assert_eq!(good.state(), b"state");
        assert_eq!(parse(bytes(&[7, 1, 5])).unwrap().state(), b"");
        // fred gives bytes that are a text as a text.
        let text = Value::String("seven + one, and a state".into());
        assert!(
            Reply::parse(text).is_err(),
            "an instant beyond the year 2112"
        );
        let text = String::from_utf8(bytes(&[7, 1, 5])).unwrap();
        assert_eq!(Reply::parse(Value::String(text.into())).unwrap().units, 1);
    }

    #[test]
    fn sentinels_and_what_is_too_short_are_malformed() {
        assert!(parse(bytes(&[7, 1])).is_err());
        assert!(parse(bytes(&[7, 1 << 53, 0])).is_err());
        assert!(parse(bytes(&[7, 1, u64::MAX])).is_err());
        assert!(
            parse(bytes(&[1 << 52, 1, 0])).is_err(),
            "an instant beyond the year 2112"
        );
        for other in [Value::Null, Value::Integer(7), Value::Array(vec![7.into()])] {
            assert!(Reply::parse(other).is_err());
        }
    }

    #[test]
    fn numbers_are_counted() {
        assert_eq!(numbers::<2>("1 2"), Some([1, 2]));
        for bad in ["", "1", "1 2 3", "1  2", "1 -2", "1 2 "] {
            assert_eq!(numbers::<2>(bad), None, "{bad:?}");
        }
        assert_eq!(packed::<2>(&bytes(&[1, 2])), Some([1, 2]));
        assert_eq!(packed::<2>(&bytes(&[1, 2, 3])), None);
        assert_eq!(packed::<2>(&bytes(&[1, 2])[..15]), None);
    }
}
