//! The exchanges of the CM-5 paper, worked out with pencil and paper from its text. The schedules that its tables show
//! are in `cm5_tables`.

use endpoint::{Endpoint, Message, Program, Result, World};
use maquette_collectives::all_to_all::{Complete, CompleteExchange, Irregular};
use maquette_collectives::schedule::{Pattern, Schedule, SendReceiveOrder, Transfer};
use quantities::{Bytes, Duration, Rank};
use virtual_worlds::loggp::Clock;

use crate::cm5_tables::pattern_p;
use crate::worlds::MODEL;

/// Table 10 exactly as it is printed, one step a line.
const TABLE_10_AS_PRINTED: [&str; 6] = [
    "0 <-> 1, 2 <-> 3, 4 <-> 5, 6 <-> 7",
    "0 <-> 3, 1 <-> 2, 4 <-> 7, 5 <-> 6",
    "0 -> 5, 1 <-> 4, 3 <-> 6",
    "0 <-> 6, 1 <-> 5, 3 <-> 4",
    "1 -> 6, 3 -> 5, 2 <-> 4, 7 -> 0",
    "1 <-> 7, 6 -> 2",
];

/// Section 3.4, figure 4, by hand: the partners of each of eight processors in steps 1 to 7. Processor p has the
/// virtual number p + 1, the last one 0; its partner in step j has the virtual number of p xor j, and is the processor
/// before that number, or the last one for 0. So processor 2, with virtual number 3, meets the virtual numbers 2 1 0 7
/// 6 5 4, which are processors 1 0 7 6 5 4 3.
const BALANCED_PARTNERS: [[u32; 7]; 8] = [
    [7, 2, 1, 4, 3, 6, 5],
    [2, 7, 0, 5, 6, 3, 4],
    [1, 0, 7, 6, 5, 4, 3],
    [4, 5, 6, 7, 0, 1, 2],
    [3, 6, 5, 0, 7, 2, 1],
    [6, 3, 4, 1, 2, 7, 0],
    [5, 4, 3, 2, 1, 0, 7],
    [0, 1, 2, 3, 4, 5, 6],
];

/// Section 3.2, figure 2, by hand: in step j a processor meets its own number xor j.
const PAIRWISE_PARTNERS: [[u32; 7]; 8] = [
    [1, 2, 3, 4, 5, 6, 7],
    [0, 3, 2, 5, 4, 7, 6],
    [3, 0, 1, 6, 7, 4, 5],
    [2, 1, 0, 7, 6, 5, 4],
    [5, 6, 7, 0, 1, 2, 3],
    [4, 7, 6, 1, 0, 3, 2],
    [7, 4, 5, 2, 3, 0, 1],
    [6, 5, 4, 3, 2, 1, 0],
];

/// The messages of each step as (sender, receiver), in order.
fn steps(schedule: &Schedule) -> Vec<Vec<(u32, u32)>> {
    let messages = |step: &Vec<Transfer>| {
        let mut pairs: Vec<(u32, u32)> = step.iter().map(|it| (it.from.0, it.to.0)).collect();
        pairs.sort_unstable();
        pairs
    };
    schedule.steps.iter().map(messages).collect()
}

/// The same of a printed table.
fn printed(table: &[&str]) -> Vec<Vec<(u32, u32)>> {
    let messages = |step: &&str| {
        let mut pairs = Vec::new();
        for entry in step.split(", ") {
            let words: Vec<&str> = entry.split(' ').collect();
            let (one, other): (u32, u32) = (words[0].parse().unwrap(), words[2].parse().unwrap());
            pairs.push((one, other));
            if words[1] == "<->" {
                pairs.push((other, one));
            }
        }
        pairs.sort_unstable();
        pairs
    };
    table.iter().map(messages).collect()
}

