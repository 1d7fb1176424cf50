//! Points in time as they stand in logs: dates or plain numbers.

/// A point in time in nanoseconds: since 1970 for a date, since zero for a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timestamp {
    pub(super) nanos: i128,
    pub(super) kind: Kind,
}

/// How a point in time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `2023-11-16 18:15:46.6805900`, with `T` for the blank, and with `Z` or an offset or neither.
    Date,
    /// `12.5` or `1.25e1`.
    Number,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Date => "a date",
            Kind::Number => "a number",
        }
    }
}

/// Reads a date with time, or a number of units of `unit` nanoseconds. Digits below a nanosecond are
/// cut off.
pub(super) fn parse(text: &str, unit: u64) -> Option<Timestamp> {
    if let Some(nanos) = number(text, unit) {
        return Some(Timestamp {
            nanos,
            kind: Kind::Number,
        });
    }
    let nanos = date(text)?;
    Some(Timestamp {
        nanos,
        kind: Kind::Date,
    })
}

fn number(text: &str, unit: u64) -> Option<i128> {
    // Far inside i128, so that sums and differences of timestamps cannot overflow.
    const MOST: f64 = 1e30;
    let nanos = if text.contains(['e', 'E']) {
        text.parse::<f64>()
            .ok()
            .map(|value| value * unit as f64)
            .filter(|x| x.abs() < MOST)? as i128
    } else {
        decimal(text, i128::from(unit))?
    };
    ((nanos as f64).abs() < MOST).then_some(nanos)
}

/// A decimal number times `unit`, exactly: as an f64, seconds since 1970 lose their nanoseconds.
fn decimal(text: &str, unit: i128) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { integer(whole)? };
    let whole = i128::from(whole).checked_mul(unit)?;
    let fraction = i128::from(billionths(fraction)?) * unit / 1_000_000_000;
    whole.checked_add(fraction).map(|sum| sign * sum)
}

/// Digits after a decimal point as billionths.
fn billionths(digits: &str) -> Option<u64> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some((0..9).fold(0, |sum, place| {
        sum * 10
            + digits
                .as_bytes()
                .get(place)
                .map_or(0, |b| u64::from(b - b'0'))
    }))
}

/// Digits only, unlike `str::parse`, which takes a sign.
fn integer(digits: &str) -> Option<u64> {
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        None
    }
}

fn date(text: &str) -> Option<i128> {
    let (day, time) = text.split_once(['T', 't', ' '])?;
    let mut parts = day.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let days = days_since_1970(integer(year)?, integer(month)?, integer(day)?)?;
    let (time, offset) = split_offset(time.trim())?;
    let mut parts = time.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    let (second, fraction) = second.split_once('.').unwrap_or((second, ""));
    if parts.next().is_some() || [hour, minute, second].iter().any(|part| part.len() != 2) {
        return None;
    }
    let (hour, minute, second) = (integer(hour)?, integer(minute)?, integer(second)?);
    // 60 is a leap second.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = i128::from(days) * 86_400 + i128::from(hour * 3600 + minute * 60 + second);
    Some((seconds - i128::from(offset)) * 1_000_000_000 + i128::from(billionths(fraction)?))
}

/// Splits `Z`, `UTC` or an offset such as `+01:00` off a time of day; the offset in seconds.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    for suffix in ["Z", "z", "UTC"] {
        if let Some(time) = time.strip_suffix(suffix) {
            return Some((time.trim_end(), 0));
        }
    }
    let Some(at) = time.find(['+', '-']) else {
        return Some((time, 0));
    };
    let (time, offset) = time.split_at(at);
    let (sign, offset) = offset.split_at(1);
    let digits: String = offset.split(':').collect();
    if digits.len() != 4 {
        return None;
    }
    let (hours, minutes) = (integer(digits.get(..2)?)?, integer(digits.get(2..)?)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = (hours * 3600 + minutes * 60) as i64;
    Some((
        time.trim_end(),
        if sign == "-" { -seconds } else { seconds },
    ))
}

