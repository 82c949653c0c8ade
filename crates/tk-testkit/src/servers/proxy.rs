//! A network that misbehaves on demand, between a client and a server.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use super::RedisServer;

/// What the network does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing: all bytes arrive.
    None,
    /// The server gets every request and runs it, and its replies vanish. A connection on which bytes have vanished carries none any more,
    /// whatever the network does later: that is what TCP promises.
    LosesReplies,
    /// The server gets every request and runs it; its next reply vanishes and the connection breaks with it. Then the network is as good
    /// as new.
    CutsInsteadOfNextReply,
    /// Requests vanish, with the same promise.
    LosesRequests,
}

/// A port that leads to a server through a network that misbehaves on demand.
///
/// The way of requests and that of replies of each connection are threads, which end with the connection; those end when the proxy
/// is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    target: AtomicU16,
    fault: AtomicU8,
    /// The fault that begins with a request that holds a word.
    planned: Mutex<Option<(&'static str, Fault)>>,
    /// Microseconds by which every reply is late.
    delay: AtomicU64,
    /// How often a reply vanished.
    lost: AtomicU64,
    ended: AtomicBool,
}

impl Proxy {
    /// A way to `server`.
    ///
    /// # Panics
    ///
    /// If it cannot listen.
    #[must_use]
    pub fn to(server: &RedisServer) -> Self {
        Self::to_port(server.port())
    }

    /// A way to whatever listens on a port of the loopback interface.
    ///
    /// # Panics
    ///
    /// If it cannot listen.
    #[must_use]
    pub fn to_port(target: u16) -> Self {
        let listener = match TcpListener::bind(("127.0.0.1", 0)) {
            Ok(listener) => listener,
            Err(error) => panic!("cannot listen: {error}"),
        };
        let port = match listener.local_addr() {
            Ok(address) => address.port(),
            Err(error) => panic!("a listener without an address: {error}"),
        };
        let shared = Arc::new(Shared {
            target: AtomicU16::new(target),
            fault: AtomicU8::new(Fault::None as u8),
            planned: Mutex::new(None),
            delay: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        });
        let accepting = shared.clone();
        thread::spawn(move || accepting.accept(&listener));
        Self { port, shared }
    }

    /// From now on the network does this.
    pub fn set(&self, fault: Fault) {
        self.shared.fault.store(fault as u8, SeqCst);
    }

    /// From the next request on that holds this word, the network does this: `EXEC`, to lose the outcome of a transaction.
    pub fn set_from(&self, word: &'static str, fault: Fault) {
        *self.shared.planned() = Some((word, fault));
    }

    /// From now on each reply is late by `delay`.
    pub fn delay_replies(&self, delay: Duration) {
        let micros = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        self.shared.delay.store(micros, SeqCst);
    }

    /// From now on connections lead to another port; those that there are stay as they are. As a name that is given another address.
    pub fn lead_to(&self, port: u16) {
        self.shared.target.store(port, SeqCst);
    }

    /// How often bytes of a reply have vanished.
    #[must_use]
    pub fn lost_replies(&self) -> u64 {
        self.shared.lost.load(SeqCst)
    }

    /// Its port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, SeqCst);
        // Wakes the thread that accepts; if nobody can connect, nobody is woken.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Shared {
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        for client in listener.incoming() {
            if self.ended.load(SeqCst) {
                return;
            }
            let Ok(client) = client else { continue };
            // A client whose server is gone sees its connection close.
            let Ok(server) = TcpStream::connect(("127.0.0.1", self.target.load(SeqCst))) else {
                continue;
            };
            let _ = (client.set_nodelay(true), server.set_nodelay(true));
            let (Ok(replies_to), Ok(replies_from)) = (client.try_clone(), server.try_clone())
            else {
                continue;
            };
            let (requests, replies) = (self.clone(), self.clone());
            let dead = Arc::new(AtomicBool::new(false));
            let as_dead = dead.clone();
            thread::spawn(move || requests.carry(client, server, Way::Requests, &dead));
            thread::spawn(move || replies.carry(replies_from, replies_to, Way::Replies, &as_dead));
        }
    }

    /// Carries bytes from one end to the other until either is closed; none once the connection is dead.
    fn carry(&self, mut from: TcpStream, mut to: TcpStream, way: Way, dead: &AtomicBool) {
        let mut buffer = vec![0; 64 * 1_024];
        let _ = from.set_read_timeout(Some(Duration::from_millis(100)));
        while !self.ended.load(SeqCst) {
            let length = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if is_timeout(&error) => continue,
                Err(_) => break,
            };
            if let Way::Requests = way {
                self.look_out(&buffer[..length]);
            }
            match self.fate(way) {
                _ if dead.load(SeqCst) => {}
                Fate::Arrives if to.write_all(&buffer[..length]).is_ok() => {}
                Fate::Vanishes => dead.store(true, SeqCst),
                Fate::Arrives | Fate::Cut => break,
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }

    fn planned(&self) -> MutexGuard<'_, Option<(&'static str, Fault)>> {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the fault that is planned for a request, before that is carried on.
    fn look_out(&self, request: &[u8]) {
        let mut planned = self.planned();
        let Some((word, fault)) = *planned else {
            return;
        };
        if request
            .windows(word.len())
            .any(|part| part == word.as_bytes())
        {
            *planned = None;
            self.fault.store(fault as u8, SeqCst);
        }
    }

    fn fate(&self, way: Way) -> Fate {
        let is = |fault: Fault| self.fault.load(SeqCst) == fault as u8;
        match way {
            Way::Requests if is(Fault::LosesRequests) => Fate::Vanishes,
            Way::Requests => Fate::Arrives,
            Way::Replies => {
                let delay = self.delay.load(SeqCst);
                if delay > 0 {
                    pause(Duration::from_micros(delay));
                }
                let cuts = Fault::CutsInsteadOfNextReply as u8;
                let cut = self
                    .fault
                    .compare_exchange(cuts, Fault::None as u8, SeqCst, SeqCst);
                if cut.is_ok() {
                    self.lost.fetch_add(1, SeqCst);
                    Fate::Cut
                } else if is(Fault::LosesReplies) {
                    self.lost.fetch_add(1, SeqCst);
                    Fate::Vanishes
                } else {
                    Fate::Arrives
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Way {
    Requests,
    Replies,
}

enum Fate {
    Arrives,
    Vanishes,
    Cut,
}

fn is_timeout(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), TimedOut | WouldBlock)
}

#[expect(clippy::disallowed_methods, reason = "a network is slow in real time")]
fn pause(duration: Duration) {
    thread::sleep(duration);
}
