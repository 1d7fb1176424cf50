//! Numbers as people read them: `1.2 k/s`, `250 ms`, `64×`, `12 %`.
//!
//! Three significant digits; data files never use these.

/// `x` with three significant digits and no trailing zeros: `0.00123`, `1.5`, `12.3`, `123`.
#[must_use]
pub fn plain(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".into() } else { "–".into() };
    }
    let magnitude = libm::log10(x.abs()).floor() as i32;
    let decimals = (2 - magnitude).clamp(0, 9) as usize;
    let text = format!("{x:.decimals$}");
    let text = match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.'),
        None => &text,
    };
    text.replacen('-', "−", 1)
}

/// `x` with up to nine digits and no trailing zeros, for values that are round by themselves: `7200`.
#[must_use]
pub fn plain_long(x: f64) -> String {
    let text = format!("{x:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// `x` with a decimal prefix: `950`, `1.2 k`, `3.4 M`. The prefix is separated by a space and may be
/// followed by a unit.
#[must_use]
pub fn prefixed(x: f64) -> String {
    const PREFIXES: [(f64, &str); 4] = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    for (size, name) in PREFIXES {
        // Rounding to three digits may carry: 999.7 reads as 1 k.
        if x.abs() >= size * 0.9995 {
            return plain(x / size) + name;
        }
    }
    plain(x)
}

/// A rate: `1.2 k/s`.
#[must_use]
pub fn rate(per_second: f64) -> String {
    prefixed(per_second)
        + if per_second.abs() >= 999.5 {
            "/s"
        } else {
            " /s"
        }
}

/// A length of time given in seconds: `250 ms`, `1.5 s`, `8 min 5 s`, `2 h`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let s = seconds.abs();
    if s == 0.0 {
        return "0 s".into();
    }
    for (limit, size, unit) in [(1e-6, 1e-9, "ns"), (1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms")] {
        if s < limit * 0.9995 {
            return format!("{} {unit}", plain(seconds / size));
        }
    }
    if s < 119.5 {
        return format!("{} s", plain(seconds));
    }
    let (whole, sign) = (s.round() as u64, if seconds < 0.0 { "−" } else { "" });
    let (big, big_name, small, small_name) = match whole {
        0..7200 => (whole / 60, "min", whole % 60, "s"),
        _ => (whole / 3600, "h", whole % 3600 / 60, "min"),
    };
    if small == 0 {
        format!("{sign}{big} {big_name}")
    } else {
        format!("{sign}{big} {big_name} {small} {small_name}")
    }
}

/// A factor: `64×`.
#[must_use]
pub fn times(x: f64) -> String {
    prefixed(x) + "×"
}

/// A share of one: `12.3 %`; never rounded up to 100 % nor down to 0 %.
#[must_use]
pub fn share(x: f64) -> String {
    let percent = x * 100.0;
    if percent < 100.0 && percent > 99.95 {
        return if percent >= 99.9995 {
            "> 99.999 %".into()
        } else {
            format!("{percent:.3} %")
        };
    }
    if percent > 0.0 && percent < 0.0005 {
        return "< 0.001 %".into();
    }
    plain(percent) + " %"
}

/// A count, exact, in groups of three: `1 234 567` (thin no-break spaces).
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_no_more() {
        let cases = [
            (0.0, "0"),
            (64.0, "64"),
            (1.2345, "1.23"),
            (0.0012345, "0.00123"),
            (123.4, "123"),
            (999.6, "1000"),
            (-2.5, "−2.5"),
            (f64::NAN, "–"),
        ];
        for (x, text) in cases {
            assert_eq!(plain(x), text);
        }
    }

    #[test]
    fn prefixes_and_units() {
        assert_eq!(rate(900.0), "900 /s");
        assert_eq!(rate(1234.0), "1.23 k/s");
        assert_eq!(rate(999.7), "1 k/s");
        assert_eq!(prefixed(2_500_000.0), "2.5 M");
        assert_eq!(times(64.0), "64×");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(count(100), "100");
    }

    #[test]
    fn time_reads_in_the_unit_people_use() {
        let cases = [
            (0.0, "0 s"),
            (1e-9, "1 ns"),
            (2.5e-5, "25 µs"),
            (0.25, "250 ms"),
            (0.99999, "1 s"),
            (1.5, "1.5 s"),
            (90.0, "90 s"),
            (485.0, "8 min 5 s"),
            (600.0, "10 min"),
            (9000.0, "2 h 30 min"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
    }

    #[test]
    fn a_share_is_whole_only_when_it_is() {
        assert_eq!(share(1.0), "100 %");
        assert_eq!(share(0.99999), "99.999 %");
        assert_eq!(share(0.9999999), "> 99.999 %");
        assert_eq!(share(0.0), "0 %");
        assert_eq!(share(0.0000001), "< 0.001 %");
        assert_eq!(share(0.123), "12.3 %");
    }
}
