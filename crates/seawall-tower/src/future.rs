//! One call on its way: the six-step loop.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use seawall::{CallKey, Span, Time, Verdict, Wait};
use tokio::time::{Sleep, sleep_until};
use tower_service::Service;

use crate::engine::{Engine, Tracked};
use crate::error::{BoxError, Error};
use crate::protocol::{Attempt, Protocol};
use crate::step::{Input, Step, Then};

pin_project! {
    /// One call on its way. It begins when first polled; dropped before its end, it gives back all it holds.
    #[must_use = "futures do nothing unless polled"]
    #[project = CallProj]
    pub struct CallFuture<S, P, Request>
    where
        S: Service<Request>,
    {
        engine: Engine,
        protocol: P,
        service: S,
        // What is to be sent next, as long as anything may be.
        request: Option<Request>,
        tracked: Option<Tracked>,
        #[pin]
        under_way: UnderWay<S::Future, Request>,
        // The attempt that is.
        number: u32,
        // Attempts of a hedged call that are under way beside it.
        beside: Beside<S::Future, Request>,
        #[pin]
        sleep: Option<Sleep>,
        // The call's timer that `sleep` is set to.
        armed: Option<Time>,
    }

    impl<S, P, Request> PinnedDrop for CallFuture<S, P, Request>
    where
        S: Service<Request>,
    {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if let Some(tracked) = this.tracked && !tracked.call.is_finished() {
                // Gone first: who is given the permit must not find the attempt still at work.
                this.under_way.set(UnderWay::Nothing);
                this.beside.clear();
                this.engine.tell(tracked, Input::Cancel, None);
            }
        }
    }
}

/// Attempts by number.
type Beside<F, Request> = Vec<(u32, Pin<Box<UnderWay<F, Request>>>)>;

pin_project! {
    // The attempt under way.
    #[project = UnderWayProj]
    enum UnderWay<F, Request> {
        Nothing,
        // The service is not ready for it yet.
        Held { request: Option<Request> },
        Sent { #[pin] future: F },
    }
}

impl<S, P, Request> CallFuture<S, P, Request>
where
    S: Service<Request>,
{
    /// `service` is ready.
    pub(crate) fn new(engine: Engine, protocol: P, service: S, request: Request) -> Self {
        CallFuture {
            engine,
            protocol,
            service,
            request: Some(request),
            tracked: None,
            under_way: UnderWay::Nothing,
            number: 0,
            beside: Vec::new(),
            sleep: None,
            armed: None,
        }
    }
}

impl<S, P, Request> Future for CallFuture<S, P, Request>
where
    S: Service<Request>,
    S::Error: Into<BoxError>,
    P: Protocol<Request, S::Response, S::Error>,
{
    type Output = Result<S::Response, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let mut result = None;
        let mut step = match this.begin(cx) {
            Some(first) => first,
            None => ready!(this.wait(cx, &mut result)),
        };
        loop {
            for attempt in step.abandon.iter() {
                if attempt == *this.number {
                    this.under_way.set(UnderWay::Nothing);
                }
                this.beside.retain(|(number, _)| *number != attempt);
            }
            match step.then {
                Then::Send {
                    attempt,
                    timeout,
                    deadline,
                } => this.send(attempt, timeout, deadline),
                Then::Choose(attempt) => {
                    if let Some(chosen) = this.choose(cx, attempt) {
                        step = chosen;
                        continue;
                    }
                }
                Then::Finish(verdict) => return Poll::Ready(this.finish(verdict, result)),
                Then::Wait => {}
            }
            // The answer to an attempt that another follows is of no use, and may hold a connection.
            result = None;
            step = ready!(this.wait(cx, &mut result));
        }
    }
}

