//! Dates as HTTP headers have them (RFC 9110 §5.6.7), for a simulated clock.

use seawall::{Span, Time};

/// What simulated clocks show when a run starts, in seconds since 1970: Thursday, 1 January 2026, 00:00:00 UTC. Only
/// differences matter; it is there so that a header can say a date at all.
const START: i64 = 1_767_225_600;

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// What a clock shows at `now`, in whole seconds since 1970 as a caller reads it.
pub(crate) fn unix_seconds(now: Time) -> i64 {
    START + (now.0 / 1_000_000_000) as i64
}

/// The date `span` after the start of the run, in the fixed form: `Thu, 01 Jan 2026 00:00:06 GMT`.
pub(crate) fn after_start(span: Span) -> String {
    let seconds = unix_seconds(Time::ZERO.after(span));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    format!(
        "{}, {day:02} {} {year:04} {:02}:{:02}:{:02} GMT",
        DAYS[days.rem_euclid(7) as usize],
        MONTHS[month as usize - 1],
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Year, month and day, so many days after 1 January 1970: counting in eras of 400 years that begin in March, so that
/// the day added in a leap year is the last one.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_back_as_the_time_it_was_made_from() {
        assert_eq!(after_start(Span::secs(6)), "Thu, 01 Jan 2026 00:00:06 GMT");
        for seconds in [
            0,
            59,
            3600,
            86_399,
            86_400,
            58 * 86_400,
            400 * 86_400,
            790 * 86_400 + 12_345,
        ] {
            let header = after_start(Span::secs(seconds));
            let wait = seawall::parse_retry_after(&header, START);
            assert_eq!(wait, Some(Span::secs(seconds)), "{header}");
        }
        assert_eq!(
            after_start(Span::secs(789 * 86_400)),
            "Tue, 29 Feb 2028 00:00:00 GMT"
        );
    }
}
