//! Fits t0 and lambda to times over k.

use quantities::Duration;

use super::student::quantile_95;

/// The most times that are fitted: their sums stay below 2^127.
pub const MOST_SAMPLES: usize = 4_096;
/// The most partners of a sample.
pub const MOST_PARTNERS: u32 = 64;

/// The experiment that times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// T = t0 (k - 1 + 2 lambda): [`super::OneAnswer`].
    OneAnswer,
    /// T = 2 t0 (k - 1 + lambda): [`super::AllAnswered`].
    AllAnswered,
}

/// A measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// k, the number of partners.
    pub partners: u32,
    /// T.
    pub time: Duration,
}

/// An estimate with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Half the width of its 95% confidence interval.
    pub confidence: f64,
}

/// The result of an experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// t0, how long a rank is busy sending a message. [ps]
    pub send_time: Figure,
    /// lambda, the time from sending a message to its receipt, in units of t0.
    pub lambda: Figure,
    /// R squared, the share of the times' variance that k accounts for.
    pub r_squared: f64,
}

/// Why no line can be fitted to some samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// Fewer than three, or too many for exact sums.
    #[error("found {0} times; allowed is 3 to {MOST_SAMPLES}")]
    Samples(usize),
    /// A sample with too many partners, or none.
    #[error("found a time with {0} partners; allowed is 1 to {MOST_PARTNERS}")]
    Range(u32),
    /// All samples with the same k.
    #[error("all times are with the same number of partners; a fit needs at least 2 different ones")]
    Partners,
    /// The times do not grow with k.
    #[error("the times do not grow with the number of partners, so no time per partner can be fitted")]
    NoGrowth,
}

/// Fits t0 and lambda to times of `experiment`, by least squares.
///
/// T is a line over x = k - 1, T = a + b x, so that
///
/// ```text
///   b = sum (x - mean x) T / sum (x - mean x)^2        a = mean T - b mean x
///   OneAnswer      t0 = b        lambda = a / 2 b
///   AllAnswered    t0 = b / 2    lambda = a / b
/// ```
///
/// The standard errors of a and b are those of linear regression, with the residual variance s^2 over N - 2; that of
/// their quotient follows to first order: var(a / b) = (var a + q^2 var b - 2 q cov(a, b)) / b^2, where q = a / b.
///
/// Source: Bruck et al., section 2.2, for the two lines; for the errors any textbook on regression.
///
/// # Errors
/// When there are too few samples or too many, or when the times do not grow with k.
pub fn fit(experiment: Experiment, samples: &[Sample]) -> Result<Measured, FitError> {
    let line = FittedLine::through(samples)?;
    let send_share = match experiment {
        Experiment::OneAnswer => 1.0,
        Experiment::AllAnswered => 0.5,
    };
    let lambda_share = match experiment {
        Experiment::OneAnswer => 0.5,
        Experiment::AllAnswered => 1.0,
    };
    let FittedLine { intercept, slope, .. } = line;
    let quotient = intercept / slope;
    let variance =
        line.intercept_variance + quotient * quotient * line.slope_variance - 2.0 * quotient * line.covariance;
    let t = quantile_95(samples.len() - 2);
    let figure = |value: f64, variance: f64, share: f64| {
        let standard_error = share * variance.max(0.0).sqrt();
        Figure {
            value: share * value,
            standard_error,
            confidence: if standard_error == 0.0 { 0.0 } else { t * standard_error },
        }
    };
    Ok(Measured {
        send_time: figure(slope, line.slope_variance, send_share),
        lambda: figure(quotient, variance / (slope * slope), lambda_share),
        r_squared: line.r_squared,
    })
}

/// T = a + b (k - 1).
struct FittedLine {
    /// a. [ps]
    intercept: f64,
    /// b. [ps]
    slope: f64,
    intercept_variance: f64,
    slope_variance: f64,
    covariance: f64,
    r_squared: f64,
}

impl FittedLine {
    /// The line with the least sum of squared differences. All sums are integers, so that times on a line
    /// reproduce that line to the last digit.
    fn through(samples: &[Sample]) -> Result<FittedLine, FitError> {
        if !(3..=MOST_SAMPLES).contains(&samples.len()) {
            return Err(FitError::Samples(samples.len()));
        }
        if let Some(wrong) = samples.iter().find(|sample| !(1..=MOST_PARTNERS).contains(&sample.partners)) {
            return Err(FitError::Range(wrong.partners));
        }
        let n = samples.len() as i128;
        let points = || samples.iter().map(|it| (i128::from(it.partners) - 1, i128::from(it.time.picoseconds())));
        let (sum_x, sum_t) = points().fold((0, 0), |sums, (x, t)| (sums.0 + x, sums.1 + t));
        // n times the deviations from the means.
        let (mut xx, mut xt, mut tt) = (0, 0, 0.0);
        for (x, t) in points() {
            let (dx, dt) = (n * x - sum_x, n * t - sum_t);
            xx += dx * dx;
            xt += dx * dt;
            tt += (dt as f64).powi(2);
        }
        if xx == 0 {
            return Err(FitError::Partners);
        }
        if xt <= 0 {
            return Err(FitError::NoGrowth);
        }
        // a = (sum t xx - xt sum x) / (n xx)
        let slope = quotient(xt, xx);
        let intercept = quotient(sum_t * xx - xt * sum_x, n * xx);
        // n xx times the residuals, which are integers too.
        let residual = |(x, t): (i128, i128)| ((n * t - sum_t) * xx - xt * (n * x - sum_x)) as f64;
        let scale = n as f64 * xx as f64;
        let squares: f64 = points().map(|point| (residual(point) / scale).powi(2)).sum();
        let variance = squares / (n - 2) as f64;
        let mean_x = sum_x as f64 / n as f64;
        // sum (x - mean x)^2
        let spread = xx as f64 / (n * n) as f64;
        let total = tt / (n * n) as f64;
        Ok(FittedLine {
            intercept,
            slope,
            intercept_variance: variance * (1.0 / n as f64 + mean_x * mean_x / spread),
            slope_variance: variance / spread,
            covariance: -variance * mean_x / spread,
            r_squared: if total == 0.0 { 1.0 } else { 1.0 - squares / total },
        })
    }
}

/// The quotient of two integers, exact where it is an integer.
fn quotient(dividend: i128, divisor: i128) -> f64 {
    (dividend / divisor) as f64 + (dividend % divisor) as f64 / divisor as f64
}
