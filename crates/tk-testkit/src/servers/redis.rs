//! One server.

use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use super::wire::{Answer, Wire};

/// A `redis-server` of a test's own.
///
/// The program is looked up in the `PATH`; `TK_REDIS_SERVER` in the environment names another one, such as a Valkey.
#[derive(Debug)]
pub struct RedisServer {
    port: u16,
    directory: PathBuf,
    arguments: Vec<String>,
    is_sentinel: bool,
    child: Option<Child>,
}

static STARTED: AtomicU64 = AtomicU64::new(0);

/// A port that nobody listens on now.
///
/// # Panics
///
/// If the loopback interface has none.
#[must_use]
pub fn free_port() -> u16 {
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    match port {
        Ok(address) => address.port(),
        Err(error) => panic!("no free port on the loopback interface: {error}"),
    }
}

impl RedisServer {
    /// A server without persistence.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// A server with further settings, as on its command line: `["--maxmemory", "2mb"]`.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[must_use]
    pub fn start_with(settings: &[&str]) -> Self {
        Self::start_on(free_port, settings)
    }

    /// A server on a port that may be taken by others before it listens; then another one is tried.
    pub(super) fn start_on(port: impl Fn() -> u16, settings: &[&str]) -> Self {
        for _ in 0..20 {
            let mut server = Self::at(port(), settings);
            if server.tries_to_run() {
                return server;
            }
        }
        panic!("others take every free port");
    }

    /// A replica of whatever listens on a port of the loopback interface, in step with it.
    ///
    /// # Panics
    ///
    /// If it cannot be started, or never is in step.
    #[must_use]
    pub fn replica_of(port: u16) -> Self {
        let replica = Self::start_with(&["--replicaof", "127.0.0.1", &port.to_string()]);
        replica.wait_until_in_step();
        replica
    }

    /// Waits until a replica is connected to its primary and has its data.
    ///
    /// # Panics
    ///
    /// If it never is.
    pub fn wait_until_in_step(&self) {
        for _ in 0..1_500 {
            let role = self
                .ask(&["INFO", "replication"])
                .text()
                .unwrap_or_default();
            if role.contains("master_link_status:up") {
                return;
            }
            pause(Duration::from_millis(10));
        }
        panic!(
            "a replica is never in step with its primary: {}",
            self.log()
        );
    }

    /// A server that is not running yet; see [`RedisServer::run`].
    ///
    /// # Panics
    ///
    /// If it cannot make its directory.
    #[must_use]
    pub fn at(port: u16, settings: &[&str]) -> Self {
        let number = STARTED.fetch_add(1, Relaxed);
        let directory = env::temp_dir().join(format!("tk-redis-{}-{number}", process::id()));
        if let Err(error) = fs::create_dir_all(&directory) {
            panic!("cannot create {}: {error}", directory.display());
        }
        Self {
            port,
            directory,
            arguments: settings.iter().map(|&setting| setting.to_owned()).collect(),
            is_sentinel: false,
            child: None,
        }
    }

    /// A sentinel that runs from a file of settings, which it rewrites.
    pub(super) fn sentinel(port: u16, settings: &str) -> Self {
        let mut server = Self::at(port, &[]);
        server.is_sentinel = true;
        if let Err(error) = fs::write(server.directory.join("sentinel.conf"), settings) {
            panic!("cannot write the settings of a sentinel: {error}");
        }
        server.run();
        server
    }

    /// Adds settings, as on its command line, for when it is started next.
    pub fn add_settings<S: AsRef<str>>(&mut self, settings: &[S]) {
        let settings = settings.iter().map(|setting| setting.as_ref().to_owned());
        self.arguments.extend(settings);
    }

