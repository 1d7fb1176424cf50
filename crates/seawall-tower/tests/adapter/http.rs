use std::convert::Infallible;
use std::io;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode};
use seawall::{FailureKind, Operation, Phase, Reply, Span};
use seawall_tower::{Attempt, Deadline, Http, Protocol, reply_of_status, transport_failure};
use tokio::time::Instant;

type OfHttp<'a> = &'a dyn Protocol<Request<()>, Response<()>, Infallible>;

fn kind(code: u16) -> Option<FailureKind> {
    let response = Response::builder().status(code).body(()).unwrap();
    match (&Http as OfHttp<'_>).reply(&Ok(response)) {
        Reply::Ok => None,
        Reply::Failed(failure) => Some(failure.kind),
    }
}

#[test]
fn statuses_below_400_are_answers_and_all_others_have_a_kind() {
    for code in 100..400 {
        assert_eq!(kind(code), None, "{code}");
    }
    for code in 400..600 {
        assert!(kind(code).is_some(), "{code}");
    }
    let expected = [
        (429, FailureKind::Overloaded),
        (503, FailureKind::Unavailable),
        (502, FailureKind::BadGateway),
        (504, FailureKind::DeadlineExceeded),
        (500, FailureKind::Internal),
        (507, FailureKind::Internal),
        (401, FailureKind::Unauthenticated),
        (404, FailureKind::Invalid),
        (408, FailureKind::Timeout),
        (425, FailureKind::Unavailable),
    ];
    for (code, expected) in expected {
        assert_eq!(kind(code), Some(expected), "{code}");
    }
}

#[test]
fn retry_after_comes_along_with_any_failure() {
    let response = Response::builder().status(429).header("retry-after", "3");
    let response = response.body(()).unwrap();
    let reply = reply_of_status(response.status(), response.headers());
    let Reply::Failed(failure) = reply else {
        panic!("429 is a failure");
    };
    assert_eq!(failure.retry_after, Some(Span::secs(3)));
    let garbled = Response::builder().header("retry-after", "soon");
    let garbled = garbled.body(()).unwrap();
    let Reply::Failed(failure) =
        reply_of_status(StatusCode::SERVICE_UNAVAILABLE, garbled.headers())
    else {
        panic!("503 is a failure");
    };
    assert_eq!(failure.retry_after, None);
}

#[derive(Debug)]
struct Wrapped(io::Error);

impl std::fmt::Display for Wrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("client error")
    }
}

impl std::error::Error for Wrapped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn a_refused_connection_is_found_below_the_clients_own_error() {
    let refused = transport_failure(&Wrapped(io::ErrorKind::ConnectionRefused.into()));
    assert_eq!(refused.kind, FailureKind::ConnectRefused);
    assert!(
        refused.phase < Phase::Send,
        "the server cannot have seen it"
    );
    let broken = transport_failure(&Wrapped(io::ErrorKind::BrokenPipe.into()));
    assert_eq!(broken.kind, FailureKind::Reset);
}

#[test]
fn posts_are_not_repeated_unless_they_say_they_may_be() {
    let of = |request: &Request<()>| (&Http as OfHttp<'_>).operation(request).idempotent;
    for (method, idempotent) in [
        (Method::GET, true),
        (Method::HEAD, true),
        (Method::PUT, true),
        (Method::DELETE, true),
        (Method::POST, false),
        (Method::PATCH, false),
    ] {
        let request = Request::builder().method(&method).body(()).unwrap();
        assert_eq!(of(&request), idempotent, "{method}");
    }
    let mut post = Request::post("/").body(()).unwrap();
    let key = http::HeaderValue::from_static("8e03978e");
    post.headers_mut().insert("idempotency-key", key);
    assert!(of(&post));
    post.extensions_mut().insert(Operation {
        idempotent: false,
        ..Operation::default()
    });
    assert!(!of(&post), "what is said outright holds");
}

#[test]
fn deadlines_travel_as_extensions() {
    let http = &Http as OfHttp<'_>;
    let mut request = Request::get("/").body(()).unwrap();
    assert_eq!(http.deadline(&request), None);
    let deadline = Instant::now() + Duration::from_secs(1);
    request.extensions_mut().insert(Deadline(deadline));
    assert_eq!(http.deadline(&request), Some(deadline));
    let mut attempt = Attempt {
        number: 2,
        gives_up: None,
        deadline: Some(deadline - Duration::from_millis(20)),
    };
    http.prepare(&mut request, attempt);
    assert_eq!(
        request.extensions().get(),
        attempt.deadline.map(Deadline).as_ref()
    );
    assert_eq!(request.extensions().get(), Some(&attempt));
    attempt.deadline = None;
    http.prepare(&mut request, attempt);
    let kept = request.extensions().get::<Deadline>();
    assert_eq!(kept, None, "the policy keeps it to itself");
}
