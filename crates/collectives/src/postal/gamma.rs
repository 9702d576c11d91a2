//! How fast a broadcast grows in the long run.

use super::Lambda;

/// gamma: the factor by which the number of nodes that a broadcast reaches grows per step, in the long run; the root of
/// x^lambda = x^(lambda - 1) + 1 between 1 and 2.
///
/// Source: the postal paper, section 3.2 and Table 1.
pub fn gamma(lambda: Lambda) -> f64 {
    log_gamma(lambda.as_f64()).exp()
}

/// beta: the limit of N'(t') / N'(t' + 1) in the scaled time t' = t f; beta^f = 1 / gamma.
///
/// Source: the postal paper, section 2.5.
pub fn beta(lambda: Lambda) -> f64 {
    (-log_gamma(lambda.as_f64()) / lambda.scale() as f64).exp()
}

/// The lambda between `floor` and `floor + 1` at which delay-send and delay-receive grow equally fast: floor ln
/// gamma(floor) / ln gamma(floor + 1). Below it delay-send is faster in the long run, above it delay-receive. A `floor`
/// of zero counts as one.
///
/// Source: the postal paper, section 3.3 and Table 2.
pub fn break_even(floor: u32) -> f64 {
    let floor = f64::from(floor.max(1));
    floor * log_gamma(floor) / log_gamma(floor + 1.0)
}

/// The natural logarithm y of gamma, from e^((lambda - 1) y) (e^y - 1) = 1, whose left side grows with y.
fn log_gamma(lambda: f64) -> f64 {
    let (mut below, mut above) = (0.0f64, std::f64::consts::LN_2);
    loop {
        let middle = below + (above - below) / 2.0;
        if middle <= below || middle >= above {
            return above;
        }
        if (lambda - 1.0) * middle + middle.exp_m1().ln() < 0.0 {
            below = middle;
        } else {
            above = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_root_of_its_equation() {
        for text in ["1", "1.05", "1.8", "2.5", "7", "100", "12345.678", "100000"] {
            let lambda: Lambda = text.parse().unwrap();
            let (x, lambda) = (gamma(lambda), lambda.as_f64());
            assert!(((x - 1.0) * x.powf(lambda - 1.0) - 1.0).abs() < 1e-8, "{text}: {x}");
        }
    }

    #[test]
    fn the_ratio_of_one_level_to_the_next_tends_to_it() {
        for text in ["1", "2", "3", "1.8", "9/7"] {
            let lambda: Lambda = text.parse().unwrap();
            let nodes = |t: u64| super::super::nodes_within(lambda, super::super::Steps::new(t, 1)) as f64;
            assert!((nodes(50) / nodes(49) - gamma(lambda)).abs() < 1e-3, "{text}");
            assert!((beta(lambda).powi(lambda.scale() as i32) * gamma(lambda) - 1.0).abs() < 1e-9, "{text}");
        }
    }
}