    /// Starts it, on the same port and with what it has stored, and waits until it answers. Nothing if it runs.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub fn run(&mut self) {
        assert!(
            self.tries_to_run(),
            "port {} is taken: {}",
            self.port,
            self.log()
        );
    }

    /// Whether it runs; not if its port is taken.
    fn tries_to_run(&mut self) -> bool {
        if self.child.is_some() {
            return true;
        }
        let program = env::var("TK_REDIS_SERVER").unwrap_or_else(|_| "redis-server".to_owned());
        let port = self.port.to_string();
        let mut command = Command::new(&program);
        if self.is_sentinel {
            command.args(["sentinel.conf", "--sentinel"]);
        } else {
            command
                .args(["--save", "", "--appendonly", "no", "--dir", "."])
                .args(["--repl-diskless-sync-delay", "0"]);
        }
        let spawned = command
            .current_dir(&self.directory)
            .args(["--bind", "127.0.0.1", "--port", &port])
            .args(["--logfile", "server.log"])
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match spawned {
            Ok(child) => self.child = Some(child),
            Err(error) => panic!(
                "cannot start `{program}`: {error}. The tests of Redis need it; `cargo xtask test --setup` installs it"
            ),
        }
        self.becomes_ready()
    }

    fn becomes_ready(&mut self) -> bool {
        for _ in 0..1_000 {
            if let Some(Ok(Some(status))) = self.child.as_mut().map(Child::try_wait) {
                let log = self.log();
                assert!(
                    log.contains("in use"),
                    "redis-server ended with {status}: {log}"
                );
                self.child = None;
                return false;
            }
            let answers = Wire::connect(self.port).and_then(|mut wire| {
                let answer = wire.ask(&["PING"])?;
                Ok(!is_loading(&answer) && self.is_at(&mut wire))
            });
            if answers.unwrap_or_default() {
                return true;
            }
            pause(Duration::from_millis(10));
        }
        panic!("redis-server does not answer: {}", self.log());
    }

    /// Whether it is this server that answers, and not one that took its port.
    fn is_at(&self, wire: &mut Wire) -> bool {
        let Ok(Answer::Text(about)) = wire.ask(&["INFO", "server"]) else {
            // Without its password it tells nothing about itself.
            return true;
        };
        let about = String::from_utf8_lossy(&about);
        let id = about
            .lines()
            .find_map(|line| line.strip_prefix("process_id:"));
        let own = self.child.as_ref().map(|child| child.id().to_string());
        id.is_none_or(|id| own.is_some_and(|own| own == id))
    }

    /// Kills it at once, as a crash does; nothing is saved. Nothing if it does not run.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may be gone already, which is as good.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Stops it in its tracks: connections stay open, and nothing is answered.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on after [`RedisServer::pause`].
    pub fn unpause(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let Some(child) = &self.child else { return };
        let status = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "cannot send {signal} to the server"
        );
    }

    /// Whether it was started and not killed since.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.child.is_some()
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

    /// Where it keeps its data and its log.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.directory.join("server.log")).unwrap_or_default()
    }

    /// A connection to it.
    ///
    /// # Panics
    ///
    /// If it does not take one.
    #[must_use]
    pub fn wire(&self) -> Wire {
        match Wire::connect(self.port) {
            Ok(wire) => wire,
            Err(error) => panic!("cannot connect to the server: {error}"),
        }
    }

    /// Its answer to a command, on a connection of its own.
    ///
    /// # Panics
    ///
    /// If there is none, or it is an error.
    pub fn ask<A: AsRef<str>>(&self, command: &[A]) -> Answer {
        let words: Vec<_> = command.iter().map(AsRef::as_ref).collect();
        match self.wire().ask(&words) {
            Ok(Answer::Error(error)) => panic!("{words:?} was refused: {error}"),
            Ok(answer) => answer,
            Err(error) => panic!("{words:?} was not answered: {error}"),
        }
    }

    /// All its keys, with the milliseconds that each has left to live: -1 if it lives for ever.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    #[must_use]
    pub fn keys(&self) -> Vec<(Vec<u8>, i64)> {
        self.wire().keys()
    }

    /// Claims that every key will expire.
    ///
    /// # Panics
    ///
    /// If one will not.
    pub fn assert_all_keys_expire(&self) {
        for (key, left) in self.keys() {
            let key = String::from_utf8_lossy(&key);
            // A key may have expired since it was listed: -2.
            assert!(left > 0 || left == -2, "{key} has {left} ms to live");
        }
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn is_loading(answer: &Answer) -> bool {
    matches!(answer, Answer::Error(error) if error.starts_with("LOADING"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process is waited for, whose time no clock of ours moves"
)]
pub(super) fn pause(duration: Duration) {
    thread::sleep(duration);
}