/// Days from 1970-01-01 in the Gregorian calendar; `None` if there is no such day.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<i64> {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let length = |month: u64| match month {
        2 => 28 + u64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1..=12).contains(&month) || !(1..=length(month)).contains(&day) || year == 0 {
        return None;
    }
    let past = year - 1;
    let days_before_year = past * 365 + past / 4 - past / 100 + past / 400;
    let days_before_month: u64 = (1..month).map(length).sum();
    const BEFORE_1970: i64 = 719_162;
    Some((days_before_year + days_before_month + day - 1) as i64 - BEFORE_1970)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn nanos(text: &str) -> Option<i128> {
        parse(text, SECOND).map(|stamp| stamp.nanos)
    }

    #[test]
    fn dates_are_read_to_the_nanosecond() {
        let noon = 1_700_158_546 * i128::from(SECOND);
        for text in [
            "2023-11-16 18:15:46",
            "2023-11-16T18:15:46Z",
            "2023-11-16t18:15:46z",
            "2023-11-16 18:15:46 UTC",
            "2023-11-16T19:15:46+01:00",
            "2023-11-16T10:45:46-0730",
            "2023-11-16 18:15:46.",
        ] {
            assert_eq!(nanos(text), Some(noon), "{text}");
        }
        assert_eq!(
            nanos("2023-11-16 18:15:46.6805900"),
            Some(noon + 680_590_000)
        );
        assert_eq!(
            nanos("2023-11-16 18:15:46.123456789999"),
            Some(noon + 123_456_789)
        );
        assert_eq!(nanos("1970-01-01 00:00:00"), Some(0));
        assert_eq!(nanos("1969-12-31 23:59:59.5"), Some(-500_000_000));
        assert_eq!(
            nanos("2000-03-01 00:00:00"),
            Some(951_868_800 * i128::from(SECOND))
        );
        assert_eq!(
            nanos("2024-02-29 00:00:00"),
            Some(1_709_164_800 * i128::from(SECOND))
        );
    }

    #[test]
    fn numbers_are_read_exactly_in_their_unit() {
        assert_eq!(
            nanos("1700158546.680590001"),
            Some(1_700_158_546_680_590_001)
        );
        assert_eq!(nanos("-1.5"), Some(-1_500_000_000));
        assert_eq!(nanos("+.25"), Some(250_000_000));
        assert_eq!(nanos("7."), Some(7_000_000_000));
        assert_eq!(nanos("1.25e1"), Some(12_500_000_000));
        assert_eq!(
            parse("12.5", 1_000_000).map(|stamp| stamp.nanos),
            Some(12_500_000)
        );
        assert_eq!(parse("12.5", 1).map(|stamp| stamp.nanos), Some(12));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            ".",
            "-",
            "+",
            "e",
            "1e",
            "1e400",
            "1e30",
            "nan",
            "inf",
            "--1",
            "+-1",
            "1.2.3",
            "1_0",
            "0x1",
            "99999999999999999999",
            "2023-11-16",
            "2023-11-16 18:15",
            "2023-13-01 00:00:00",
            "2023-02-29 00:00:00",
            "1900-02-29 00:00:00",
            "2023-00-01 00:00:00",
            "2023-01-00 00:00:00",
            "0000-01-01 00:00:00",
            "2023-1-1 00:00:00",
            "2023-01-01 24:00:00",
            "2023-01-01 00:60:00",
            "2023-01-01 00:00:61",
            "2023-01-01 00:00:00+1",
            "2023-01-01 00:00:00+24:00",
            "2023-01-01 00:00:00.x",
            "2023-01-01 -1:00:00",
            "2023-01-01 00:00:00 CET",
            "TIMESTAMP",
            "2023-01-01T",
            "é-é-é T é",
            "2023-01-01 00:00:00+é1é",
        ] {
            assert_eq!(nanos(text), None, "{text}");
        }
        assert_eq!(parse("18446744073709551615", u64::MAX), None);
    }
}
