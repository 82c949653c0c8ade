//! gzip, member after member, and what lies between and behind them.
//!
//! Logs that were appended to each other have many members; tapes and copies by block pad them with zeros, and what else may
//! follow is no reason to lose what came before. It is skipped and counted.

use std::io::{self, BufRead, Chain, Cursor, Read};

use flate2::bufread::GzDecoder;

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// An input, of which the first bytes were looked at.
pub(super) type Sniffed<R> = Chain<Cursor<Vec<u8>>, R>;

/// Whether `input` starts as gzip does, and all of it.
pub(super) fn sniff<R: BufRead>(mut input: R) -> io::Result<(bool, Sniffed<R>)> {
    // A pipe may give them one by one.
    let mut first = Vec::new();
    input
        .by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut first)?;
    Ok((first == MAGIC, Cursor::new(first).chain(input)))
}

/// What the members of a gzip file hold.
pub(super) struct Gzip<R> {
    /// `None` behind the last one.
    member: Option<GzDecoder<Sniffed<R>>>,
    ignored: u64,
}

impl<R: BufRead> Gzip<R> {
    pub(super) fn new(input: Sniffed<R>) -> Self {
        Self {
            member: Some(GzDecoder::new(input)),
            ignored: 0,
        }
    }

    /// Bytes that belong to no member.
    pub(super) fn ignored(&self) -> u64 {
        self.ignored
    }

    /// The member that starts in what is left, behind any number of zeros.
    fn next_member(&mut self, mut rest: R) -> io::Result<Option<GzDecoder<Sniffed<R>>>> {
        loop {
            let ahead = rest.fill_buf()?;
            if ahead.is_empty() {
                // Nothing is read behind an end: a terminal would have to give another.
                return Ok(None);
            }
            let zeros = ahead.iter().take_while(|&&byte| byte == 0).count();
            let is_padding = zeros == ahead.len();
            rest.consume(zeros);
            self.ignored += zeros as u64;
            if !is_padding {
                break;
            }
        }
        let (packed, mut rest) = sniff(rest)?;
        if packed {
            return Ok(Some(GzDecoder::new(rest)));
        }
        self.ignored += io::copy(&mut rest, &mut io::sink())?;
        Ok(None)
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(out)?;
            if read > 0 || out.is_empty() {
                return Ok(read);
            }
            if let Some(ended) = self.member.take() {
                // The first bytes of a member have been read when it ends.
                let (_, rest) = ended.into_inner().into_inner();
                self.member = self.next_member(rest)?;
            }
        }
        Ok(0)
    }
}
