//! Counts as a person reads them.

/// `41208` as `41,208`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things: `1 execution`, `41,208 executions`. `noun` is one that takes an s.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_stand_between_groups_of_three() {
        let shown = [0, 999, 1000, 41_208, 123_456, u64::MAX].map(thousands);
        assert_eq!(shown, ["0", "999", "1,000", "41,208", "123,456", "18,446,744,073,709,551,615"]);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|n| count(n, "execution")), ["0 executions", "1 execution", "2 executions"]);
    }
}
