//! What a fleet admits in a window, at most and at least.

use tk_core::SlidingWindowLog;
use tk_twotier::{DenyCache, Mode};

use super::{
    l2::L2,
    node::{Node, carried, coupled, millis, pass, per_second, settle},
};

fn fleet(l2: &L2<tk_core::FixedWindow>, limit: u64, mode: &Mode, nodes: usize) -> Vec<Node> {
    let node = |_| Node::new(l2, per_second(limit), mode.clone());
    (0..nodes).map(node).collect()
}

async fn hammer(nodes: &[Node], calls: u64) -> u64 {
    let mut admitted = 0;
    for _ in 0..calls {
        for node in nodes {
            admitted += u64::from(node.admits(1).await);
        }
    }
    admitted
}

#[tokio::test]
async fn each_mode_admits_exactly_the_limit_on_one_node() {
    let modes = [
        Mode::Strict,
        Mode::CachedDeny(DenyCache::default()),
        carried(4),
        coupled(4),
    ];
    for mode in modes {
        let l2 = L2::new();
        let node = Node::new(&l2, per_second(10), mode);
        assert_eq!(node.hammer(12).await, 10);
    }
}

#[tokio::test]
async fn credits_do_not_pass_the_edge_of_a_coupled_window() {
    for (mode, bound) in [(coupled(4), 10), (carried(4), 10 + 3 * 3)] {
        let l2 = L2::new();
        let nodes = fleet(&l2, 10, &mode, 3);
        pass(&l2, &nodes, millis(900));
        assert_eq!(hammer(&nodes, 1).await, 3);
        assert_eq!(l2.log().granted, 10);
        pass(&l2, &nodes, millis(100));
        assert_eq!(
            hammer(&nodes, 40).await,
            bound - if bound > 10 { 2 } else { 0 }
        );
    }
}

#[tokio::test]
async fn a_reply_that_crosses_the_edge_is_dropped_and_asked_for_again() {
    for mode in [coupled(4), carried(4)] {
        let l2 = L2::new();
        let nodes = fleet(&l2, 4, &mode, 1);
        pass(&l2, &nodes, millis(900));
        l2.replies(false);
        let waiter = nodes[0].spawn(1);
        settle().await;
        pass(&l2, &nodes, millis(100));
        l2.replies(true);
        assert!(waiter.await.expect("no panic"));
        assert_eq!(nodes[0].tier.stats().late, 4);
        assert_eq!(
            nodes[0].hammer(9).await,
            3,
            "the new window has four in all"
        );
    }
}

#[tokio::test]
async fn a_clock_that_is_behind_spends_nothing_after_the_edge() {
    let l2 = L2::new();
    let nodes = fleet(&l2, 10, &coupled(10), 2);
    // The first node's wall is half a second behind, and it will be cut off.
    nodes[0]
        .clock
        .set_wall(tk_core::Timestamp::from_millis(59_999_500));
    pass(&l2, &nodes, millis(700));
    assert!(nodes[0].admits(1).await);
    l2.requests(false);
    assert!(nodes[0].hits());
    pass(&l2, &nodes, millis(300));
    assert!(
        !nodes[0].hits(),
        "by its wall the window has half a second left"
    );
    l2.requests(true);
    assert_eq!(hammer(&nodes, 40).await, 10);
}

#[tokio::test]
async fn two_nodes_do_not_answer_for_ever_from_what_one_of_them_knew() {
    let cases = [
        (Mode::Strict, 1),
        (Mode::CachedDeny(DenyCache::default()), 1),
        (coupled(1), 1),
        (carried(1), 1),
    ];
    for (mode, bound) in cases {
        let l2 = L2::new();
        assert_eq!(hammer(&fleet(&l2, 1, &mode, 2), 15).await, bound);
    }
}

#[tokio::test]
async fn four_processes_in_a_region_admit_the_limit_together() {
    let l2 = L2::new();
    let nodes = fleet(&l2, 20, &coupled(8), 4);
    for _ in 0..5 {
        assert_eq!(hammer(&nodes, 30).await, 20);
        pass(&l2, &nodes, millis(1_000));
    }
}

#[tokio::test]
async fn a_hot_node_gets_what_the_others_leave() {
    let l2 = L2::new();
    let nodes = fleet(&l2, 100, &coupled(5), 2);
    for window in 0..5 {
        let mut hot = 0;
        for call in 0..100 {
            if call % 10 == 0 {
                let _ = nodes[1].admits(1).await;
            } else {
                hot += u64::from(nodes[0].admits(1).await);
            }
        }
        assert!(hot >= 80, "window {window}: {hot}");
        pass(&l2, &nodes, millis(1_000));
    }
}

#[tokio::test]
async fn a_hungry_coupled_fleet_admits_nearly_all_of_each_window() {
    let (limit, count) = (1_000, 10);
    let l2 = L2::new();
    let nodes = fleet(&l2, limit, &coupled(limit / (10 * count)), count as usize);
    for window in 0..5 {
        let admitted = hammer(&nodes, 2 * limit / count).await;
        assert!(
            (990..=limit).contains(&admitted),
            "window {window}: {admitted}"
        );
        pass(&l2, &nodes, millis(1_000));
    }
}

#[tokio::test]
async fn a_log_without_edges_admits_its_limit_and_what_was_carried_over() {
    let strategy = SlidingWindowLog::per_second(10).expect("a limit within the range");
    let l2 = L2::new();
    let nodes: Vec<_> = (0..2)
        .map(|_| Node::new(&l2, strategy, carried(4)))
        .collect();
    let mut admitted = 0;
    for _ in 0..20 {
        for node in &nodes {
            admitted += u64::from(node.admits(1).await);
        }
    }
    assert_eq!(admitted, 10);
}
