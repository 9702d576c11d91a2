//! Student's t distribution: how many standard errors an estimate may be off.

/// The factor t by which the standard error is multiplied for 95% confidence, where `freedom` is the number of samples
/// less that of fitted parameters.
///
/// Source: the table of any textbook up to 10; above that Abramowitz and Stegun, "Handbook of Mathematical Functions",
/// 26.7.5, which is accurate to 4 digits there.
pub fn quantile_95(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    if freedom == 0 {
        return f64::INFINITY;
    }
    if let Some(known) = TABLE.get(freedom - 1) {
        return *known;
    }
    // The corresponding quantile of the normal distribution.
    const X: f64 = 1.959_963_985;
    let n = freedom as f64;
    let x2 = X * X;
    let g1 = X * (x2 + 1.0) / 4.0;
    let g2 = X * ((5.0 * x2 + 16.0) * x2 + 3.0) / 96.0;
    let g3 = X * (((3.0 * x2 + 19.0) * x2 + 17.0) * x2 - 15.0) / 384.0;
    X + g1 / n + g2 / (n * n) + g3 / (n * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checked against printed tables of the distribution.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        let known =
            [(1, 12.706), (10, 2.228), (11, 2.201), (15, 2.131), (20, 2.086), (30, 2.042), (60, 2.000), (120, 1.980)];
        for (freedom, t) in known {
            assert!((quantile_95(freedom) - t).abs() < 6e-4, "{freedom}: {}", quantile_95(freedom));
        }
        assert!(quantile_95(0).is_infinite());
    }
}
