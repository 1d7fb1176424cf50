//! gRPC's `grpc-retry-pushback-ms`.
//!
//! Sources: grpc/proposal@1fd061ad A6-client-retries.md; grpc/grpc-go@4793ad04 `stream.go`;
//! grpc/grpc-java@5fda0c7c `RetriableStream.java`.

use crate::time::Span;

/// What a server that sends `grpc-retry-pushback-ms` wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushback {
    /// A retry after exactly this long, without jitter; the backoff starts anew after it.
    After(Span),
    /// No retry: the value is negative or not a number.
    DoNotRetry,
}

impl Pushback {
    /// As [`crate::Failure::retry_after`] has it, where `Span::MAX` means no retry.
    #[must_use]
    pub const fn retry_after(self) -> Span {
        match self {
            Pushback::After(wait) => wait,
            Pushback::DoNotRetry => Span::MAX,
        }
    }
}

/// Whose parser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PushbackParser {
    /// The proposal: a signed 32-bit decimal. grpc-java reads the same.
    #[default]
    Bits32,
    /// grpc-go: a signed 64-bit decimal.
    Bits64,
}

/// Reads the values of the metadata key; `None` when there are none. Blanks are not trimmed, and more
/// than one value means no retry.
#[must_use]
pub fn parse_pushback<'a>(
    values: impl IntoIterator<Item = &'a str>,
    parser: PushbackParser,
) -> Option<Pushback> {
    let mut values = values.into_iter();
    let value = values.next()?;
    if values.next().is_some() {
        return Some(Pushback::DoNotRetry);
    }
    let millis = match parser {
        PushbackParser::Bits32 => value.parse::<i32>().ok().map(i64::from),
        PushbackParser::Bits64 => value.parse::<i64>().ok(),
    };
    Some(match millis.map(u64::try_from) {
        Some(Ok(millis)) => Pushback::After(Span::millis(millis)),
        Some(Err(_)) | None => Pushback::DoNotRetry,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_32_bits_is_a_wait_for_go_and_no_retry_for_the_others() {
        let big = ["2147483648"];
        let go = parse_pushback(big, PushbackParser::Bits64);
        assert_eq!(go, Some(Pushback::After(Span::millis(2_147_483_648))));
        assert_eq!(
            parse_pushback(big, PushbackParser::Bits32),
            Some(Pushback::DoNotRetry)
        );
        let too_big = ["9223372036854775808"];
        assert_eq!(
            parse_pushback(too_big, PushbackParser::Bits64),
            Some(Pushback::DoNotRetry)
        );
    }

    #[test]
    fn no_value_says_nothing_and_two_say_no() {
        assert_eq!(parse_pushback([], PushbackParser::Bits64), None);
        let two = parse_pushback(["1", "1"], PushbackParser::Bits64);
        assert_eq!(two, Some(Pushback::DoNotRetry));
        assert_eq!(two.unwrap().retry_after(), Span::MAX);
    }
}
