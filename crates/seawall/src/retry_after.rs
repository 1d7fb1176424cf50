//! The `Retry-After` header: seconds, or a date in any of the three forms HTTP has had.

use crate::time::Span;

/// How long a `Retry-After` header asks to be left alone, at `now_unix_s` seconds since 1970.
///
/// Grammar: RFC 9110 §10.2.3 (`delay-seconds` or `HTTP-date`) and §5.6.7 (the fixed form
/// `Sun, 06 Nov 1994 08:49:37 GMT` and the obsolete `Sunday, 06-Nov-94 08:49:37 GMT` and
/// `Sun Nov  6 08:49:37 1994`). Blanks around the value are not part of it. A date that has passed gives
/// zero, a number too large [`Span::MAX`], and anything else `None`: the caller's own backoff then
/// stands. A two-digit year is the one in this century, unless that is more than 50 years ahead.
#[must_use]
pub fn parse_retry_after(value: &str, now_unix_s: i64) -> Option<Span> {
    let value = value.trim_matches([' ', '\t']);
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // Digits only, hence the one thing that can be wrong is the size.
        return Some(value.parse().map_or(Span::MAX, Span::secs));
    }
    let date = fixed(value)
        .or_else(|| rfc_850(value, now_unix_s))
        .or_else(|| asctime(value))?;
    let ahead = date.checked_sub(now_unix_s)?;
    Some(Span::secs(u64::try_from(ahead).unwrap_or(0)))
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// `Sun, 06 Nov 1994 08:49:37 GMT`
fn fixed(value: &str) -> Option<i64> {
    let (weekday, rest) = value.split_once(", ")?;
    let [day, month, year, time, "GMT"] = fields(rest, ' ')? else {
        return None;
    };
    is_short_day(weekday).then_some(())?;
    unix_seconds(digits(year, 4)?, month, digits(day, 2)?, time)
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`
fn rfc_850(value: &str, now_unix_s: i64) -> Option<i64> {
    let (weekday, rest) = value.split_once(", ")?;
    let [date, time, "GMT"] = fields(rest, ' ')? else {
        return None;
    };
    let [day, month, year] = fields(date, '-')?;
    DAYS.contains(&weekday).then_some(())?;
    // A clock outside the years 0 to 9999 is off; it still must do no harm.
    let today = now_unix_s.div_euclid(86_400).clamp(-719_528, 2_932_896);
    let this_year = year_of(today);
    let mut year = this_year - this_year % 100 + digits(year, 2)?;
    if year > this_year + 50 {
        year -= 100;
    }
    unix_seconds(year, month, digits(day, 2)?, time)
}

/// `Sun Nov  6 08:49:37 1994`
fn asctime(value: &str) -> Option<i64> {
    let (weekday, rest) = value.split_once(' ')?;
    let (month, rest) = rest.split_once(' ')?;
    let (day, rest) = rest.split_at_checked(2)?;
    let ["", time, year] = fields(rest, ' ')? else {
        return None;
    };
    is_short_day(weekday).then_some(())?;
    let day = match day.strip_prefix(' ') {
        Some(day) => digits(day, 1)?,
        None => digits(day, 2)?,
    };
    unix_seconds(digits(year, 4)?, month, day, time)
}

fn is_short_day(name: &str) -> bool {
    DAYS.iter().any(|day| &day[..3] == name)
}

/// Exactly `N` fields.
fn fields<const N: usize>(text: &str, separator: char) -> Option<[&str; N]> {
    let mut split = text.split(separator);
    let mut all = [""; N];
    for field in &mut all {
        *field = split.next()?;
    }
    split.next().is_none().then_some(all)
}

/// A number of exactly `width` digits.
fn digits(text: &str, width: usize) -> Option<i64> {
    let sound = text.len() == width && text.bytes().all(|b| b.is_ascii_digit());
    sound.then(|| text.bytes().fold(0, |n, b| n * 10 + i64::from(b - b'0')))
}

fn unix_seconds(year: i64, month: &str, day: i64, time: &str) -> Option<i64> {
    let month = MONTHS.iter().position(|&name| name == month)? as i64 + 1;
    let [hour, minute, second] = fields(time, ':')?.map(|part| digits(part, 2));
    let (hour, minute, second) = (hour?, minute?, second?);
    // 60 is a leap second.
    let sound =
        (1..=days_in(year, month)).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    sound.then(|| days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

const DAYS_IN_400_YEARS: i64 = 146_097;

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days in the years before `year`, counted from year 0.
fn days_before(year: i64) -> i64 {
    let past = year - 1;
    year * 365 + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400)
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let months: i64 = (1..month).map(|month| days_in(year, month)).sum();
    days_before(year) - days_before(1970) + months + day - 1
}

/// The year in which a day falls.
fn year_of(days: i64) -> i64 {
    let starts = |year| days_before(year) - days_before(1970);
    // Right, or one too late or too early at a turn of the year.
    let guess = 1970 + (days * 400).div_euclid(DAYS_IN_400_YEARS);
    let around = [guess + 1, guess, guess - 1];
    around
        .into_iter()
        .find(|&year| starts(year) <= days)
        .unwrap_or(guess)
}

/// What to do about a wait the server asks for (`Retry-After`).
///
/// The wait is `max(own backoff, asked)` plus `U(0, spread)`. Longer than `max`, or than what is
/// left of the deadline: the call stops with [`crate::Stopped::RetryAfterTooLong`]; it is never shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter {
    /// Whether to look at it at all.
    pub honour: bool,
    /// The longest wait accepted.
    pub max: Span,
    /// Extra uniform wait, so that clients told the same do not all come back in one instant.
    pub spread: Span,
}

impl Default for RetryAfter {
    fn default() -> Self {
        RetryAfter {
            honour: true,
            max: Span::MAX,
            spread: Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mon, 30 Nov 2026 00:00:00 GMT.
    const NOW: i64 = 1_795_996_800;

    #[test]
    fn seconds_are_digits_and_nothing_else() {
        assert_eq!(parse_retry_after("120", NOW), Some(Span::secs(120)));
        assert_eq!(parse_retry_after(" 007\t", NOW), Some(Span::secs(7)));
        assert_eq!(parse_retry_after(&"9".repeat(40), NOW), Some(Span::MAX));
        for bad in [
            "", " ", "-1", "+5", "1.5", "10s", "soon", "1e3", "1 2", "１",
        ] {
            assert_eq!(parse_retry_after(bad, NOW), None, "{bad:?}");
        }
    }

    #[test]
    fn the_three_date_forms_mean_the_same() {
        for form in [
            "Mon, 30 Nov 2026 00:01:00 GMT",
            "Monday, 30-Nov-26 00:01:00 GMT",
            "Mon Nov 30 00:01:00 2026",
        ] {
            assert_eq!(parse_retry_after(form, NOW), Some(Span::secs(60)), "{form}");
        }
        let sixth = "Sun Dec  6 00:00:00 2026";
        assert_eq!(parse_retry_after(sixth, NOW), Some(Span::secs(6 * 86_400)));
        assert_eq!(
            parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_770),
            Some(Span::secs(7))
        );
    }

    #[test]
    fn a_date_that_has_passed_asks_for_no_wait() {
        let past = "Sun, 29 Nov 2026 23:59:00 GMT";
        assert_eq!(parse_retry_after(past, NOW), Some(Span::ZERO));
    }

    #[test]
    fn a_two_digit_year_is_at_most_fifty_years_ahead() {
        assert_eq!(
            parse_retry_after("Monday, 30-Nov-94 00:01:00 GMT", NOW),
            Some(Span::ZERO)
        );
        assert!(parse_retry_after("Monday, 30-Nov-76 00:01:00 GMT", NOW) > Some(Span::ZERO));
        assert_eq!(
            parse_retry_after("Monday, 30-Nov-77 00:01:00 GMT", NOW),
            Some(Span::ZERO)
        );
    }

    #[test]
    fn dates_that_do_not_exist_are_refused() {
        for bad in [
            "Mon, 31 Nov 2026 00:01:00 GMT",
            "Mon, 00 Nov 2026 00:01:00 GMT",
            "Mon, 29 Feb 2026 00:01:00 GMT",
            "Mon, 30 Nov 2026 24:01:00 GMT",
            "Mon, 30 Nov 2026 00:60:00 GMT",
            "Mon, 30 Nov 2026 00:01:61 GMT",
            "Mon, 30 nov 2026 00:01:00 GMT",
            "Moo, 30 Nov 2026 00:01:00 GMT",
            "Mon, 30 Nov 2026 00:01:00 CET",
            "Mon, 30 Nov 2026 00:01 GMT",
            "Mon, 30 Nov 2026 00:01:00 GMT x",
            "Mon Nov 30 00:01:00 26",
            "Mon Nov é0 00:01:00 2026",
        ] {
            assert_eq!(parse_retry_after(bad, NOW), None, "{bad:?}");
        }
        assert!(parse_retry_after("Tue, 29 Feb 2028 00:01:00 GMT", NOW).is_some());
    }

    #[test]
    fn days_and_years_agree_over_eight_centuries() {
        let (mut year, mut month, mut day) = (1600, 1, 1);
        for days in days_since_1970(1600, 1, 1)..days_since_1970(2400, 1, 1) {
            assert_eq!(days_since_1970(year, month, day), days);
            assert_eq!(year_of(days), year);
            day += 1;
            if day > days_in(year, month) {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
        assert_eq!(days_since_1970(1970, 1, 1), 0);
    }

    #[test]
    fn no_clock_makes_it_panic() {
        for now in [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX] {
            for value in [
                "5",
                "Monday, 30-Nov-26 00:01:00 GMT",
                "Mon Nov 30 00:01:00 9999",
            ] {
                let _ = parse_retry_after(value, now);
            }
        }
    }
}
