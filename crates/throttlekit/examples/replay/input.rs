//! A log as a stream of lines, of any size and in constant memory.

mod gzip;

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Display, Path},
};

use indicatif::{ProgressBar, ProgressStyle};

use gzip::{Gzip, Sniffed};

/// Longer lines are no log lines; a binary file may hold no line break at all.
const LONGEST_LINE: usize = 64 * 1024;

const BUFFER: usize = 1 << 20;

/// What was read.
pub(crate) enum Line {
    Read,
    /// The line was cut after its first part.
    TooLong,
    End,
}

/// A log from which lines are read until it ends or cannot be read any more.
pub(crate) struct Log {
    source: Source,
    /// Why it cannot be read to its end.
    pub(crate) cut: Option<io::Error>,
}

type Input = BufReader<Box<dyn Read>>;

enum Source {
    Plain(Sniffed<Input>),
    Gzip(Box<BufReader<Gzip<Input>>>),
}

impl Log {
    /// Opens `file`, or standard input if it is `-`, and unpacks it if it is gzip.
    ///
    /// Shows a progress bar if standard error is a terminal.
    pub(crate) fn open(file: &Path) -> io::Result<Self> {
        let input: Box<dyn Read> = if file == Path::new("-") {
            let style = style("{spinner} {bytes} {bytes_per_sec}");
            let bar = ProgressBar::new_spinner().with_style(style);
            Box::new(bar.wrap_read(io::stdin()))
        } else {
            let input = File::open(file)?;
            let metadata = input.metadata()?;
            if metadata.is_dir() {
                return Err(io::Error::other("is a directory"));
            }
            let style = style("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
            let bar = ProgressBar::new(metadata.len()).with_style(style);
            Box::new(bar.wrap_read(input))
        };
        let (packed, input) = gzip::sniff(BufReader::with_capacity(BUFFER, input))?;
        let source = if packed {
            Source::Gzip(Box::new(BufReader::with_capacity(BUFFER, Gzip::new(input))))
        } else {
            Source::Plain(input)
        };
        Ok(Self { source, cut: None })
    }

    /// Reads the next line into `line`, without its line break.
    ///
    /// A log that cannot be read any more ends there: what came before is worth a report.
    pub(crate) fn read_line(&mut self, line: &mut Vec<u8>) -> Line {
        line.clear();
        if self.cut.is_some() {
            return Line::End;
        }
        let input: &mut dyn BufRead = match &mut self.source {
            Source::Plain(input) => input,
            Source::Gzip(input) => input,
        };
        self.cut = input
            .take(LONGEST_LINE as u64)
            .read_until(b'\n', line)
            .err();
        match line.last() {
            None => Line::End,
            Some(b'\n') => {
                line.pop();
                Line::Read
            }
            Some(_) if line.len() < LONGEST_LINE => Line::Read,
            Some(_) => {
                self.cut = self.cut.take().or(input.skip_until(b'\n').err());
                Line::TooLong
            }
        }
    }

    /// Bytes behind packed data that are none themselves.
    pub(crate) fn ignored(&self) -> u64 {
        match &self.source {
            Source::Plain(_) => 0,
            Source::Gzip(input) => input.get_ref().ignored(),
        }
    }
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
