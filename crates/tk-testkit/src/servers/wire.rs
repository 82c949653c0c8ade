//! A connection that speaks the servers' protocol, for what tests do behind the back of a store.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// A status or a string.
    Text(Vec<u8>),
    /// A number.
    Number(i64),
    /// Nothing.
    Nil,
    /// Several answers.
    List(Vec<Answer>),
    /// An error.
    Error(String),
}

impl Answer {
    /// The text in it, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// The number in it, if it is one.
    #[must_use]
    pub const fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The answers in it, if there are several.
    #[must_use]
    pub fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }
}

/// A connection to a server. It waits for each answer, for 10 seconds at most.
#[derive(Debug)]
pub struct Wire(BufReader<TcpStream>);

impl Wire {
    /// Connects to a port of the loopback interface.
    ///
    /// # Errors
    ///
    /// Those of the connection.
    pub fn connect(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a command and reads the answer.
    ///
    /// # Errors
    ///
    /// Those of the connection; a refusal is an answer.
    pub fn ask<A: AsRef<[u8]>>(&mut self, command: &[A]) -> io::Result<Answer> {
        let mut bytes = format!("*{}\r\n", command.len()).into_bytes();
        for argument in command {
            let argument = argument.as_ref();
            bytes.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
            bytes.extend_from_slice(argument);
            bytes.extend_from_slice(b"\r\n");
        }
        self.0.get_mut().write_all(&bytes)?;
        self.read()
    }

    /// All keys, with the milliseconds that each has left to live.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    #[must_use]
    pub fn keys(&mut self) -> Vec<(Vec<u8>, i64)> {
        let mut found = Vec::new();
        let mut cursor = b"0".to_vec();
        loop {
            let page = self.ask(&[&b"SCAN"[..], &cursor, b"COUNT", b"1000"]);
            let Ok(Answer::List(page)) = page else {
                panic!("the keys cannot be listed: {page:?}");
            };
            let [Answer::Text(next), Answer::List(keys)] = &page[..] else {
                panic!("the keys cannot be listed: {page:?}");
            };
            for key in keys {
                let Answer::Text(key) = key else { continue };
                let left = self
                    .ask(&[&b"PTTL"[..], key])
                    .ok()
                    .and_then(|left| left.number());
                found.push((key.clone(), left.unwrap_or(-1)));
            }
            if next == b"0" {
                return found;
            }
            cursor.clone_from(next);
        }
    }

    fn read(&mut self) -> io::Result<Answer> {
        let mut line = String::new();
        if self.0.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end();
        let (kind, rest) = line.split_at_checked(1).ok_or(io::ErrorKind::InvalidData)?;
        let number = || rest.parse::<i64>().map_err(|_| io::ErrorKind::InvalidData);
        Ok(match kind {
            "+" => Answer::Text(rest.as_bytes().to_vec()),
            "-" => Answer::Error(rest.to_owned()),
            ":" => Answer::Number(number()?),
            "$" => match usize::try_from(number()?) {
                Ok(length) => {
                    let mut bytes = vec![0; length + 2];
                    self.0.read_exact(&mut bytes)?;
                    bytes.truncate(length);
                    Answer::Text(bytes)
                }
                Err(_) => Answer::Nil,
            },
            "*" => match usize::try_from(number()?) {
                Ok(length) => {
                    Answer::List((0..length).map(|_| self.read()).collect::<Result<_, _>>()?)
                }
                Err(_) => Answer::Nil,
            },
            _ => return Err(io::ErrorKind::InvalidData.into()),
        })
    }
}
