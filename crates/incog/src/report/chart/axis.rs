//! Round numbers along an axis.

/// From numbers to places in a picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) from: [f64; 2],
    pub(crate) to: [f64; 2],
}

impl Scale {
    pub(crate) fn place(&self, number: f64) -> f64 {
        let [low, high] = self.from;
        let share = if high > low { (number - low) / (high - low) } else { 0.0 };
        self.to[0] + share * (self.to[1] - self.to[0])
    }
}

/// Round numbers from one to another, about as many as asked for: 1, 2 or 5 of a power of ten apart, and at least `least`. Each with
/// how it is written.
pub(crate) fn ticks(low: f64, high: f64, about: usize, least: f64) -> Vec<(f64, String)> {
    if high <= low || !(high - low).is_finite() {
        return vec![(low, written(low, 0))];
    }
    let rough = ((high - low) / about.max(1) as f64).max(least);
    let power = rough.log10().floor();
    let unit = 10_f64.powf(power);
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * unit);
    // A little room for what floats make of 0.1.
    let step = step.into_iter().find(|&step| step >= rough * (1.0 - 1e-9)).unwrap_or(10.0 * unit);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|n| n as f64 * step).map(|number| (number, written(number, digits))).collect()
}

/// With as many digits as the step has, or as a power of ten where numbers are large.
fn written(number: f64, digits: usize) -> String {
    if number.abs() >= 1e7 { format!("{number:e}") } else { format!("{:.digits$}", number + 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64, least: f64) -> Vec<String> {
        ticks(low, high, 5, least).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_lie_inside() {
        assert_eq!(texts(0.0, 0.2733, 0.0), ["0.0", "0.1", "0.2"]);
        assert_eq!(texts(0.0, 0.08, 0.0), ["0.00", "0.02", "0.04", "0.06", "0.08"]);
        assert_eq!(texts(0.0, 1.0, 0.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(2.0, 100.0, 1.0), ["20", "40", "60", "80", "100"]);
        assert_eq!(texts(0.0, 4e9, 0.0), ["0", "1e9", "2e9", "3e9", "4e9"]);
    }

    #[test]
    fn whole_numbers_have_whole_ticks() {
        assert_eq!(texts(2.0, 5.0, 1.0), ["2", "3", "4", "5"]);
        assert_eq!(texts(2.0, 2.0, 1.0), ["2"]);
    }
}
