//! What is asked of a node, and when.

use crate::args::Args;

/// A flood asks for so many times the limit.
const FLOOD: u64 = 2;

/// When a node's requests are due, in microseconds since the first window's start.
pub(crate) fn schedule(args: &Args) -> impl Iterator<Item = u64> {
    let window = args.window_micros();
    let (quiet, flood) = (quiet(args), (FLOOD * args.limit).div_ceil(args.nodes));
    (0..args.windows()).flat_map(move |number| {
        let count = if number % 2 == 0 { quiet } else { flood };
        // Quiet windows are over early, so that all that was leased is there when the flood comes, and so are floods, so
        // that requests that are late still come in time.
        let busy = if number % 2 == 0 {
            window / 2
        } else {
            window / 10 * 9
        };
        (0..count).map(move |request| {
            let within = u128::from(busy) * u128::from(request) / u128::from(count);
            number * window + within as u64
        })
    })
}

/// Requests of a quiet window: some whole batches and one more, if there is room for another batch at every node.
fn quiet(args: &Args) -> u64 {
    let batches = args.limit / (args.nodes * args.batch);
    (batches / 2) * args.batch + 1
}
