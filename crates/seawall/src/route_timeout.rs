//! Envoy's two timeouts of a route: over everything, and per try.
//!
//! Sources: envoyproxy/envoy `docs/.../router_filter.rst`, `source/common/router/retry_state_impl.cc`;
//! envoyproxy/data-plane-api@84e84367 `envoy/config/route/v3/route_components.proto`. Outcomes agree with
//! Envoy 1.40.0.

use crate::time::{Span, Time};

/// `route.timeout` and `retry_policy`, as far as time and conditions go.
///
/// The route timeout covers all tries and backoff and is never retried: a retry still in backoff when
/// it fires is lost. The per-try timeout covers one try, the first too, until its response begins; it is
/// ignored when it is not below the route timeout, and retried under `5xx`, `gateway-error` and `reset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvoyRoute {
    /// `timeout`; default 15 s, zero is none.
    pub timeout: Span,
    /// `per_try_timeout`; default none, and zero is none too.
    pub per_try_timeout: Option<Span>,
    /// `num_retries`; default 1. The first try is not one.
    pub num_retries: u32,
    /// `retry_on`; default nothing.
    pub retry_on: RetryOn,
}

impl Default for EnvoyRoute {
    fn default() -> Self {
        EnvoyRoute {
            timeout: Span::secs(15),
            per_try_timeout: None,
            num_retries: 1,
            retry_on: RetryOn::default(),
        }
    }
}

/// What a route retries on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryOn {
    /// `5xx`: any 5xx, and no response at all.
    pub any_5xx: bool,
    /// `gateway-error`: 502, 503, 504, and no response at all.
    pub gateway_error: bool,
    /// `reset`: no response at all.
    pub reset: bool,
    /// `connect-failure`: no connection.
    pub connect_failure: bool,
    /// `retriable-4xx`: 409.
    pub retriable_4xx: bool,
}

impl RetryOn {
    /// Reads a `retry_on` list.
    ///
    /// # Errors
    /// The first word that is not known here.
    pub fn parse(list: &str) -> Result<RetryOn, &str> {
        let mut on = RetryOn::default();
        for word in list
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            match word {
                "5xx" => on.any_5xx = true,
                "gateway-error" => on.gateway_error = true,
                "reset" => on.reset = true,
                "connect-failure" => on.connect_failure = true,
                "retriable-4xx" => on.retriable_4xx = true,
                unknown => return Err(unknown),
            }
        }
        Ok(on)
    }

    /// Whether a response with this status is retried.
    #[must_use]
    pub const fn status(&self, code: u16) -> bool {
        (self.any_5xx && code >= 500 && code < 600)
            || (self.gateway_error && matches!(code, 502..=504))
            || (self.retriable_4xx && code == 409)
    }

    /// Whether a try without a response is retried, a per-try timeout for one.
    #[must_use]
    pub const fn no_response(&self) -> bool {
        self.any_5xx || self.gateway_error || self.reset
    }

    /// Whether a try without a connection is retried.
    #[must_use]
    pub const fn no_connection(&self) -> bool {
        self.connect_failure || self.no_response()
    }
}

/// What a routed request does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteStep {
    /// A try is out; wait for its response or [`RoutedRequest::timer`].
    Try,
    /// Wait for [`RoutedRequest::timer`].
    Wait,
    /// The request ends with this status.
    Respond {
        /// The HTTP status: the response's, or 504 for a timeout.
        status: u16,
        /// What ended it.
        cause: RouteEnd,
    },
}

/// What ended a routed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteEnd {
    /// A response that is not retried, or not any more.
    Response,
    /// The last try took too long.
    PerTryTimeout,
    /// Everything together took too long.
    RouteTimeout,
}

const TIMED_OUT: u16 = 504;

/// One request on its way through a route.
#[derive(Clone, Copy, Debug)]
pub struct RoutedRequest {
    spec: EnvoyRoute,
    ends: Time,
    tries: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Trying { until: Time },
    Backoff { until: Time },
    Over,
}

impl RoutedRequest {
    /// A request whose first try goes out now.
    #[must_use]
    pub fn new(spec: &EnvoyRoute, now: Time) -> Self {
        let ends = match spec.timeout {
            Span::ZERO => Time::MAX,
            timeout => now.after(timeout),
        };
        let mut request = RoutedRequest {
            spec: *spec,
            ends,
            tries: 0,
            state: State::Over,
        };
        request.send(now);
        request
    }

    /// The response of the try that is out began; `backoff` is the wait if it is retried.
    pub fn on_response(&mut self, now: Time, status: u16, backoff: Span) -> RouteStep {
        let State::Trying { .. } = self.state else {
            return RouteStep::Wait;
        };
        let retried = self.spec.retry_on.status(status);
        self.retry_or(retried, now, backoff, status, RouteEnd::Response)
    }

