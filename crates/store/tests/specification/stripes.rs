//! Parity of journals, as functions on bytes: whatever members write, begin and remove, and however much of that a
//! parity member has seen, lost columns are rebuilt as it has seen them.

use std::collections::BTreeMap;

use maquette_store::parity::code::{COLUMNS, Code};
use maquette_store::parity::column::{BLOCK, Change, Effect, FileName, Piece};
use maquette_store::parity::stripes::Stripes;

use crate::pool::Draws;
use crate::seeds::of_each_seed;

type Files = BTreeMap<FileName, Vec<u8>>;

/// The files of members, as far as a parity member has seen them, and those that have ended.
#[derive(Default)]
struct Members([(Files, Vec<FileName>); COLUMNS]);

impl Members {
    /// A random change of one member's files.
    fn change(&mut self, draws: &mut Draws) -> (usize, Change) {
        let column = draws.below(COLUMNS as u64) as usize;
        let (files, ended) = &mut self.0[column];
        let number = draws.below(4);
        let file = if draws.percent(60) { FileName::log(number) } else { FileName::snapshot(number) };
        let held = files.entry(file).or_default();
        let most = [100, 3 * BLOCK as u64][draws.below(2) as usize];
        let length = 1 + draws.below(most) as usize;
        let change = if ended.contains(&file) || draws.percent(40) && !held.is_empty() {
            let at = held.len() - length.min(held.len());
            ended.retain(|other| *other != file);
            Change { file, at: at as u64, bytes: held.split_off(at), effect: Effect::Shrinks }
        } else {
            let mut bytes = vec![0; length];
            bytes.iter_mut().for_each(|byte| *byte = draws.below(256) as u8);
            let (at, is_last) = (held.len() as u64, draws.percent(20));
            held.extend_from_slice(&bytes);
            if is_last {
                ended.push(file);
            }
            Change { file, at, bytes, effect: if is_last { Effect::Ends } else { Effect::Grows } }
        };
        files.retain(|_, bytes| !bytes.is_empty());
        (column, change)
    }

    fn read(&self, column: usize, piece: Piece) -> Vec<u8> {
        let from = piece.at as usize;
        self.0[column].0[&piece.file][from..from + piece.length].to_vec()
    }
}

/// A lost column's files, rebuilt from one parity and the other columns, except one that is absent, for which another
/// parity is used.
fn rebuilt(parity: &mut Stripes, members: &Members, lost: usize, absent: Option<(usize, &Stripes)>) -> Files {
    let mut files: Files =
        parity.column(lost).files().map(|(file, extent)| (file, vec![0; extent.length as usize])).collect();
    let stripes: Vec<u32> = parity.column(lost).stripes().collect();
    for number in stripes {
        let stripe = parity.stripe(number, lost, absent.map(|(column, _)| column)).expect("something lies there");
        let others: Vec<Vec<u8>> = stripe.others.iter().map(|(column, piece)| members.read(*column, *piece)).collect();
        let other = absent.and_then(|(_, other)| other.block(number));
        let block = parity.decode(&stripe, &others, other).expect("all others are there");
        let (_, piece) = stripe.lost.expect("something lies there");
        let at = piece.at as usize;
        files.get_mut(&piece.file).unwrap()[at..at + block.len()].copy_from_slice(&block);
    }
    files
}

#[test]
fn a_lost_column_is_rebuilt_whatever_was_written_and_removed() {
    of_each_seed("a_lost_column", 6, |seed| {
        let (mut draws, mut members) = (Draws(seed), Members::default());
        let k = 1 + seed as usize % 2;
        let mut parities: Vec<Stripes> = (0..k).map(|number| Stripes::new(k, number)).collect();
        for _ in 0..60 {
            let (column, change) = members.change(&mut draws);
            for parity in &mut parities {
                assert_eq!(parity.follow(column, &change), Ok(true));
                // A change with a gap before it has no effect.
                let grows =
                    Change { at: change.at + 1 + change.bytes.len() as u64, effect: Effect::Grows, ..change.clone() };
                assert_eq!(parity.follow(column, &grows), Ok(false));
            }
        }
        for lost in 0..COLUMNS {
            for parity in &mut parities {
                assert_eq!(rebuilt(parity, &members, lost, None), members.0[lost].0, "column {lost}");
            }
        }
        for column in 0..COLUMNS {
            for (file, bytes) in &members.0[column].0 {
                let change = Change { file: *file, at: 0, bytes: bytes.clone(), effect: Effect::Shrinks };
                parities.iter_mut().for_each(|parity| assert_eq!(parity.follow(column, &change), Ok(true)));
            }
        }
        assert!(parities.iter().all(|parity| parity.size() == 0), "nothing is left where nothing lies");
    });
}

#[test]
fn two_lost_columns_are_rebuilt_from_two_parities() {
    of_each_seed("two_lost_columns", 3, |seed| {
        let (mut draws, mut members) = (Draws(seed), Members::default());
        let mut parities = [0, 1].map(|number| Stripes::new(2, number));
        for _ in 0..60 {
            let (column, change) = members.change(&mut draws);
            parities.iter_mut().for_each(|parity| assert_eq!(parity.follow(column, &change), Ok(true)));
        }
        let [one, other] = &mut parities;
        for lost in 0..COLUMNS {
            for absent in (0..COLUMNS).filter(|absent| *absent != lost) {
                let files = &members.0[lost].0;
                assert_eq!(&rebuilt(one, &members, lost, Some((absent, other))), files, "without {absent}");
                assert_eq!(&rebuilt(other, &members, lost, Some((absent, one))), files, "without {absent}");
            }
        }
    });
}

