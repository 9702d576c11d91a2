//! The memory of a broadcast, with the sizes that the paper prints in its section 4.2 and the sums done by hand.

use maquette_messaging::memory::Points;

fn kibibytes(send: f64, receive: f64, light: f64) -> Points {
    Points { send: send * 1_024.0, receive: receive * 1_024.0, light: light * 1_024.0 }
}

fn is_about(found: f64, by_hand: f64) {
    assert!((found - by_hand).abs() < 5e-6, "{found} instead of {by_hand}");
}

/// In KiB:
///
/// ```text
///   n      (33.8 + 41.4) n     33.8 + 4.4 (n - 1) + 41.4 n               saved
///   1              75.2        33.8 +   0   +   41.4 =   75.2            0
///   2             150.4        33.8 +   4.4 +   82.8 =  121.0        29.4 / 150.4  = 0.19548
///   4             300.8        33.8 +  13.2 +  165.6 =  212.6        88.2 / 300.8  = 0.29322
///   128          9625.6        33.8 + 558.8 + 5299.2 = 5891.8      3733.8 / 9625.6 = 0.38790
/// ```
#[test]
fn the_sums_are_those_of_the_printed_sizes() {
    let points = Points::PUBLISHED;
    for (n, separate, shared, saved) in [
        (1, 75.2, 75.2, 0.0),
        (2, 150.4, 121.0, 0.195_48),
        (4, 300.8, 212.6, 0.293_22),
        (128, 9_625.6, 5_891.8, 0.387_90),
    ] {
        is_about(points.separate(n) / 1_024.0, separate);
        is_about(points.shared(n) / 1_024.0, shared);
        is_about(points.saved(n), saved);
    }
    // (33.8 - 4.4) / (33.8 + 41.4): what very many ranks save.
    is_about(points.saved(100_000_000), 0.390_957);
}

/// The paper prints 0.386 (1 - 1/n), and so 38.3 % at 128 ranks. Sizes that are printed as 33.8, 41.4 and 4.4 KiB save
/// more than that: at the least 29.3 / 75.2 = 0.38963 (1 - 1/n), where they are 33.75, 41.45 and 4.45. Either 4.8 KiB
/// in place of 4.4 would save what is printed, 29.0 / 75.2 = 0.38564, or 42.4 in place of 41.4, 29.4 / 76.2 = 0.38583.
#[test]
fn what_is_printed_does_not_follow_from_sizes_that_are_rounded_as_printed() {
    let very_many = 100_000_000;
    let mut least = f64::INFINITY;
    for (send, receive, light) in [-0.05, 0.05]
        .iter()
        .flat_map(|a| [-0.05, 0.05].map(|b| (*a, b)))
        .flat_map(|(a, b)| [-0.05, 0.05].map(|c| (a, b, c)))
    {
        least = least.min(kibibytes(33.8 + send, 41.4 + receive, 4.4 + light).saved(very_many));
    }
    is_about(least, 0.389_628);
    assert!(least > 0.3865, "it would be printed as 0.386");
    is_about(kibibytes(33.8, 41.4, 4.8).saved(very_many), 0.385_638);
    is_about(kibibytes(33.8, 42.4, 4.4).saved(very_many), 0.385_827);
    is_about(kibibytes(33.8, 41.4, 4.8).saved(128), 0.382_626);
    is_about(kibibytes(33.8, 42.4, 4.4).saved(128), 0.382_813);
}
