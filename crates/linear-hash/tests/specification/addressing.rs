//! LH*: no request is forwarded more than twice, and images converge to the truth.

use maquette_linear_hash::{Extent, Image, Split, forward, h};
use proptest::prelude::*;

/// The servers that a request for C goes to in a file of this extent, beginning with `first`; the last has the key.
fn route(file: Extent, first: u32, c: u64) -> Vec<u32> {
    let mut visited = vec![first];
    while let Some(next) = forward(visited[visited.len() - 1], file.level(visited[visited.len() - 1]), c) {
        assert!(next < file.buckets(), "{next} is no server of {file:?}");
        visited.push(next);
        assert!(visited.len() <= 3, "{visited:?} for {c} in {file:?}");
    }
    visited
}

/// Every file of up to 512 servers, every image that is not ahead of it, every pair of servers that a key can have in
/// the two.
#[test]
fn no_request_is_sent_on_more_than_twice_whatever_the_image() {
    let mut cases = [0_u64; 3];
    for file in (1..=512).map(Extent::of) {
        for image in (1..=file.buckets()).map(Extent::of) {
            for c in 0..2 << file.i() {
                let visited = route(file, image.index(c), c);
                assert_eq!(visited.last(), Some(&file.index(c)));
                cases[visited.len() - 1] += 1;
            }
        }
    }
    let all = cases.iter().sum::<u64>() as f64;
    let percent = cases.map(|count| (count as f64 / all * 100.0).round());
    assert_eq!(percent, [50.0, 44.0, 6.0]);
}

/// While server n splits, it keeps its old level: requests for keys that have already moved are forwarded to the new
/// server, and requests there for keys that have not are sent back. Only the keys of server n are routed differently
/// from before the split.
#[test]
fn no_request_is_sent_on_more_than_twice_while_a_server_splits() {
    for before in (1..=512).map(Extent::of) {
        let Some(Split { from, to, level }) = before.next_split() else { continue };
        let next = |a: u32, c: u64, gone: bool| match () {
            () if a == to => forward(to, level, c).or((!gone).then_some(from)),
            () if a == from && h(level, c) == to && gone => Some(to),
            () => forward(a, before.level(a), c),
        };
        for image in (1..=to + 1).map(Extent::of) {
            for c in (0..4).map(|k| u64::from(from) | k << before.i()) {
                for gone in [false, true] {
                    let (mut at, mut forwards) = (image.index(c), 0);
                    while let Some(on) = next(at, c, gone) {
                        (at, forwards) = (on, forwards + 1);
                        assert!(forwards <= 2, "{c} by {image:?} while {from} splits to {to}");
                    }
                    assert_eq!(at, if gone && h(level, c) == to { to } else { from });
                }
            }
        }
    }
}

/// The bounds that follow from any report give the same image as the paper's A3 for the first server's report.
#[test]
fn an_older_image_learns_from_the_first_server_what_a3_says() {
    for file in (1..=200).map(Extent::of) {
        for image in (1..=file.buckets()).map(Extent::of) {
            for c in 0..2 << file.i() {
                let a = image.index(c);
                if a == file.index(c) {
                    continue;
                }
                let (mut by_rule, mut by_bounds) = (Image::of(image), Image::of(image));
                by_rule.grow(a, file.level(a));
                by_bounds.adjust(a, file.level(a));
                assert_eq!(by_rule, by_bounds, "{image:?} of {file:?}, server {a}");
                assert!(by_rule.extent() <= file);
            }
        }
    }
}

/// What a server's number and level imply about the number of servers, for every file of up to 600: no more and no less
/// than
///
/// ```text
///   a <  2^(j-1)         2^(j-1) + a + 1 <= M <= 2^j + a
///   a >= 2^(j-1)                   a + 1 <= M <= 2^j + a
/// ```
#[test]
fn an_image_comes_to_the_bounds_of_what_a_server_says() {
    for file in (1..=600).map(Extent::of) {
        for a in 0..file.buckets() {
            let j = file.level(a);
            let half = if j > 0 && a < 1 << (j - 1) { 1 << (j - 1) } else { 0 };
            let (least, most) = (half + a + 1, (1 << j) + a);
            assert!((least..=most).contains(&file.buckets()), "server {a} of level {j} in {file:?}");
            for believed in [1, least - 1, least, file.buckets(), most, most + 1, 5_000] {
                let mut image = Image::of(Extent::of(believed));
                image.adjust(a, j);
                assert_eq!(image.extent().buckets(), believed.max(1).clamp(least, most));
            }
        }
    }
}

/// How many adjustments a new client needs, with random keys, until it is never wrong again.
fn adjustments(servers: u32, seed: u64) -> u32 {
    let (file, mut image, mut state) = (Extent::of(servers), Image::default(), seed);
    let mut adjustments = 0;
    while image.extent() != file {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let c = state >> 20;
        let visited = route(file, image.address(c), c);
        if visited.len() > 1 {
            adjustments += 1;
            image.adjust(visited[0], file.level(visited[0]));
        }
    }
    adjustments
}

#[test]
fn a_new_client_is_adjusted_about_as_often_as_there_are_levels() {
    for (servers, due) in [(64, 5.0), (512, 7.1), (4_096, 9.1)] {
        let runs = 400;
        let mean = (0..runs).map(|seed| adjustments(servers, seed)).sum::<u32>() as f64 / runs as f64;
        assert!((mean - due).abs() < 0.3, "{mean} adjustments for {servers} servers, {due} were due");
    }
}

proptest! {
    /// This includes images that are ahead: every report is true of the file, so an image never gets worse.
    #[test]
    fn reports_bring_any_image_nearer(servers in 1u32..5_000, believed in 1u32..5_000, a in any::<prop::sample::Index>()) {
        let file = Extent::of(servers);
        let a = a.index(servers as usize) as u32;
        let mut image = Image::of(Extent::of(believed));
        image.adjust(a, file.level(a));
        let after = image.extent().buckets();
        prop_assert!(after.abs_diff(servers) <= believed.abs_diff(servers));
        prop_assert!(after == believed || (after > believed) == (servers > believed));
    }

    #[test]
    fn the_last_server_and_its_split_partner_say_the_truth(servers in 1u32..5_000, believed in 1u32..5_000) {
        let file = Extent::of(servers);
        let mut image = Image::of(Extent::of(believed));
        for a in [file.n(), servers - 1, 0, file.n().saturating_sub(1)] {
            image.adjust(a, file.level(a));
        }
        prop_assert_eq!(image.extent(), file);
    }
}