    /// [`RoutedRequest::timer`] has come; `backoff` is the wait if a try that took too long is retried.
    pub fn on_timer(&mut self, now: Time, backoff: Span) -> RouteStep {
        if self.timer().is_none_or(|timer| now < timer) {
            return match self.state {
                State::Trying { .. } => RouteStep::Try,
                State::Backoff { .. } | State::Over => RouteStep::Wait,
            };
        }
        if now >= self.ends {
            return self.end(TIMED_OUT, RouteEnd::RouteTimeout);
        }
        match self.state {
            State::Trying { .. } => {
                let retried = self.spec.retry_on.no_response();
                self.retry_or(retried, now, backoff, TIMED_OUT, RouteEnd::PerTryTimeout)
            }
            State::Backoff { .. } => self.send(now),
            State::Over => RouteStep::Wait,
        }
    }

    /// The next instant at which [`RoutedRequest::on_timer`] must be called.
    #[must_use]
    pub fn timer(&self) -> Option<Time> {
        let until = match self.state {
            State::Trying { until } | State::Backoff { until } => until.min(self.ends),
            State::Over => return None,
        };
        (until != Time::MAX).then_some(until)
    }

    /// Tries sent.
    #[must_use]
    pub fn tries(&self) -> u32 {
        self.tries
    }

    fn send(&mut self, now: Time) -> RouteStep {
        self.tries += 1;
        let route = match self.spec.timeout {
            Span::ZERO => Span::MAX,
            timeout => timeout,
        };
        let per_try = self
            .spec
            .per_try_timeout
            .filter(|&timeout| timeout > Span::ZERO && timeout < route);
        self.state = State::Trying {
            until: per_try.map_or(Time::MAX, |timeout| now.after(timeout)),
        };
        RouteStep::Try
    }

    fn retry_or(
        &mut self,
        retried: bool,
        now: Time,
        backoff: Span,
        status: u16,
        cause: RouteEnd,
    ) -> RouteStep {
        if !retried || self.tries > self.spec.num_retries {
            return self.end(status, cause);
        }
        self.state = State::Backoff {
            until: now.after(backoff),
        };
        RouteStep::Wait
    }

    fn end(&mut self, status: u16, cause: RouteEnd) -> RouteStep {
        self.state = State::Over;
        RouteStep::Respond { status, cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(retry_on: &str) -> EnvoyRoute {
        EnvoyRoute {
            timeout: Span(1000),
            per_try_timeout: Some(Span(300)),
            num_retries: 1,
            retry_on: RetryOn::parse(retry_on).unwrap(),
        }
    }

    #[test]
    fn a_per_try_timeout_is_retried_under_three_conditions_only() {
        for (retry_on, retried) in [
            ("5xx", true),
            ("gateway-error", true),
            ("reset", true),
            ("connect-failure,retriable-4xx", false),
            ("", false),
        ] {
            let mut request = RoutedRequest::new(&route(retry_on), Time(0));
            let step = request.on_timer(Time(300), Span(10));
            let ended = RouteStep::Respond {
                status: 504,
                cause: RouteEnd::PerTryTimeout,
            };
            assert_eq!(
                step,
                if retried { RouteStep::Wait } else { ended },
                "{retry_on}"
            );
        }
    }

    #[test]
    fn a_retry_in_backoff_is_lost_when_the_route_timeout_fires() {
        let mut request = RoutedRequest::new(&route("5xx"), Time(0));
        assert_eq!(
            request.on_response(Time(200), 503, Span(900)),
            RouteStep::Wait
        );
        assert_eq!(request.timer(), Some(Time(1000)));
        let lost = RouteStep::Respond {
            status: 504,
            cause: RouteEnd::RouteTimeout,
        };
        assert_eq!(request.on_timer(Time(1000), Span::ZERO), lost);
        assert_eq!((request.tries(), request.timer()), (1, None));
    }

    #[test]
    fn a_per_try_timeout_of_zero_is_none() {
        let never = EnvoyRoute {
            per_try_timeout: Some(Span::ZERO),
            ..route("5xx")
        };
        let request = RoutedRequest::new(&never, Time(0));
        assert_eq!(request.timer(), Some(Time(1000)), "only the route's");
    }

    #[test]
    fn no_route_timeout_leaves_the_per_try_timeout_alone() {
        let endless = EnvoyRoute {
            timeout: Span::ZERO,
            ..route("5xx")
        };
        assert_eq!(
            RoutedRequest::new(&endless, Time(0)).timer(),
            Some(Time(300))
        );
        let bare = EnvoyRoute {
            per_try_timeout: None,
            ..endless
        };
        assert_eq!(RoutedRequest::new(&bare, Time(0)).timer(), None);
    }

    #[test]
    fn statuses_are_retried_as_the_words_say() {
        let on = |list| RetryOn::parse(list).unwrap();
        assert!(on("5xx").status(500) && on("5xx").status(599) && !on("5xx").status(409));
        assert!(on("gateway-error").status(504) && !on("gateway-error").status(500));
        assert!(on("retriable-4xx").status(409) && !on("retriable-4xx").status(429));
        assert!(!on("reset").status(503));
        assert!(on("connect-failure").no_connection() && !on("connect-failure").no_response());
        assert_eq!(RetryOn::parse("5xx, teapot"), Err("teapot"));
    }
}
