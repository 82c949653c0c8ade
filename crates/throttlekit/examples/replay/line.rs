//! A line in Common or Combined Log Format.
//!
//! `host ident user [day/month/year:hour:minute:second zone] "request" status bytes "referer" "agent"`, of which everything
//! behind the time may be missing. Whoever logs in chooses the user name, and it may hold blanks, brackets, even a time. So the time is
//! looked for first, where a request follows it: in a name, a quote is escaped. All fields are counted from there.

use std::cell::RefCell;

use jiff::fmt::strtime;
use throttlekit::Timestamp;

/// The parts of a line that a limit may be counted per.
pub(crate) struct Entry<'a> {
    pub(crate) at: Timestamp,
    pub(crate) host: &'a [u8],
    ident: &'a [u8],
    user: &'a [u8],
    time: &'a [u8],
    /// What follows the time.
    rest: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Reads a line; `None` if it has no host or no time.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        let Time {
            at,
            before,
            text,
            rest,
        } = Time::find(line)?;
        let (host, before) = word(before);
        let (ident, user) = word(before);
        (!host.is_empty()).then_some(Self {
            at,
            host,
            ident,
            user: user.trim_ascii(),
            time: text,
            rest,
        })
    }

    /// The path of the request, without its query.
    pub(crate) fn path(&self) -> Option<&'a [u8]> {
        let request = self.field(4)?;
        let target = request.split(|&byte| byte == b' ').nth(1)?;
        target.split(|&byte| byte == b'?').next()
    }

    /// Field `number` of the line, from 0, without quotes or brackets: the time is field 3, and the request field 4.
    pub(crate) fn field(&self, number: usize) -> Option<&'a [u8]> {
        Some(match number {
            0 => self.host,
            1 => self.ident,
            2 => unquoted(self.user),
            3 => self.time,
            _ => unquoted(Fields(self.rest).nth(number - 4)?),
        })
    }
}

/// The time of a line, and what stands around it.
struct Time<'a> {
    at: Timestamp,
    before: &'a [u8],
    text: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Time<'a> {
    /// The first time that a quote follows, or the first if none does.
    fn find(line: &'a [u8]) -> Option<Self> {
        let (mut first, mut opened) = (None, None);
        for (place, byte) in line.iter().enumerate() {
            match (byte, opened) {
                (b'[', _) => opened = Some(place),
                (b']', Some(open)) => {
                    opened = None;
                    let text = &line[open + 1..place];
                    let Some(at) = instant(text) else { continue };
                    let (before, rest) = (&line[..open], &line[place + 1..]);
                    let found = Self {
                        at,
                        before,
                        text,
                        rest,
                    };
                    if rest.trim_ascii_start().starts_with(b"\"") {
                        return Some(found);
                    }
                    first.get_or_insert(found);
                }
                _ => {}
            }
        }
        first
    }
}

/// The first run without blanks, and what follows it.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace);
    text.split_at(end.unwrap_or(text.len()))
}

/// The fields of a line: runs without blanks, or anything in quotes or brackets.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.0.trim_ascii_start();
        let (field, rest) = match rest.first()? {
            b'"' => rest.split_at(closing_quote(rest)? + 1),
            b'[' => rest.split_at(rest.iter().position(|&byte| byte == b']')? + 1),
            _ => word(rest),
        };
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

/// The instant that a log time such as `10/Oct/2000:13:55:36 -0700` names; `None` before 1970 and after [`Timestamp::MAX`], in 2112.
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
                .filter(|&micros| micros <= Timestamp::MAX.as_micros())
                .map(Timestamp::from_micros);
        }
        *at
    })
}