#[test]
fn a_parity_that_is_made_while_columns_change_equals_one_that_has_followed_all() {
    of_each_seed("while_columns_change", 20, |seed| {
        let (mut draws, mut members) = (Draws(seed), Members::default());
        let (mut lead, mut follower) = (Stripes::new(2, 0), Stripes::new(2, 1));
        let change = |members: &mut Members, draws: &mut Draws, parities: &mut [&mut Stripes]| {
            let (column, change) = members.change(draws);
            parities.iter_mut().for_each(|parity| assert_eq!(parity.follow(column, &change), Ok(true)));
        };
        for _ in 0..40 {
            change(&mut members, &mut draws, &mut [&mut lead, &mut follower]);
        }
        let mut made = Stripes::unmade(2, 1, lead.layouts());
        for (request, number) in (1..).zip(lead.occupied()) {
            // The stripe is requested again, so the answer to the first request does not count.
            made.begin_stripe(number, 0);
            made.begin_stripe(number, request);
            let stripe = lead.whole_stripe(number);
            let blocks: Vec<Vec<u8>> =
                stripe.others.iter().map(|(column, piece)| members.read(*column, *piece)).collect();
            let bytes = lead.decode(&stripe, &blocks, None).expect("all are there");
            for _ in 0..draws.below(3) {
                change(&mut members, &mut draws, &mut [&mut lead, &mut follower, &mut made]);
            }
            made.make(number, 0, &bytes);
            made.make(number, request, &bytes);
            made.make(number, request, &bytes);
        }
        made.end_making().expect("nothing is left where nothing lies");
        assert_eq!(made.occupied(), follower.occupied());
        for stripe in follower.occupied() {
            assert_eq!(made.block(stripe), follower.block(stripe), "stripe {stripe}");
        }
    });
}

#[test]
fn a_stripe_that_is_emptied_while_its_parity_is_made_holds_only_what_comes_later() {
    let file = |number, effect| Change { file: FileName::log(number), at: 0, bytes: vec![number as u8; 100], effect };
    let mut lead = Stripes::new(2, 0);
    let take = |parities: &mut [&mut Stripes], change: Change| {
        parities.iter_mut().for_each(|parity| assert_eq!(parity.follow(1, &change), Ok(true)));
    };
    take(&mut [&mut lead], file(1, Effect::Grows));
    // The stripe may not have begun, its answer may be on its way, or have come.
    for (begins, comes) in [(false, false), (true, false), (true, true)] {
        let mut made = Stripes::unmade(2, 1, lead.layouts());
        let stripe = lead.whole_stripe(0);
        let bytes = lead.decode(&stripe, &[vec![1; 100]], None).unwrap();
        if begins {
            made.begin_stripe(0, 7);
        }
        if comes {
            made.make(0, 7, &bytes);
        }
        take(&mut [&mut lead, &mut made], file(1, Effect::Shrinks));
        take(&mut [&mut lead, &mut made], file(2, Effect::Grows));
        made.make(0, 7, &bytes);
        made.end_making().unwrap();
        let expected = lead.decode(&lead.whole_stripe(0), &[vec![2; 100]], None).unwrap();
        assert_eq!(made.block(0), Some(&*expected), "{begins}, {comes}");
        take(&mut [&mut lead], file(2, Effect::Shrinks));
        take(&mut [&mut lead], file(1, Effect::Grows));
    }
}

#[test]
fn removing_bytes_that_were_never_written_is_an_error() {
    let mut parity = Stripes::new(1, 0);
    let grows = Change { file: FileName::log(1), at: 0, bytes: vec![7; 100], effect: Effect::Grows };
    assert_eq!(parity.follow(2, &grows), Ok(true));
    let other = Change { bytes: vec![8; 100], effect: Effect::Shrinks, ..grows };
    assert!(parity.follow(2, &other).is_err());
}

#[test]
fn any_k_lost_blocks_are_rebuilt_from_the_others_and_k_parities() {
    let mut draws = Draws(5);
    for k in 1..=2 {
        let mut code = Code::new(k);
        let blocks: Vec<Vec<u8>> = (0..COLUMNS).map(|_| (0..640).map(|_| draws.below(256) as u8).collect()).collect();
        let mut parities = vec![vec![0; 640]; k];
        for (parity, sum) in parities.iter_mut().enumerate() {
            for (column, block) in blocks.iter().enumerate() {
                // In parts of any lengths.
                let mut from = 0;
                while from < block.len() {
                    let to = (from + 1 + draws.below(200) as usize).min(block.len());
                    let (first, term) = code.term(parity, column, from, &block[from..to]).unwrap();
                    sum[first..].iter_mut().zip(term).for_each(|(byte, term)| *byte ^= term);
                    from = to;
                }
            }
        }
        let parities: Vec<(usize, &[u8])> = parities.iter().map(|sum| &**sum).enumerate().collect();
        for lost in 0..1_u32 << COLUMNS {
            if lost.count_ones() as usize > k || lost == 0 {
                continue;
            }
            let left = std::array::from_fn(|column| (lost >> column & 1 == 0).then(|| &*blocks[column]));
            for (column, block) in code.decode(&left, &parities).unwrap() {
                assert_eq!(block, blocks[column], "k = {k}, lost {lost:04b}, column {column}");
            }
        }
    }
}
