//! How requests and responses of the `http` crate are read.

use std::error::Error as StdError;
use std::io;

use http::header::{HOST, HeaderMap, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode};
use seawall::{Failure, FailureKind, Operation, Phase, Reply, parse_retry_after};
use tokio::time::Instant;

use crate::protocol::{Attempt, Protocol};

/// The deadline of a request, as an extension of it.
///
/// On a request that comes to the policy it is the caller's. On the attempts that leave it is the call's, if the
/// policy propagates deadlines; a layer below writes it into whatever header the dependency reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(pub Instant);

/// Reads HTTP, whatever the client.
///
/// - A status is a failure of the kind [`reply_of_status`] names, with the wait its `Retry-After` asks for.
/// - An error is a failure of the kind [`transport_failure`] finds in its chain of sources.
/// - A request may be repeated after the server may have seen it if its method is idempotent (RFC 9110 §9.2.2) or it
///   has an `Idempotency-Key`; a [`seawall::Operation`] among its extensions overrules that.
/// - Its deadline is the extension [`Deadline`]. Each attempt carries an [`Attempt`] as an extension.
/// - Its host is a hash of the authority of its URI, or else of its `Host`.
/// - It is copied with its body and its extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Http;

impl<B: Clone, R, E: StdError + 'static> Protocol<Request<B>, Response<R>, E> for Http {
    fn reply(&self, result: &Result<Response<R>, E>) -> Reply {
        match result {
            Ok(response) => reply_of_status(response.status(), response.headers()),
            Err(error) => Reply::Failed(transport_failure(error)),
        }
    }

    fn copy(&self, request: &Request<B>) -> Option<Request<B>> {
        Some(request.clone())
    }

    fn operation(&self, request: &Request<B>) -> Operation {
        let told = request.extensions().get::<Operation>();
        told.copied().unwrap_or_else(|| Operation {
            idempotent: is_idempotent(request.method())
                || request.headers().contains_key("idempotency-key"),
            ..Operation::default()
        })
    }

    fn deadline(&self, request: &Request<B>) -> Option<Instant> {
        Some(request.extensions().get::<Deadline>()?.0)
    }

    fn host(&self, request: &Request<B>, _attempt: u32) -> u64 {
        let named = (request.headers().get(HOST)).map(|host| host.as_bytes());
        let written = request
            .uri()
            .authority()
            .map(|host| host.as_str().as_bytes());
        // FNV-1a: the same in every process, and of any length.
        written
            .or(named)
            .unwrap_or_default()
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
    }

    fn prepare(&self, request: &mut Request<B>, attempt: Attempt) {
        let extensions = request.extensions_mut();
        extensions.insert(attempt);
        match attempt.deadline {
            Some(deadline) => extensions.insert(Deadline(deadline)),
            None => extensions.remove::<Deadline>(),
        };
    }
}

fn is_idempotent(method: &Method) -> bool {
    method.is_safe() || *method == Method::PUT || *method == Method::DELETE
}

/// What a response head means to a policy: 4xx and 5xx are failures, anything else is an answer.
///
/// The kind is the one whose [`FailureKind::http`] is the status; 408 is `Timeout`, 425 `Unavailable`, any other
/// 4xx `Invalid`, any other 5xx `Internal`. `Retry-After` is read in all its forms.
#[must_use]
pub fn reply_of_status(status: StatusCode, headers: &HeaderMap) -> Reply {
    if !status.is_client_error() && !status.is_server_error() {
        return Reply::Ok;
    }
    let code = status.as_u16();
    let named = FailureKind::ALL
        .iter()
        .find(|kind| kind.http() == Some(code));
    let (kind, phase) = match named {
        Some(kind) => (*kind, kind.phase()),
        // The server waited for the rest of the request.
        None if code == 408 => (FailureKind::Timeout, Phase::Send),
        None if code == 425 => (FailureKind::Unavailable, Phase::Server),
        None if status.is_client_error() => (FailureKind::Invalid, Phase::Server),
        None => (FailureKind::Internal, Phase::Server),
    };
    let asked = headers.get(RETRY_AFTER).and_then(|value| {
        let value = value.to_str().ok()?;
        parse_retry_after(value, unix_seconds())
    });
    Reply::Failed(Failure {
        kind,
        phase,
        retry_after: asked,
    })
}

/// What an error means to a policy, by the first `std::io::Error` among its sources: refused or unreachable, or timed out.
/// Anything else is [`FailureKind::Reset`]: the attempt broke off, and the server may have seen the request.
#[must_use]
pub fn transport_failure(error: &(dyn StdError + 'static)) -> Failure {
    let mut chain = Some(error);
    while let Some(link) = chain {
        if let Some(io) = link.downcast_ref::<io::Error>() {
            match io.kind() {
                io::ErrorKind::ConnectionRefused
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable => {
                    return FailureKind::ConnectRefused.into();
                }
                io::ErrorKind::TimedOut => return FailureKind::Timeout.into(),
                _ => {}
            }
        }
        chain = link.source();
    }
    FailureKind::Reset.into()
}

/// For the date form of `Retry-After` only; that form means the calendar's clock.
#[allow(clippy::disallowed_types)]
fn unix_seconds() -> i64 {
    let since_1970 = std::time::SystemTime::UNIX_EPOCH.elapsed();
    since_1970.map_or(0, |length| {
        i64::try_from(length.as_secs()).unwrap_or(i64::MAX)
    })
}
