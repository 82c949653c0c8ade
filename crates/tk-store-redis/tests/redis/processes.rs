//! Callers in several processes: this program, started again for the test of one of them.

use std::{
    env,
    process::{Command, Stdio},
    time::Duration,
};

use tk_core::{FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Store, TokenBucket};
use tk_store_redis::{RedisStore, Scripted};
use tk_testkit::{
    conformance::block_on,
    servers::{RedisServer, Wire},
};

use crate::support::PATIENT;

/// Long enough that nothing replenishes while a test runs.
const LONG: Duration = Duration::from_secs(1 << 24);

const PROCESSES: usize = 4;

/// Tells a process of the crowd which port the server listens on.
const PORT: &str = "TK_CROWD_PORT";

#[test]
fn two_hundred_concurrent_checks_from_four_processes_at_limit_fifty_admit_fifty() {
    let server = RedisServer::start();
    let crowd: Vec<_> = (0..PROCESSES)
        .map(|_| {
            Command::new(env::current_exe().unwrap())
                .args([
                    "--exact",
                    "processes::a_process_of_the_crowd",
                    "--nocapture",
                ])
                .env(PORT, server.port().to_string())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut admitted = [0; 5];
    for process in crowd {
        let output = process.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        let line = text
            .lines()
            .find_map(|line| line.split_once("admitted "))
            .unwrap()
            .1;
        let counts: Vec<u32> = line
            .split(' ')
            .map(|count| count.parse().unwrap())
            .collect();
        for (sum, count) in admitted.iter_mut().zip(counts) {
            *sum += count;
        }
        println!("a process admitted {line}");
    }
    assert_eq!(admitted, [50; 5]);
    server.assert_all_keys_expire();
}

/// Does nothing unless it is started by the test above.
#[test]
fn a_process_of_the_crowd() {
    let Ok(port) = env::var(PORT) else { return };
    block_on(async {
        let port = port.parse().unwrap();
        let counts = [
            fifty(port, Gcra::new(50, LONG).unwrap()).await,
            fifty(port, TokenBucket::new(50, 50, LONG).unwrap()).await,
            fifty(port, FixedWindow::new(50, LONG).unwrap()).await,
            fifty(port, SlidingWindow::new(50, LONG).unwrap()).await,
            fifty(port, SlidingWindowLog::new(50, LONG).unwrap()).await,
        ];
        let counts = counts.map(|count| count.to_string()).join(" ");
        println!("admitted {counts}");
    });
}

/// How many of fifty concurrent checks are allowed, which begin once all processes are ready.
async fn fifty<S: Scripted>(port: u16, strategy: S) -> u32 {
    let url = format!("redis://127.0.0.1:{port}");
    let store: RedisStore<S> = RedisStore::builder("crowd")
        .url(url)
        .deadline(PATIENT)
        .build()
        .unwrap();
    // It is connected before the others are waited for.
    let _ = store.peek(&strategy, "key").await.unwrap();
    meet(port, std::any::type_name::<S>()).await;
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let (store, strategy) = (store.clone(), strategy.clone());
            tokio::spawn(async move { store.check(&strategy, "key", 1).await.unwrap().allowed })
        })
        .collect();
    let mut allowed = 0;
    for task in tasks {
        allowed += u32::from(task.await.unwrap());
    }
    allowed
}

/// Waits until all processes have come to the place of this name.
async fn meet(port: u16, place: &str) {
    let mut wire = Wire::connect(port).unwrap();
    let mut come = wire.ask(&["INCR", place]).unwrap().number().unwrap();
    wire.ask(&["EXPIRE", place, "3600"]).unwrap();
    while come < PROCESSES as i64 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let text = wire.ask(&["GET", place]).unwrap().text().unwrap();
        come = text.parse().unwrap();
    }
}