impl<S, P, Request> CallProj<'_, S, P, Request>
where
    S: Service<Request>,
    S::Error: Into<BoxError>,
    P: Protocol<Request, S::Response, S::Error>,
{
    /// `None` if it has begun already.
    fn begin(&mut self, cx: &mut Context<'_>) -> Option<Step> {
        let request = self.request.as_ref().filter(|_| self.tracked.is_none())?;
        let deadline = self.protocol.deadline(request);
        let operation = self.protocol.operation(request);
        let (tracked, step) = self.engine.begin(deadline, operation, cx.waker());
        *self.tracked = Some(tracked);
        Some(step)
    }

    /// Waits for whatever comes first, an answer, a permit or the timer, and asks the engine what follows.
    fn wait(
        &mut self,
        cx: &mut Context<'_>,
        result: &mut Option<Result<S::Response, S::Error>>,
    ) -> Poll<Step> {
        let Some(tracked) = self.tracked else {
            return Poll::Pending;
        };
        if let Poll::Ready(answer) = self.under_way.as_mut().poll(self.service, cx) {
            let reply = self.protocol.reply(&answer);
            self.under_way.set(UnderWay::Nothing);
            *result = Some(answer);
            let input = Input::Answer(*self.number, reply);
            return Poll::Ready(self.engine.tell(tracked, input, Some(cx.waker())));
        }
        for index in 0..self.beside.len() {
            let (number, copy) = &mut self.beside[index];
            if let Poll::Ready(answer) = copy.as_mut().poll(self.service, cx) {
                let reply = self.protocol.reply(&answer);
                let input = Input::Answer(*number, reply);
                self.beside.remove(index);
                *result = Some(answer);
                return Poll::Ready(self.engine.tell(tracked, input, Some(cx.waker())));
            }
        }
        if tracked.call.waits_for() == Some(Wait::Permit) {
            let step = self.engine.tell(tracked, Input::Look, Some(cx.waker()));
            if !matches!(step.then, Then::Wait) {
                return Poll::Ready(step);
            }
        }
        let Some(timer) = tracked.call.timer() else {
            return Poll::Pending;
        };
        // Tokio's timers are a millisecond coarse; whatever woke us, a timer that is due is due.
        while self.engine.now() < timer {
            if *self.armed != Some(timer) {
                let at = self.engine.instant_of(timer);
                match self.sleep.as_mut().as_pin_mut() {
                    Some(sleep) => sleep.reset(at),
                    None => self.sleep.set(Some(sleep_until(at))),
                }
                *self.armed = Some(timer);
            }
            if let Some(sleep) = self.sleep.as_mut().as_pin_mut() {
                ready!(sleep.poll(cx));
            }
            *self.armed = None;
        }
        Poll::Ready(self.engine.tell(tracked, Input::Timer, Some(cx.waker())))
    }

    /// Asks the protocol for the host of an attempt, and the engine what follows.
    fn choose(&mut self, cx: &mut Context<'_>, attempt: u32) -> Option<Step> {
        let (tracked, request) = (self.tracked.as_mut()?, self.request.as_ref()?);
        let host = self.protocol.host(request, attempt);
        let input = Input::Host(host);
        Some(self.engine.tell(tracked, input, Some(cx.waker())))
    }

    /// Sends an attempt, and keeps a copy if another may follow.
    fn send(&mut self, attempt: u32, timeout: Option<Span>, deadline: Option<Time>) {
        let (Some(tracked), Some(mut request)) = (self.tracked.as_mut(), self.request.take())
        else {
            return;
        };
        let call = &mut tracked.call;
        if call.is_retryable() && attempt < self.engine.policy().spec().max_attempts() {
            *self.request = self.protocol.copy(&request);
            if self.request.is_none() {
                call.forbid_retries();
            }
        }
        // Not the call's timer: of a hedged call that may be when the next copy is due.
        let sent = tracked.sent_at(attempt);
        let gives_up = timeout
            .map(|timeout| sent.after(timeout))
            .filter(|&at| at != Time::MAX);
        let attempt = Attempt {
            number: attempt,
            gives_up: gives_up.map(|at| self.engine.instant_of(at)),
            deadline: deadline.map(|deadline| self.engine.instant_of(deadline)),
        };
        self.protocol.prepare(&mut request, attempt);
        if self.under_way.is_something() {
            let held = UnderWay::Held {
                request: Some(request),
            };
            self.beside.push((attempt.number, Box::pin(held)));
            return;
        }
        *self.number = attempt.number;
        self.under_way.set(if attempt.number == 1 {
            UnderWay::Sent {
                future: self.service.call(request),
            }
        } else {
            UnderWay::Held {
                request: Some(request),
            }
        });
    }

    fn finish(
        &self,
        verdict: Verdict,
        result: Option<Result<S::Response, S::Error>>,
    ) -> Result<S::Response, Error> {
        let key = self.tracked.as_ref().map(|tracked| tracked.call.key());
        let outcome = verdict.into_result(key.unwrap_or(CallKey(0)));
        match (result, outcome) {
            (Some(Ok(response)), _) => Ok(response),
            (Some(Err(error)), outcome) => Err(Error::Attempt {
                error: error.into(),
                call: outcome.err(),
            }),
            (None, Err(call)) => Err(Error::Stopped(call)),
            (None, Ok(())) => unreachable!("only an answer ends a call well"),
        }
    }
}

impl<F, Request> UnderWay<F, Request> {
    fn is_something(&self) -> bool {
        !matches!(self, UnderWay::Nothing)
    }

    /// Polls the attempt; pending if there is none.
    fn poll<S>(
        mut self: Pin<&mut Self>,
        service: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<Result<S::Response, S::Error>>
    where
        S: Service<Request, Future = F>,
        F: Future<Output = Result<S::Response, S::Error>>,
    {
        if let UnderWayProj::Held { request } = self.as_mut().project() {
            ready!(service.poll_ready(cx))?;
            if let Some(request) = request.take() {
                let future = service.call(request);
                self.set(UnderWay::Sent { future });
            }
        }
        match self.project() {
            UnderWayProj::Sent { future } => future.poll(cx),
            UnderWayProj::Held { .. } | UnderWayProj::Nothing => Poll::Pending,
        }
    }
}
