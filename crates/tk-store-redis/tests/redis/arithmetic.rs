//! The scripts' arithmetic is exact.

use tk_testkit::{
    Random,
    servers::{Answer, RedisServer, Wire},
};

const MULDIV: &str = include_str!("../../src/script/shared/muldiv.lua");

/// The quotient and the remainder, as a server computes them; the quotient saturates at 2^53.
fn muldiv(wire: &mut Wire, [a, b, c]: [u64; 3]) -> (u64, u64) {
    let script = format!(
        "local floor = math.floor\n{MULDIV}\nlocal q, r = muldiv(ARGV[1] + 0, ARGV[2] + 0, ARGV[3] + 0)\n\
         return {{ math.min(q, 9007199254740992), r }}"
    );
    let [a, b, c] = [a, b, c].map(|number| number.to_string());
    let answer = wire.ask(&["EVAL", &script, "0", &a, &b, &c]).unwrap();
    let Answer::List(pair) = &answer else {
        panic!("{answer:?}");
    };
    (
        pair[0].number().unwrap() as u64,
        pair[1].number().unwrap() as u64,
    )
}

#[test]
fn products_of_two_numbers_below_2_to_the_53_are_divided_exactly() {
    let server = RedisServer::start();
    let mut wire = server.wire();
    let mut random = Random::new(53);
    let edges = [
        0,
        1,
        2,
        (1 << 24) - 1,
        1 << 24,
        (1 << 26) + 1,
        (1 << 45) - 1,
        1 << 45,
        (1 << 48) - 1,
        1 << 48,
        (1 << 53) - 1,
    ];
    for i in 0..30_000 {
        let mut draw = |max: u64| {
            if random.chance(25) {
                random.choose(&edges).min(max)
            } else {
                let high = (1 << random.within(1, 53)) - 1;
                random.up_to(high).min(max)
            }
        };
        let (a, b, c) = (
            draw((1 << 53) - 1),
            draw((1 << 53) - 1),
            draw(1 << 48).max(1),
        );
        let product = u128::from(a) * u128::from(b);
        let quotient = (product / u128::from(c)).min(1 << 53) as u64;
        let rest = (product % u128::from(c)) as u64;
        assert_eq!(
            muldiv(&mut wire, [a, b, c]),
            (quotient, rest),
            "{a} * {b} / {c}, case {i}"
        );
    }
}
