//! What is written to standard output, and to standard error.

use std::{
    fmt::Display,
    io::{self, BufWriter, ErrorKind, Write},
};

/// Lets `write` write to standard output. Whoever read it may have seen enough, as `head` has, and that is no error.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written
            .map_err(|error| io::Error::new(error.kind(), format!("standard output: {error}"))),
    }
}

/// Says `what` on standard error. Whoever read that may be gone as well, and then there is nobody left to tell.
pub(crate) fn tell(program: &str, what: impl Display) {
    let _: io::Result<()> = writeln!(io::stderr(), "{program}: {what}");
}
