//! Logs that are packed.

use std::{fs, io::Write, path::PathBuf, process::Stdio};

use serde_json::Value;

use crate::{SAMPLE, json, refusal, replay, start_with};

#[expect(clippy::unwrap_used, reason = "a test helper")]
fn packed(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_reads_like_plain_text_also_in_several_members() {
    let plain = fs::read(SAMPLE).unwrap();
    let (first, second) = plain.split_at(plain.len() / 2);
    let packed = [packed(first), packed(second)].concat();
    assert_eq!(json(&["-"], &packed), json(&["-"], &plain));
}

/// A read of a datagram socket yields one message.
#[cfg(unix)]
#[test]
fn gzip_is_known_also_if_its_first_byte_comes_alone() {
    let packed = packed(&fs::read(SAMPLE).unwrap());
    let (ours, theirs) = std::os::unix::net::UnixDatagram::pair().unwrap();
    let theirs = Stdio::from(std::os::fd::OwnedFd::from(theirs));
    let child = start_with(&["-", "--json"], theirs, Stdio::piped());
    ours.send(&packed[..1]).unwrap();
    for part in packed[1..].chunks(4_096) {
        ours.send(part).unwrap();
    }
    ours.send(b"").unwrap();
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["requests"], 1_817);
}

#[test]
fn padding_and_garbage_around_gzip_are_counted_and_cost_no_report() {
    let plain = fs::read(SAMPLE).unwrap();
    let zeros = vec![0; 10_240];
    for (behind, padding, twice) in [
        (zeros.clone(), 10_240, false),
        ([&zeros[..], b"no gzip"].concat(), 10_247, false),
        (b"\x1f".to_vec(), 1, false),
        ([&zeros[..100], &packed(&plain)].concat(), 100, true),
    ] {
        let report = json(&["-"], &[packed(&plain), behind].concat());
        assert_eq!(report["ignored_bytes"], padding);
        assert_eq!(report["requests"], if twice { 2 } else { 1 } * 1_817);
    }
    let output = replay(&["-"], &[packed(&plain), zeros].concat());
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(
        shown.contains("10240 bytes around the gzip data"),
        "{shown}"
    );
}

#[test]
fn gzip_that_is_cut_or_damaged_is_reported_up_to_there_and_named() {
    let packed = packed(&fs::read(SAMPLE).unwrap());
    let mut damaged = packed.clone();
    let trailer = damaged.len() - 8;
    damaged[trailer] ^= 1;
    let half = packed.len() / 2;
    for (input, least) in [
        (&packed[..half], 500),
        (&packed[..trailer], 1_817),
        (&damaged[..], 1_817),
        (&[&packed[..], &packed[..half]].concat(), 1_817 + 500),
    ] {
        let output = replay(&["-", "--json"], input);
        assert_eq!(output.status.code(), Some(1));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(report["requests"].as_u64().unwrap() >= least, "{report}");
        assert!(report["cut"].is_string());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with("replay: standard input: "), "{error}");
        assert!(error.ends_with("; the report ends there\n"), "{error}");
    }
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("truncated.gz");
    fs::write(&file, &packed[..half]).unwrap();
    assert!(refusal(&[file.to_str().unwrap()]).contains("truncated.gz: "));
}
