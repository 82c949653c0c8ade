//! A log as a stream of lines, of any size and in constant memory.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read},
    path::{Display, Path},
};

use flate2::bufread::MultiGzDecoder;
use indicatif::{ProgressBar, ProgressStyle};

/// Longer lines are no log lines; a binary file may hold no line break at all.
const LONGEST_LINE: usize = 64 * 1024;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What was read.
pub(crate) enum Line {
    Read,
    /// The line was cut after its first part.
    TooLong,
    End,
}

/// Opens `file`, or standard input if it is `-`, and unpacks it if it is gzip.
///
/// Shows a progress bar if standard error is a terminal.
pub(crate) fn open(file: &Path) -> io::Result<Box<dyn BufRead>> {
    if file == Path::new("-") {
        let bar = ProgressBar::new_spinner().with_style(style("{spinner} {bytes} {bytes_per_sec}"));
        return unpack(bar.wrap_read(io::stdin()));
    }
    let input = File::open(file)?;
    let metadata = input.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::other("is a directory"));
    }
    let bar = ProgressBar::new(metadata.len()).with_style(style(
        "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
    ));
    unpack(bar.wrap_read(input))
}

/// What to call the log.
pub(crate) fn name(file: &Path) -> Display<'_> {
    if file == Path::new("-") {
        Path::new("standard input").display()
    } else {
        file.display()
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn unpack(mut input: impl Read + 'static) -> io::Result<Box<dyn BufRead>> {
    // A pipe may give them one by one.
    let mut first = Vec::new();
    input
        .by_ref()
        .take(GZIP.len() as u64)
        .read_to_end(&mut first)?;
    let packed = first == GZIP;
    let input = BufReader::with_capacity(1 << 20, Cursor::new(first).chain(input));
    if packed {
        Ok(Box::new(BufReader::with_capacity(
            1 << 20,
            MultiGzDecoder::new(input),
        )))
    } else {
        Ok(Box::new(input))
    }
}

/// Reads the next line into `line`, without its line break.
pub(crate) fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    if input.take(LONGEST_LINE as u64).read_until(b'\n', line)? == 0 {
        return Ok(Line::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Line::Read);
    }
    if line.len() < LONGEST_LINE {
        return Ok(Line::Read);
    }
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}
