//! A span of time, as it is written on a command line.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};

/// The span that `text` names, in weeks and smaller units; a day has 24 hours.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let days = SpanRelativeTo::days_are_24_hours();
    let span = text
        .parse::<Span>()
        .and_then(|span| span.to_duration(days))
        .map_err(|_| "allowed are weeks, days and smaller units, as in 500ms, 60s, 5m, 1h or 7d")?;
    Duration::try_from(span).map_err(|_| "a span of time is not negative".into())
}