/// The text counts 8 steps for linear scheduling, 6 for pairwise, 7 for balanced and 6 for greedy. Processor 1 has six
/// messages to send, so that none can have fewer than 6.
#[test]
fn pattern_p_takes_as_many_steps_as_the_text_says() {
    let carrying =
        |algorithm: Irregular| steps(&algorithm.schedule(&pattern_p())).iter().filter(|it| !it.is_empty()).count();
    assert_eq!(pattern_p().of_sender(Rank(1)).len(), 6);
    let four = [Irregular::Linear, Irregular::Pairwise, Irregular::Balanced, Irregular::Greedy];
    assert_eq!(four.map(carrying), [8, 6, 7, 6]);
    assert_eq!(four.map(|it| steps(&it.schedule(&pattern_p())).concat().len()), [34; 4]);
}

/// P has a message from 4 to 2 and none from 2 to 4, which table 10 prints nevertheless. All else in the table is as we
/// make it.
#[test]
fn table_10_as_printed_has_one_message_too_many() {
    let bytes = |from, to| pattern_p().bytes(Rank(from), Rank(to)).0;
    assert_eq!([bytes(4, 2), bytes(2, 4)], [1, 0]);
    let ours = steps(&Irregular::Greedy.schedule(&pattern_p()));
    let mut table = printed(&TABLE_10_AS_PRINTED);
    assert_eq!(table.concat().len(), 35);
    table[4].retain(|&message| message != (2, 4));
    assert_eq!(ours, table);
}

/// Returns the partners of a rank in the order in which it has their messages.
struct Partners(Complete);

impl Program for Partners {
    type Output = Vec<u32>;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<u32>> {
        let (mut partners, order) = (Vec::new(), SendReceiveOrder::Alternating);
        let (message_for, take) = (|_| Message::of_size(Bytes(1)), |from: Rank, _| partners.push(from.0));
        let exchange = CompleteExchange::new(self.0.algorithm(Some(order), Duration::ZERO), Bytes(1));
        exchange.exchange(endpoint, message_for, take).await?;
        Ok(partners)
    }
}

/// The partners of each processor, step by step, as the schedule says.
fn scheduled_partners(algorithm: Irregular) -> Vec<Vec<u32>> {
    let steps = steps(&algorithm.schedule(&Pattern::complete(8, Bytes(1)).unwrap()));
    (0..8).map(|me| steps.iter().flatten().filter(|it| it.0 == me).map(|it| it.1).collect()).collect()
}

#[test]
fn every_processor_meets_its_partners_in_the_order_of_the_figures() {
    for (algorithm, schedule, by_hand) in [
        (Complete::Balanced, Irregular::Balanced, BALANCED_PARTNERS),
        (Complete::Pairwise, Irregular::Pairwise, PAIRWISE_PARTNERS),
    ] {
        let (met, _) = Clock::new(MODEL).run(8, &Partners(algorithm)).unwrap();
        let met: Vec<Vec<u32>> = met.into_iter().map(|partners| partners.unwrap()).collect();
        assert_eq!(met, by_hand, "{}", algorithm.name());
        assert_eq!(scheduled_partners(schedule), by_hand, "{}", algorithm.name());
    }
}

/// Section 3.4 defines the virtual number as the physical number minus 1, and figure 4 as that plus 1. With the
/// sentence, virtual 0 and 2 meet in step 2, which are processors 1 and 3. That is figure 4 with the processors counted
/// from the other end: ours follows the figure.
#[test]
fn the_sentence_of_section_3_4_is_the_mirror_image_of_its_figure() {
    let by_the_sentence = [
        "0 <-> 7, 1 <-> 2, 3 <-> 4, 5 <-> 6",
        "0 <-> 6, 1 <-> 3, 2 <-> 4, 5 <-> 7",
        "0 <-> 5, 1 <-> 4, 2 <-> 3, 6 <-> 7",
        "0 <-> 4, 1 <-> 5, 2 <-> 6, 3 <-> 7",
        "0 <-> 3, 1 <-> 6, 2 <-> 5, 4 <-> 7",
        "0 <-> 2, 1 <-> 7, 3 <-> 5, 4 <-> 6",
        "0 <-> 1, 2 <-> 7, 3 <-> 6, 4 <-> 5",
    ];
    let ours = steps(&Irregular::Balanced.schedule(&Pattern::complete(8, Bytes(1)).unwrap()));
    let mirrored = ours.iter().map(|step| {
        let mut step: Vec<(u32, u32)> = step.iter().map(|&(from, to)| (7 - from, 7 - to)).collect();
        step.sort_unstable();
        step
    });
    assert_eq!(mirrored.collect::<Vec<_>>(), printed(&by_the_sentence));
    assert_ne!(ours, printed(&by_the_sentence));
}

