//! Difference of two rows, with its standard error from their own rounds.

use super::By;
use crate::results::row::Row;
use crate::stats;

/// Quantity that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Ratio to the reference of the same rounds. Drift hits both, and cancels.
    Ratio,
    /// Datagrams received per second. Used if a run has no reference.
    Absolute,
}

/// Two values of one case, with their difference. Logarithms are symmetric: a ratio and its inverse are equally far
/// from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) measure: Measure,
    pub(super) base: f64,
    pub(super) new: f64,
    /// Logarithm of new over base.
    pub(super) log: f64,
    /// Standard error of `log`, from the scatter within the two runs.
    pub(super) error: f64,
    /// Degrees of freedom of `error`.
    pub(super) freedom: f64,
}

/// Estimate of one row, with its variance from the rounds.
struct Middle {
    value: f64,
    /// Variance of the logarithm of the value.
    variance: f64,
    freedom: f64,
}

impl Difference {
    /// Compares two rows of a case.
    ///
    /// # Errors
    /// Returns an error if the rows cannot be compared, and says why.
    pub(super) fn between(base: &Row, new: &Row, by: By) -> Result<Self, String> {
        if by == By::Speed && base.target_pps.is_some() {
            let why = "at a given rate the speed is what was asked for; use --by cpu";
            return Err(why.to_owned());
        }
        let have_ratios = ratio(base, by).is_some() && ratio(new, by).is_some();
        let measure = match by {
            _ if have_ratios => Measure::Ratio,
            By::Speed => Measure::Absolute,
            By::Cpu => return Err("CPU time is compared by its ratio to the reference".to_owned()),
        };
        let middle = |row, name: &str| {
            let middle = match measure {
                Measure::Ratio => middle_of_ratios(row, by),
                Measure::Absolute => middle_of_speeds(row),
            };
            middle.map_err(|problem| format!("{problem} in {name}"))
        };
        let (base, new) = (middle(base, "BASE")?, middle(new, "NEW")?);
        let variance = base.variance + new.variance;
        // Welch, Biometrika 34 (1947) 28-35.
        let freedom = variance.powi(2)
            / (base.variance.powi(2) / base.freedom + new.variance.powi(2) / new.freedom);
        let difference = Self {
            measure,
            base: base.value,
            new: new.value,
            log: new.value.ln() - base.value.ln(),
            error: variance.sqrt(),
            freedom,
        };
        if difference.log.is_finite() && freedom.is_finite() && difference.error < MOST_ERROR {
            Ok(difference)
        } else {
            Err("its scatter is too large".to_owned())
        }
    }
}

impl Difference {
    /// Adds a standard error to the difference if it is one of ratios, because drift affects ratios.
    pub(super) fn with(self, error: f64) -> Self {
        match self.measure {
            Measure::Ratio => Self {
                // `hypot` would need glibc 2.35.
                error: (self.error.powi(2) + error.powi(2)).sqrt(),
                ..self
            },
            Measure::Absolute => self,
        }
    }
}

pub(super) fn ratio(row: &Row, by: By) -> Option<f64> {
    match by {
        By::Speed => row.ratio_to_std,
        By::Cpu => row.cpu_ratio_to_std,
    }
}

fn middle_of_ratios(row: &Row, by: By) -> Result<Middle, String> {
    let deviation_pct = match by {
        By::Speed => row.ratio_sd_pct,
        By::Cpu => row.cpu_ratio_sd_pct,
    };
    let Some(pairs) = row.ratio_pairs else {
        return Err("no scatter of the ratios (ratio_pairs)".to_owned());
    };
    if pairs < 2 {
        return Err("fewer than 2 pairs with the reference".to_owned());
    }
    let deviation_pct = deviation_pct.ok_or("a window without datagrams")?;
    let value = ratio(row, by).ok_or("no ratio")?;
    Middle::new(value, deviation_pct, pairs as f64, RATIO_STEP)
}

fn middle_of_speeds(row: &Row) -> Result<Middle, String> {
    let windows = row.counted_windows();
    if windows < 2 {
        return Err("fewer than 2 rounds".to_owned());
    }
    let value = row.received_pps.ok_or("no speed")?;
    let deviation_pct = row.cv_pct.ok_or("no scatter")?;
    Middle::new(value, deviation_pct, windows as f64, SPEED_STEP)
}

/// Largest standard error of a logarithm that tells anything.
const MOST_ERROR: f64 = 100.0;
/// Rounding step of ratios in rows: no value is more exact.
const RATIO_STEP: f64 = 1e-4;
const SPEED_STEP: f64 = 1.0;

impl Middle {
    fn new(value: f64, deviation_pct: f64, count: f64, step: f64) -> Result<Self, String> {
        if !(value.is_finite() && value > 0.0) {
            // `Debug` writes tiny numbers without 300 digits.
            return Err(format!("{value:?} is not a speed"));
        }
        if !(deviation_pct.is_finite() && deviation_pct >= 0.0) {
            return Err(format!("{deviation_pct:?} is not a scatter"));
        }
        let of_rounds = stats::error_of_estimate(deviation_pct / 100.0, count);
        let of_rounding = step / value / 12_f64.sqrt();
        Ok(Self {
            value,
            variance: of_rounds.powi(2) + of_rounding.powi(2),
            freedom: count - 1.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::compare::tests::row;

    #[test]
    fn the_error_is_that_of_two_estimates() {
        let (base, new) = (row("mio-level", 0.9), row("mio-level", 1.0));
        let found = Difference::between(&base, &new, By::Speed).expect("comparable");
        assert!((found.log - (1.0_f64 / 0.9).ln()).abs() < 1e-12);
        // Six rounds with 3 % scatter in both: 1.0233 x 3 % / sqrt(6) x sqrt(2).
        assert!((found.error - 0.017_725).abs() < 1e-5, "{}", found.error);
        assert!((found.freedom - 10.0).abs() < 0.01, "{}", found.freedom);
        assert_eq!(found.measure, Measure::Ratio);
    }

    #[test]
    fn what_has_no_scatter_or_no_value_says_so() {
        let base = row("mio-level", 0.9);
        let refused =
            |new: Row| Difference::between(&base, &new, By::Speed).expect_err("not comparable");
        let bare = Row {
            ratio_pairs: None,
            ..base.clone()
        };
        assert!(refused(bare).contains("(ratio_pairs)"));
        let one = Row {
            ratio_pairs: Some(1),
            ..base.clone()
        };
        assert_eq!(refused(one), "fewer than 2 pairs with the reference in NEW");
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let new = Row {
                ratio_to_std: Some(value),
                ..base.clone()
            };
            assert!(refused(new).contains("is not a speed"));
        }
        let wild = Row {
            ratio_sd_pct: Some(1e300),
            ..base.clone()
        };
        assert!(refused(wild).contains("too large"));
    }

    #[test]
    fn without_a_reference_speeds_are_compared_but_not_cpu_time() {
        let base = Row {
            ratio_to_std: None,
            cpu_ratio_to_std: None,
            cv_pct: Some(2.0),
            ..row("mio-level", 0.9)
        };
        let found = Difference::between(&base, &base, By::Speed).expect("comparable");
        assert_eq!((found.measure, found.log), (Measure::Absolute, 0.0));
        assert!(Difference::between(&base, &base, By::Cpu).is_err());
    }
}
