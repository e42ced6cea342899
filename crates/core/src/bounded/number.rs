//! Numbers by their exact value.

/// What a number is worth: `82000`, `82000.0` and `82000.00` are one. Doubles would also take 9007199254740993 for
/// 9007199254740992.
///
/// With an exponent only the same text is the same number: 1e400 has no digits that anybody would write out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Number<'a> {
    Plain { negative: bool, whole: &'a str, fraction: &'a str },
    Exponent(&'a str),
}

impl<'a> Number<'a> {
    /// Of a number as JSON writes it.
    pub(super) fn of(text: &'a str) -> Self {
        if text.contains(['e', 'E']) {
            return Self::Exponent(text);
        }
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        Self::Plain { negative: negative && !(whole == "0" && fraction.is_empty()), whole, fraction }
    }
}
