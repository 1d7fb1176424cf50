//! Numbers with units, as text: "250ms", "500/s", "20%".

use seawall::Span;

/// Units of time with their length in nanoseconds. Longer names first where one begins with another.
const UNITS: &[(&str, u64)] = &[
    ("min", 60_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ns", 1),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// A length of time: one or more of number and unit, such as `250ms`, `1.5s`, `.01s`, `2h`, `1m30s`, `5 min`.
///
/// Exact: what cannot be expressed in whole nanoseconds is rounded to the nearest, and refused if that
/// would turn something into nothing.
pub(crate) fn parse_span(text: &str) -> Result<Span, String> {
    if text.starts_with('-') {
        return Err(format!("a length of time cannot be negative, got {text:?}"));
    }
    let mut rest = text;
    let mut total = 0u64;
    while !rest.is_empty() {
        let (number, after) = split_number(rest).ok_or_else(|| no_span(text))?;
        let after = after.trim_start();
        let unit = UNITS.iter().find(|(name, _)| after.starts_with(name));
        let Some(&(name, nanos)) = unit else {
            return Err(if after.is_empty() {
                format!("{text:?} has no unit: write \"{text}ms\" or \"{text}s\"")
            } else {
                no_span(text)
            });
        };
        let part = scaled(number, nanos).ok_or_else(|| format!("{text:?} is too long"))?;
        if part == 0 && number.bytes().any(|b| matches!(b, b'1'..=b'9')) {
            return Err(format!("{text:?} is less than a nanosecond"));
        }
        total = total
            .checked_add(part)
            .ok_or_else(|| format!("{text:?} is too long"))?;
        rest = after[name.len()..].trim_start();
    }
    if text.is_empty() {
        Err(no_span(text))
    } else {
        Ok(Span(total))
    }
}

fn no_span(text: &str) -> String {
    format!("expected a length of time such as \"250ms\", \"1.5s\" or \"10min\", got {text:?}")
}

/// Things per second: `500/s`, `40/min`, `3.2/s`, `40 rpm`, `500 rps`.
pub(crate) fn parse_rate(text: &str) -> Result<f64, String> {
    let wrong = || format!("expected a rate such as \"500/s\" or \"40/min\", got {text:?}");
    let (number, after) = split_number(text).ok_or_else(wrong)?;
    let unit = after.trim_start();
    let per_second = match unit {
        "" => {
            return Err(format!(
                "{text:?} has no unit: write \"{text}/s\" or \"{text}/min\""
            ));
        }
        "rps" | "qps" => 1.0,
        "rpm" => 60.0,
        _ => {
            let unit = unit.strip_prefix('/').ok_or_else(wrong)?.trim_start();
            let (_, nanos) = UNITS
                .iter()
                .find(|(name, _)| *name == unit)
                .ok_or_else(wrong)?;
            *nanos as f64 / 1e9
        }
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let rate = number / per_second;
    if rate.is_finite() {
        Ok(rate)
    } else {
        Err(wrong())
    }
}

/// Units of memory with their length in bytes.
const SIZES: &[(&str, u64)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// An amount of memory: `512MiB`, `4GB`, `1.5 GiB`.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("expected an amount of memory such as \"512MiB\" or \"4GB\", got {text:?}");
    let (number, after) = split_number(text).ok_or_else(wrong)?;
    let unit = after.trim_start();
    if unit.is_empty() {
        return Err(format!("{text:?} has no unit: write \"{text}MB\""));
    }
    let size = SIZES.iter().find(|(name, _)| *name == unit);
    let &(_, bytes) = size.ok_or_else(wrong)?;
    scaled(number, bytes).ok_or_else(|| format!("{text:?} is too much"))
}

/// A number of percent, as its hundredth: `20%`.
pub(crate) fn parse_percent(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%')?.trim_end();
    let (digits, "") = split_number(number)? else {
        return None;
    };
    let percent: f64 = digits.parse().ok()?;
    percent.is_finite().then(|| percent / 100.0)
}

/// A multiple: `3x`.
pub(crate) fn parse_times(text: &str) -> Option<f64> {
    let number = text.strip_suffix(['x', '×'])?.trim_end();
    let (digits, "") = split_number(number)? else {
        return None;
    };
    digits
        .parse()
        .ok()
        .filter(|factor: &f64| factor.is_finite())
}

/// Decimal digits with at most one point, at least one digit, off the front.
pub(super) fn split_number(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let points = number.bytes().filter(|&b| b == b'.').count();
    (points <= 1 && number.len() > points).then_some((number, rest))
}

/// `number` × `unit`, exactly, rounded to the nearest whole (halves up); `None` if too large.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    // No unit has more than 14 digits, so later digits of the fraction cannot matter.
    let mut nanos = 0u128;
    let mut scale = 1u128;
    for digit in fraction.bytes().take(20) {
        scale *= 10;
        nanos = nanos * 10 + u128::from(digit - b'0');
    }
    let part = (nanos * u128::from(unit) * 2 + scale) / (scale * 2);
    whole
        .checked_mul(unit)?
        .checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory_have_a_unit() {
        assert_eq!(parse_bytes("64KiB"), Ok(65_536));
        assert_eq!(parse_bytes("1.5 GiB"), Ok(3 << 29));
        assert_eq!(parse_bytes("4GB"), Ok(4_000_000_000));
        for wrong in ["4", "4 gb", "GB", "-1GB", "99999999999TB", ""] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn spans_are_exact() {
        for (text, nanos) in [
            ("250ms", 250_000_000),
            ("1.5s", 1_500_000_000),
            (".01s", 10_000_000),
            ("0.100s", 100_000_000),
            ("10min", 600_000_000_000),
            ("10m", 600_000_000_000),
            ("2h", 7_200_000_000_000),
            ("1d", 86_400_000_000_000),
            ("100us", 100_000),
            ("100µs", 100_000),
            ("5ns", 5),
            ("0s", 0),
            ("1m30s", 90_000_000_000),
            ("1h 2min 3.5s", 3_723_500_000_000),
            ("5 min", 300_000_000_000),
            ("0.1ms", 100_000),
            ("1.0000000005s", 1_000_000_001),
            ("0.3333333333333333333333333s", 333_333_333),
            ("18446744073.709551615s", u64::MAX),
        ] {
            assert_eq!(parse_span(text), Ok(Span(nanos)), "{text}");
        }
    }

    #[test]
    fn what_is_no_span_is_refused_with_the_mend() {
        for (text, expected) in [
            ("250", "has no unit: write \"250ms\" or \"250s\""),
            ("250 parsecs", "expected a length of time such as \"250ms\""),
            ("", "expected a length of time"),
            ("ms", "expected a length of time"),
            ("1.2.3s", "expected a length of time"),
            ("1e3s", "expected a length of time"),
            (".s", "expected a length of time"),
            ("-5ms", "cannot be negative"),
            ("0.1ns", "less than a nanosecond"),
            ("18446744073.709551616s", "too long"),
            ("600000d", "too long"),
        ] {
            let message = parse_span(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn a_span_shown_reads_back_as_itself() {
        let mut nanos = 1u64;
        for _ in 0..2000 {
            assert_eq!(parse_span(&Span(nanos).to_string()), Ok(Span(nanos)));
            nanos = nanos
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1)
                >> (nanos % 60);
        }
        assert_eq!(parse_span(&Span::ZERO.to_string()), Ok(Span::ZERO));
        assert_eq!(parse_span(&Span::MAX.to_string()), Ok(Span::MAX));
    }

    #[test]
    fn rates_are_per_second() {
        for (text, rate) in [
            ("500/s", 500.0),
            ("40/min", 40.0 / 60.0),
            ("3.2/s", 3.2),
            ("40 rpm", 40.0 / 60.0),
            ("7rps", 7.0),
            ("1/h", 1.0 / 3600.0),
            ("2 / ms", 2000.0),
            ("0/s", 0.0),
        ] {
            assert_eq!(parse_rate(text), Ok(rate), "{text}");
        }
        assert!(parse_rate("500").unwrap_err().contains("write \"500/s\""));
        for text in ["", "/s", "5/parsec", "-5/s", "5 s", "5/", "1e999/s"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn percents_and_multiples() {
        assert_eq!(parse_percent("20%"), Some(0.2));
        assert_eq!(parse_percent("0.2 %"), Some(0.002));
        assert_eq!(parse_percent("20"), None);
        assert_eq!(parse_percent("-1%"), None);
        assert_eq!(parse_times("3x"), Some(3.0));
        assert_eq!(parse_times("1.5 ×"), Some(1.5));
        assert_eq!(parse_times("x"), None);
    }
}
