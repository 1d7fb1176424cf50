//! What the loop has to know of requests and responses.

use seawall::{Operation, Reply};
use tokio::time::Instant;

/// An attempt about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// When it will be given up; `None`: never.
    pub gives_up: Option<Instant>,
    /// The deadline of the call, when the policy propagates it.
    pub deadline: Option<Instant>,
}

/// What the loop has to know of requests and responses.
///
/// Any `Fn(&Result<Response, Error>) -> Reply` is a protocol whose requests are copied with `Clone`, may all be
/// repeated and carry no deadline.
pub trait Protocol<Request, Response, Error> {
    /// What a result means to the policy: usable, or a failure of some kind and phase, perhaps with a wait the server asks
    /// for.
    fn reply(&self, result: &Result<Response, Error>) -> Reply;

    /// A copy to send later; `None` if this request cannot be sent twice, so that the call gets one attempt. Asked only
    /// when a retry is possible.
    fn copy(&self, request: &Request) -> Option<Request>;

    /// What the operation allows; unless overridden, what a read does.
    fn operation(&self, request: &Request) -> Operation {
        let _ = request;
        Operation::default()
    }

    /// The deadline this request came with; unless overridden, none.
    fn deadline(&self, request: &Request) -> Option<Instant> {
        let _ = request;
        None
    }

    /// The host that this attempt goes to, as a number, where the policy tells hosts apart; unless overridden, there
    /// is one.
    fn host(&self, request: &Request, attempt: u32) -> u64 {
        let _ = (request, attempt);
        0
    }

    /// Writes the attempt's number, timeout and deadline into the request; unless overridden, nothing.
    fn prepare(&self, request: &mut Request, attempt: Attempt) {
        let _ = (request, attempt);
    }
}

impl<F, Request, Response, Error> Protocol<Request, Response, Error> for F
where
    F: Fn(&Result<Response, Error>) -> Reply,
    Request: Clone,
{
    fn reply(&self, result: &Result<Response, Error>) -> Reply {
        self(result)
    }

    fn copy(&self, request: &Request) -> Option<Request> {
        Some(request.clone())
    }
}
