//! Reads any text as a latency, a share of nodes or an operator. What is read is written and read again, and what
//! follows from it for a number of nodes is worked out: none of it may fail, and no tree may beat the lower bound.

#![no_main]

use collectives::all_reduce::{Census, Operator};
use collectives::postal::{
    Alpha, AlphaTable, Delay, Lambda, Splitting, alpha_for_all, asymptote, broadcast_time, predicted_time, table_sizes,
    triangles,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, &str, &str)| {
    let (nodes, share, text) = input;
    if let Ok(operator) = text.parse::<Operator>() {
        assert_eq!(operator.to_string(), text);
    }
    let alpha = share.parse::<Alpha>().unwrap_or(Alpha::HALF);
    assert_eq!(alpha.to_string().parse(), Ok(alpha));
    let Ok(lambda) = text.parse::<Lambda>() else { return };
    assert_eq!(lambda.to_string().parse(), Ok(lambda));
    let n = u64::from(nodes);
    let bound = broadcast_time(lambda, n);
    assert_eq!(predicted_time(lambda, n, &Splitting::Table(AlphaTable::new(lambda, n))), bound);
    assert!(predicted_time(lambda, n, &Splitting::Fixed(alpha)) >= bound);
    assert!(table_sizes(lambda, n).len() >= triangles(lambda, n).len());
    alpha_for_all(lambda, n);
    asymptote(lambda);
    for delay in [Delay::Receive, Delay::Send] {
        assert!(delay.time(lambda, n) >= bound);
        Census::new(delay.rounds_under_way(lambda), u32::from(nodes)).exchanges();
    }
});
