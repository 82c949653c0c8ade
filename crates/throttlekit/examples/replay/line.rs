//! A line in Common or Combined Log Format.
//!
//! `host ident user [day/month/year:hour:minute:second zone] "request" status bytes "referer" "agent"`, of which everything
//! behind the request may be missing.

use std::cell::RefCell;

use jiff::fmt::strtime;
use throttlekit::Timestamp;

/// The parts of a line that a limit may be counted per.
pub(crate) struct Entry<'a> {
    pub(crate) at: Timestamp,
    pub(crate) host: &'a [u8],
    pub(crate) request: Option<&'a [u8]>,
    line: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Reads a line; `None` if it has no host or no time.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(line);
        let host = fields.next()?;
        let time = fields.find_map(|field| field.strip_prefix(b"["))?;
        let at = instant(time.strip_suffix(b"]")?)?;
        let request = fields.next().map(unquoted);
        Some(Self {
            at,
            host,
            request,
            line,
        })
    }

    /// The path of the request, without its query.
    pub(crate) fn path(&self) -> Option<&'a [u8]> {
        let target = self.request?.split(|&byte| byte == b' ').nth(1)?;
        target.split(|&byte| byte == b'?').next()
    }

    /// Field `number` of the line, from 0, without quotes or brackets.
    pub(crate) fn field(&self, number: usize) -> Option<&'a [u8]> {
        Fields(self.line).nth(number).map(unquoted)
    }
}

/// The fields of a line: runs without blanks, or anything in quotes or brackets.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.0.trim_ascii_start();
        let length = match rest.first()? {
            b'"' => closing_quote(rest)? + 1,
            b'[' => rest.iter().position(|&byte| byte == b']')? + 1,
            _ => rest
                .iter()
                .position(u8::is_ascii_whitespace)
                .unwrap_or(rest.len()),
        };
        let (field, rest) = rest.split_at(length);
        self.0 = rest;
        Some(field)
    }
}

/// Where a quoted field ends; a backslash escapes the byte behind it.
fn closing_quote(field: &[u8]) -> Option<usize> {
    let mut escaped = false;
    field
        .iter()
        .skip(1)
        .position(|&byte| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        })
        .map(|position| position + 1)
}

fn unquoted(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inner @ .., b'"'] | [b'[', inner @ .., b']'] => inner,
        other => other,
    }
}

thread_local! {
    /// The last time read: a busy log repeats it on many lines.
    static LAST: RefCell<(Vec<u8>, Option<Timestamp>)> = RefCell::default();
}

/// The instant that a log time such as `10/Oct/2000:13:55:36 -0700` names; `None` before 1970.
fn instant(text: &[u8]) -> Option<Timestamp> {
    LAST.with_borrow_mut(|(last, at)| {
        if last != text {
            last.clear();
            last.extend_from_slice(text);
            let time =
                strtime::parse("%d/%b/%Y:%H:%M:%S %z", text).and_then(|time| time.to_timestamp());
            let micros = time.ok().map(|time| time.as_microsecond());
            *at = micros
                .and_then(|micros| u64::try_from(micros).ok())
                .map(Timestamp::from_micros);
        }
        *at
    })
}
