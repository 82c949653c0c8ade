//! A log as a stream of lines, of any size and in constant memory.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
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
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
    let input = File::open(file).map_err(named)?;
    let metadata = input.metadata().map_err(named)?;
    if metadata.is_dir() {
        return Err(io::Error::other(format!(
            "{}: is a directory",
            file.display()
        )));
    }
    let bar = ProgressBar::new(metadata.len()).with_style(style(
        "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
    ));
    unpack(bar.wrap_read(input))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn unpack(input: impl Read + 'static) -> io::Result<Box<dyn BufRead>> {
    let mut input = BufReader::with_capacity(1 << 20, input);
    if input.fill_buf()?.starts_with(&GZIP) {
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
