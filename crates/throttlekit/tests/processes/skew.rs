//! Clocks that are wrong.

use tk_testkit::servers::RedisServer;

use crate::fleet::Fleet;

/// The walls of the processes' nodes are wrong by up to 5 seconds, which is ten windows.
#[test]
fn four_processes_with_skewed_walls_never_exceed_a_coupled_limit() {
    let server = RedisServer::start();
    let sized = ["--limit", "400", "--batch", "10", "--window", "500ms"];
    let timed = ["--skew", "5s", "--seconds", "3"];
    let lived = Fleet::start(&server.url(), &[sized.as_slice(), &timed].concat()).end();
    assert!(lived.held, "{}", lived.error);
    assert_eq!(lived.modes.len(), 4);
    for mode in &lived.modes {
        let most = mode["max"].as_u64().unwrap();
        let over = if mode["mode"] == "leased, carried over" {
            4 * 9
        } else {
            0
        };
        assert!(most <= 400 + over, "{mode}");
        // Demand is twice the limit; a machine that is busy may not ask all of it in time.
        assert!(most > 100, "{mode}");
    }
    let keys = server.keys();
    assert!(keys.iter().all(|(_, left)| *left != -1), "{keys:?}");
}
