//! A service answered by hand, and what the tests need around it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use seawall::{
    Backoff, Breaker, BreakerRule, Bulkhead, FailureKind, FailureSet, Jitter, Rates, Reply, Retry,
    Span, Spec, Window,
};
use seawall_tower::{Engine, PolicyLayer, PolicyService, SplitMix};
use tokio::sync::oneshot;
use tower::{Layer, Service};

/// An attempt that came to the dependency.
pub(crate) struct Arrived {
    pub(crate) request: u32,
    answer: oneshot::Sender<Result<u32, io::Error>>,
}

impl Arrived {
    pub(crate) fn ok(self, response: u32) {
        self.answer.send(Ok(response)).expect("somebody waits");
    }

    pub(crate) fn fail(self) {
        let down = Err(io::Error::other("down"));
        self.answer.send(down).expect("somebody waits");
    }

    /// Whether nobody waits for it any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}

/// Keeps what arrives until a test answers it. Insists on being ready before each call, and a clone is not.
#[derive(Default)]
pub(crate) struct Dependency {
    arrived: Arc<Mutex<Vec<Arrived>>>,
    /// Times it says it is not ready.
    busy: Arc<Mutex<u32>>,
    ready: bool,
}

impl Clone for Dependency {
    fn clone(&self) -> Self {
        Dependency {
            arrived: Arc::clone(&self.arrived),
            busy: Arc::clone(&self.busy),
            ready: false,
        }
    }
}

impl Dependency {
    /// The attempts that came since this was last asked.
    pub(crate) fn arrived(&self) -> Vec<Arrived> {
        std::mem::take(&mut *self.arrived.lock().unwrap())
    }

    /// The only attempt that came.
    pub(crate) fn one(&self) -> Arrived {
        let mut all = self.arrived();
        assert_eq!(all.len(), 1, "attempts");
        all.remove(0)
    }

    /// It will not be ready the next `n` times it is asked.
    pub(crate) fn be_busy(&self, n: u32) {
        *self.busy.lock().unwrap() = n;
    }
}

type Answer = Pin<Box<dyn Future<Output = Result<u32, io::Error>> + Send>>;

impl Service<u32> for Dependency {
    type Response = u32;
    type Error = io::Error;
    type Future = Answer;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut busy = self.busy.lock().unwrap();
        if *busy > 0 {
            *busy -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: u32) -> Answer {
        assert!(
            std::mem::take(&mut self.ready),
            "called without being ready"
        );
        let (answer, answered) = oneshot::channel();
        let arrived = Arrived { request, answer };
        self.arrived.lock().unwrap().push(arrived);
        Box::pin(async { answered.await.expect("answered or abandoned") })
    }
}

pub(crate) type Judge = fn(&Result<u32, io::Error>) -> Reply;
pub(crate) type Guarded = PolicyService<Dependency, Judge>;

/// Even numbers are usable, odd ones say "unavailable", errors are resets.
pub(crate) fn judge(result: &Result<u32, io::Error>) -> Reply {
    match result {
        Ok(n) if n % 2 == 0 => Reply::Ok,
        Ok(_) => Reply::Failed(FailureKind::Unavailable.into()),
        Err(_) => Reply::Failed(FailureKind::Reset.into()),
    }
}

/// A dependency under a policy.
pub(crate) fn under(spec: &Spec) -> (Dependency, Engine, Guarded) {
    let policy = spec.check().expect("a sound spec");
    let engine = Engine::new(policy, SplitMix::seeded(1));
    let dependency = Dependency::default();
    let layer = PolicyLayer::new(engine.clone(), judge as Judge);
    let service = layer.layer(dependency.clone());
    (dependency, engine, service)
}

/// Begins a call on a service that is ready at once.
pub(crate) fn begin(
    service: &mut Guarded,
    request: u32,
) -> Pin<Box<<Guarded as Service<u32>>::Future>> {
    let mut cx = Context::from_waker(Waker::noop());
    assert!(service.poll_ready(&mut cx).is_ready());
    Box::pin(service.call(request))
}

/// Polls once, with nobody to wake.
pub(crate) fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Three attempts, 100 ms each, 50 ms apart.
pub(crate) fn retries() -> Spec {
    Spec {
        attempt_timeout: Some(Span::millis(100)),
        retry: Retry {
            max_attempts: 3,
            backoff: Backoff::Fixed {
                delay: Span::millis(50),
                jitter: Jitter::None,
            },
            on: FailureSet::of(&[
                FailureKind::Timeout,
                FailureKind::Unavailable,
                FailureKind::Reset,
            ]),
            ..Retry::default()
        },
        ..Spec::default()
    }
}

/// One call at a time, two in line for at most a second.
pub(crate) fn one_at_a_time() -> Spec {
    Spec {
        bulkhead: Some(Bulkhead {
            max_in_flight: 1,
            queue_from: None,
            max_waiting: 2,
            max_wait: Span::secs(1),
            hold_during_backoff: Some(true),
        }),
        ..retries()
    }
}

/// Opens after two failures for a second, then lets one trial through.
pub(crate) fn brittle() -> Spec {
    Spec {
        breaker: Some(Breaker {
            rule: BreakerRule::Rates(Rates {
                window: Window::Count(2),
                failure_rate: 1.0,
                slow_rate: None,
                slow_after: Span::MAX,
                minimum_calls: 2,
                open_for: Span::secs(1),
                half_open_calls: 1,
                ramp: None,
            }),
            counts: None,
            count_refusals: false,
            on: FailureSet::of(&[FailureKind::Unavailable]),
            ignored: FailureSet::NONE,
        }),
        ..Spec::default()
    }
}
