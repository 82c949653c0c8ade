//! A cluster of servers.

use std::net::TcpListener;

use super::redis::{RedisServer, free_port, pause};
use crate::servers::Answer;

/// Masters, each with a replica, that share the 16,384 slots.
#[derive(Debug)]
pub struct RedisCluster {
    /// The masters at first, then a replica of each in the same order.
    nodes: Vec<RedisServer>,
    masters: usize,
}

const SLOTS: usize = 16_384;

impl RedisCluster {
    /// Three masters with a replica each, which takes over about a second after its master is gone.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[must_use]
    pub fn start() -> Self {
        let masters = 3;
        let settings = [
            "--cluster-enabled",
            "yes",
            "--cluster-config-file",
            "nodes.conf",
            "--cluster-node-timeout",
            "1000",
            "--cluster-replica-validity-factor",
            "0",
            "--repl-diskless-sync-delay",
            "0",
        ];
        let nodes = (0..2 * masters)
            .map(|_| RedisServer::start_on(port_with_bus, &settings))
            .collect();
        let cluster = Self { nodes, masters };
        cluster.join();
        cluster
    }

    fn join(&self) {
        for (number, node) in self.nodes.iter().enumerate() {
            node.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &(number + 1).to_string()]);
        }
        for (number, node) in self.nodes[..self.masters].iter().enumerate() {
            let first = number * SLOTS / self.masters;
            let last = (number + 1) * SLOTS / self.masters - 1;
            // By ranges is new in Redis 7.
            let slots = (first..=last).map(|slot| slot.to_string());
            let command = ["CLUSTER".to_owned(), "ADDSLOTS".to_owned()];
            let command: Vec<_> = command.into_iter().chain(slots).collect();
            node.ask(&command);
        }
        for node in &self.nodes[1..] {
            self.nodes[0].ask(&["CLUSTER", "MEET", "127.0.0.1", &node.port().to_string()]);
        }
        let all = self.nodes.len();
        self.wait("every node knows every other", |node| known(node) == all);
        for number in 0..self.masters {
            let master = id(&self.nodes[number]);
            self.nodes[self.masters + number].ask(&["CLUSTER", "REPLICATE", &master]);
        }
        self.wait("all slots are served", |node| {
            says(node, &["CLUSTER", "INFO"], "cluster_state:ok")
        });
        for replica in &self.nodes[self.masters..] {
            self.wait("replicas are in step", |_| {
                says(replica, &["INFO", "replication"], "master_link_status:up")
            });
        }
    }

    fn wait(&self, what: &str, holds: impl Fn(&RedisServer) -> bool) {
        for _ in 0..3_000 {
            let running = self.nodes.iter().filter(|node| node.is_running());
            if running.into_iter().all(&holds) {
                return;
            }
            pause(std::time::Duration::from_millis(10));
        }
        panic!("the cluster never came to the point that {what}");
    }

    /// Its URL, which names all nodes.
    #[must_use]
    pub fn url(&self) -> String {
        let [first, rest @ ..] = &self.nodes[..] else {
            return String::new();
        };
        let rest: Vec<_> = rest
            .iter()
            .map(|node| format!("node=127.0.0.1:{}", node.port()))
            .collect();
        format!(
            "redis-cluster://127.0.0.1:{}?{}",
            first.port(),
            rest.join("&")
        )
    }

    /// The masters at first, then a replica of each in the same order.
    #[must_use]
    pub fn nodes(&self) -> &[RedisServer] {
        &self.nodes
    }

    /// The node that was a master at first.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn node_mut(&mut self, number: usize) -> &mut RedisServer {
        &mut self.nodes[number]
    }

    /// The number of the master, at first, that holds a key.
    ///
    /// # Panics
    ///
    /// If the cluster does not answer.
    #[must_use]
    pub fn home_of(&self, key: &str) -> usize {
        let slot = self.slot_of(key);
        (0..self.masters)
            .find(|number| slot < (number + 1) * SLOTS / self.masters)
            .unwrap_or_default()
    }

    /// Waits until the replica of a master has taken its place.
    ///
    /// # Panics
    ///
    /// If it never does.
    pub fn wait_for_failover(&self, master: usize) {
        let replica = &self.nodes[self.masters + master];
        self.wait("a replica is a master", |_| {
            says(replica, &["INFO", "replication"], "role:master")
        });
        self.wait("all slots are served again", |node| {
            says(node, &["CLUSTER", "INFO"], "cluster_state:ok")
        });
    }

    /// Gives the slot of a key, whose keys have [moved](RedisCluster::start_moving), to another master.
    ///
    /// # Panics
    ///
    /// If a step fails.
    pub fn finish_moving(&self, key: &str, to: usize) {
        let slot = self.slot_of(key).to_string();
        let owner = id(&self.nodes[to]);
        for node in [to, self.home_of(key)] {
            self.nodes[node].ask(&["CLUSTER", "SETSLOT", &slot, "NODE", &owner]);
        }
    }

    fn slot_of(&self, key: &str) -> usize {
        let running = self.nodes.iter().find(|node| node.is_running());
        let slot = running.and_then(|node| node.ask(&["CLUSTER", "KEYSLOT", key]).number());
        slot.and_then(|slot| usize::try_from(slot).ok())
            .unwrap_or_default()
    }

    /// Moves the keys of a slot from one master to another, and leaves the slot where it is: halfway.
    ///
    /// # Panics
    ///
    /// If a step fails.
    pub fn start_moving(&self, key: &str, to: usize) {
        let from = &self.nodes[self.home_of(key)];
        let to = &self.nodes[to];
        let slot = self.slot_of(key).to_string();
        to.ask(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &id(from)]);
        from.ask(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &id(to)]);
        let keys = from.ask(&["CLUSTER", "GETKEYSINSLOT", &slot, "1000"]);
        for key in keys
            .list()
            .unwrap_or_default()
            .iter()
            .filter_map(Answer::text)
        {
            from.ask(&[
                "MIGRATE",
                "127.0.0.1",
                &to.port().to_string(),
                &key,
                "0",
                "5000",
            ]);
        }
    }

    /// Claims that every key on every master will expire.
    ///
    /// # Panics
    ///
    /// If one will not.
    pub fn assert_all_keys_expire(&self) {
        let running = self.nodes.iter().filter(|node| node.is_running());
        // Of a key that it has by replication a node of a cluster does not tell how long it lives: it redirects the question.
        for node in running.filter(|node| says(node, &["INFO", "replication"], "role:master")) {
            node.assert_all_keys_expire();
        }
    }
}

fn id(node: &RedisServer) -> String {
    node.ask(&["CLUSTER", "MYID"]).text().unwrap_or_default()
}

/// How many nodes a node is connected to, itself included.
fn known(node: &RedisServer) -> usize {
    let nodes = node.ask(&["CLUSTER", "NODES"]).text().unwrap_or_default();
    nodes
        .lines()
        .filter(|line| line.contains(" connected") && !line.contains("handshake"))
        .count()
}

fn says(node: &RedisServer, question: &[&str], answer: &str) -> bool {
    let said = node.ask(question).text().unwrap_or_default();
    said.lines().any(|line| line == answer)
}

/// A free port whose cluster bus, 10,000 further up, is free too.
fn port_with_bus() -> u16 {
    for _ in 0..1_000 {
        let port = free_port();
        if let Some(bus) = port.checked_add(10_000)
            && TcpListener::bind(("127.0.0.1", bus)).is_ok()
        {
            return port;
        }
    }
    panic!("no free pair of ports on the loopback interface");
}
