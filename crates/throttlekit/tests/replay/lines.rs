//! What is made of a line.

use crate::{NOON, json, line, replay};

#[test]
fn clients_are_told_apart_by_what_was_asked_for() {
    let lines = [
        line("2001:db8:0:1::1", NOON, "/a?x=1"),
        line("2001:db8:0:1::2", NOON, "/a?x=2"),
        line("::ffff:192.0.2.1", NOON, "/b"),
        line("192.0.2.1", NOON, "/b"),
    ]
    .concat();
    let keys = |key: &str| {
        json(&["-", "--key", key], lines.as_bytes())["keys"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(keys("ip"), 3);
    assert_eq!(keys("ip64"), 2);
    assert_eq!(keys("path"), 2);
    assert_eq!(keys("field:6"), 1);
}

#[test]
fn a_line_that_lacks_the_key_is_not_called_unreadable() {
    let log = line("192.0.2.1", NOON, "/");
    let report = json(&["-", "--key", "field:99"], log.as_bytes());
    assert_eq!(
        (&report["unreadable"], &report["without_key"]),
        (&0.into(), &1.into())
    );
    let output = replay(&["-", "--key", "field:99"], log.as_bytes());
    let (shown, told) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(
        shown.contains("1 lines have nothing to be counted per"),
        "{shown}"
    );
    assert!(told.contains("has what `--key` names"), "{told}");
}

#[test]
fn what_a_client_sent_reaches_no_terminal_unescaped() {
    let log = line("192.0.2.1", NOON, "/\x1b[2J\u{202e}\u{9b}31m").repeat(3);
    let output = replay(&["-", "--key", "path", "--limit", "1"], log.as_bytes());
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains(r"/\u{1b}[2J\u{202e}\u{9b}31m"), "{shown}");
    assert!(!shown.contains(['\x1b', '\u{202e}', '\u{9b}']));
}

#[test]
fn broken_lines_are_counted_and_shown_and_never_fatal() {
    let mut log = line("192.0.2.1", NOON, "/").into_bytes();
    log.extend(
        b"\n\nno log line\n192.0.2.1 - - [31/Feb/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n",
    );
    log.extend(
        b"192.0.2.1 - - [01/Jan/1950:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n\xff\xfe\x00\n",
    );
    log.extend(vec![b'x'; 200_000]);
    log.extend(b"\n");
    log.extend(line("192.0.2.1", NOON, "/").as_bytes());
    let report = json(&["-"], &log);
    assert_eq!(
        (&report["requests"], &report["unreadable"]),
        (&2.into(), &5.into())
    );
}

#[test]
fn an_empty_or_binary_file_is_reported_as_such() {
    for input in [&b""[..], &[0, 159, 146, 150, 10, 0, 1][..]] {
        let output = replay(&["-"], input);
        assert!(output.status.success());
        assert!(
            String::from_utf8(output.stderr)
                .unwrap()
                .contains("holds no request")
        );
    }
}

#[test]
fn a_client_is_one_however_its_server_writes_the_address() {
    let one = |key: &str, hosts: &[&str]| {
        let lines: String = hosts.iter().map(|host| line(host, NOON, "/")).collect();
        let report = json(&["-", "--key", key, "--limit", "1"], lines.as_bytes());
        assert_eq!(report["keys"], 1, "{hosts:?}");
        report["worst_keys"][0]["key"].as_str().unwrap().to_owned()
    };
    let v6 = [
        "2001:db8::1",
        "[2001:DB8:0::1]",
        "[2001:db8::1]:443",
        "2001:db8::0:1",
    ];
    assert_eq!(one("ip", &v6), "2001:db8::1");
    let v4 = [
        "192.0.2.1",
        "192.0.2.1:4711",
        "::ffff:192.0.2.1",
        "[::ffff:c000:201]",
        "[::ffff:192.0.2.1]:80",
    ];
    assert_eq!(one("ip", &v4), "192.0.2.1");
    assert_eq!(one("ip64", &v4), "192.0.2.1");
    let scoped = ["fe80::1%eth0", "[FE80::1%eth0]", "[fe80:0::1%eth0]:80"];
    assert_eq!(one("ip", &scoped), "fe80::1%eth0");
    assert_eq!(
        one("ip64", &["[fe80::1%eth0]:80", "fe80::2%eth0"]),
        "fe80::%eth0"
    );
    assert_eq!(
        one("ip64", &["[2001:db8::1]:80", "2001:db8::2"]),
        "2001:db8::"
    );
}

#[test]
fn what_is_no_address_is_a_name() {
    let hosts = [
        "fe80::1%eth0",
        "fe80::1%eth1",
        "client.example",
        "client.example:80",
        "[2001:db8::1",
        "[2001:db8::1]x",
        "[2001:db8::1]:99999",
        "192.0.2.1:x",
        "192.0.2.1:",
        "[]",
        "%",
        "\u{e9}t\u{e9}",
    ];
    let lines: String = hosts.map(|host| line(host, NOON, "/")).concat();
    for key in ["ip", "ip64"] {
        assert_eq!(
            json(&["-", "--key", key], lines.as_bytes())["keys"],
            hosts.len()
        );
    }
}

#[test]
fn a_user_name_is_never_taken_for_the_time() {
    let users = [
        ("ann", "ann"),
        ("ann of the [board]", "ann of the [board]"),
        ("[ann]", "ann"),
        ("[", "["),
        ("]", "]"),
        ("a [ b", "a [ b"),
        ("\"ann [x] b\"", "ann [x] b"),
        ("[01/Jan/2020:00:00:00 +0000]", "01/Jan/2020:00:00:00 +0000"),
        (
            "x [01/Jan/2020:00:00:00 +0000] \\\"GET /x HTTP/1.1\\\"",
            "x [01/Jan/2020:00:00:00 +0000] \\\"GET /x HTTP/1.1\\\"",
        ),
    ];
    for (user, name) in users {
        let log = format!("192.0.2.1 - {user} [{NOON}] \"GET /a [b] HTTP/1.1\" 200 5\n").repeat(2);
        let worst = |key: &str| {
            let report = json(&["-", "--limit", "1", "--key", key], log.as_bytes());
            assert_eq!(
                report["peak_minute"]["minute"], "2026-11-30 12:00 UTC",
                "{user}"
            );
            report["worst_keys"][0]["key"].as_str().unwrap().to_owned()
        };
        assert_eq!(worst("path"), "/a");
        assert_eq!(worst("field:1"), "192.0.2.1");
        assert_eq!(worst("field:3"), name);
        assert_eq!(worst("field:4"), NOON);
        assert_eq!(worst("field:5"), "GET /a [b] HTTP/1.1");
        assert_eq!(worst("field:6"), "200");
    }
}

#[test]
fn time_of_any_zone_is_one_instant_and_a_leap_second_the_one_before() {
    let times = [
        "01/Jan/2017:13:59:59 +1400",
        "31/Dec/2016:11:59:59 -1200",
        "31/Dec/2016:23:59:59 +0000",
        "31/Dec/2016:23:59:60 +0000",
    ];
    let lines: String = times.map(|time| line("192.0.2.1", time, "/")).concat();
    let report = json(&["-"], lines.as_bytes());
    assert_eq!(
        (&report["requests"], &report["out_of_order"]),
        (&4.into(), &0.into())
    );
    assert_eq!(report["peak_minute"]["requests"], 4);
}

#[test]
fn a_long_key_is_shortened_between_two_characters() {
    let path = |fill: usize| format!("/{}\x1b\x1b", "a".repeat(fill));
    for (fill, shown) in [
        (29, format!("/{}\\u{{1b}}\\u{{1b}} ", "a".repeat(29))),
        (30, format!("/{}\\u{{1b}}… ", "a".repeat(30))),
        (35, format!("/{}… ", "a".repeat(35))),
        (41, format!("/{}… ", "a".repeat(40))),
    ] {
        let log = line("192.0.2.1", NOON, &path(fill)).repeat(2);
        let output = replay(&["-", "--key", "path", "--limit", "1"], log.as_bytes());
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(table.contains(&format!("\n{shown}")), "{table}");
    }
    let log = format!("{}\n", "ä".repeat(81));
    let output = replay(&["-"], log.as_bytes());
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(
        shown.contains(&format!("line 1: {}…\n", "ä".repeat(79))),
        "{shown}"
    );
}