/// Section 3.4: "at every step two processors in a cluster communicate with each other and two communicate with
/// processors in a remote cluster". With eight processors in two clusters step 4 is an exception: there virtual numbers
/// differ by 4, so all exchanges leave.
#[test]
fn among_eight_processors_half_of_each_cluster_stays_in_it_in_all_steps_but_the_fourth() {
    let ours = steps(&Irregular::Balanced.schedule(&Pattern::complete(8, Bytes(1)).unwrap()));
    let leave = ours.iter().map(|step| step.iter().filter(|(from, to)| from / 4 != to / 4).count());
    assert_eq!(leave.collect::<Vec<_>>(), [4, 4, 4, 8, 4, 4, 4]);
}

/// The exchanges through the root in each step, among so many processors.
fn through_the_root(algorithm: Complete, processors: u32) -> Vec<usize> {
    let schedule = algorithm.schedule(processors, Bytes(1)).unwrap();
    // Each exchange is a message each way.
    schedule.root_crossings(processors / 4).into_iter().map(|messages| messages / 2).collect()
}

/// Section 3.4: of N processors under four subtrees, 3N/4 x N/2 exchanges go through the root: 12 x 8, 48 x 32 and 192
/// x 128.
const THROUGH_THE_ROOT: [(u32, usize); 3] = [(16, 96), (64, 1_536), (256, 24_576)];

/// With pairwise exchange they are all the exchanges of 3N/4 steps. The partner is in the same subtree as long as j is
/// below N/4.
#[test]
fn pairwise_exchange_crosses_the_root_with_everything_in_three_steps_of_four() {
    for (processors, exchanges) in THROUGH_THE_ROOT {
        let found = through_the_root(Complete::Pairwise, processors);
        let (quarter, half) = (processors as usize / 4, processors as usize / 2);
        let by_hand = [vec![0; quarter - 1], vec![half; 3 * quarter]].concat();
        assert_eq!(found, by_hand, "{processors}");
        assert_eq!(found.iter().sum::<usize>(), exchanges, "{processors}");
    }
}

/// With balanced exchange they are spread over all N - 1 steps, though not evenly. Let q = N/4, and j = a q + b.
/// Processors are a number below their virtual ones, so only those whose virtual number is a multiple of q are in the
/// subtree before that of their number.
///
/// ```text
///   a = 0            only these leave their subtree: 4 exchanges
///   b = 0            they meet each other, and everyone is a subtrees away: N/2
///   a = 1, a = 3     one in two of these is before the subtree of its partner's number, which it meets there: N/2 - 2
///   a = 2            none is: N/2
/// ```
#[test]
fn balanced_exchange_crosses_the_root_in_every_step() {
    for (processors, exchanges) in THROUGH_THE_ROOT {
        let (quarter, half) = (processors as usize / 4, processors as usize / 2);
        let by_hand = (1..processors as usize).map(|j| match (j / quarter, j % quarter) {
            (0, _) => 4,
            (_, 0) | (2, _) => half,
            _ => half - 2,
        });
        let found = through_the_root(Complete::Balanced, processors);
        assert_eq!(found, by_hand.collect::<Vec<_>>(), "{processors}");
        assert_eq!(found.iter().sum::<usize>(), exchanges, "{processors}");
    }
    assert_eq!(through_the_root(Complete::Balanced, 16), [4, 4, 4, 8, 6, 6, 6, 8, 8, 8, 8, 8, 6, 6, 6]);
}
