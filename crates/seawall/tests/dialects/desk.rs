//! A driver for tests: calls begun, answered and woken by hand.

use seawall::{
    Action, Call, CallKey, Client, Entropy, Failure, FailureKind, FailureSet, Operation, Reply,
    Request, Retry, Span, Spec, Stopped, Time,
};

/// The same draw each time.
#[derive(Clone, Copy)]
pub(crate) struct Draw(pub(crate) f64);

impl Entropy for Draw {
    fn next_u64(&mut self) -> u64 {
        (self.0 * (1u64 << 53) as f64) as u64 * (1 << 11)
    }
}

pub(crate) const fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

/// One client and the draw that all its calls get.
pub(crate) struct Desk {
    pub(crate) client: Client,
    pub(crate) draw: Draw,
    next_key: u64,
}

impl Desk {
    pub(crate) fn new(spec: &Spec) -> Desk {
        Desk {
            client: Client::new(spec.check().expect("a sound spec"), Time::ZERO),
            draw: Draw(0.5),
            next_key: 0,
        }
    }

    /// Begins a call and does what it asks for first.
    pub(crate) fn begin(&mut self, now: Time) -> (Call, Vec<Action>) {
        self.next_key += 1;
        let mut call = self.client.begin(
            now,
            Request {
                key: CallKey(self.next_key),
                deadline: None,
                operation: Operation::default(),
            },
        );
        let actions = self.drain(&mut call, now);
        (call, actions)
    }

    /// Answers the attempt that is out.
    pub(crate) fn reply(&mut self, call: &mut Call, now: Time, reply: Reply) -> Vec<Action> {
        self.client.on_reply(call, now, call.attempts(), reply);
        self.drain(call, now)
    }

    pub(crate) fn ok(&mut self, call: &mut Call, now: Time) -> Vec<Action> {
        self.reply(call, now, Reply::Ok)
    }

    pub(crate) fn fail(&mut self, call: &mut Call, now: Time, kind: FailureKind) -> Vec<Action> {
        self.reply(call, now, Reply::Failed(kind.into()))
    }

    /// A failure whose server asks to be left alone for so long.
    pub(crate) fn asks(
        &mut self,
        call: &mut Call,
        now: Time,
        kind: FailureKind,
        asked: Span,
    ) -> Vec<Action> {
        let failure = Failure {
            retry_after: Some(asked),
            ..kind.into()
        };
        self.reply(call, now, Reply::Failed(failure))
    }

    /// The call's timer comes.
    pub(crate) fn wake(&mut self, call: &mut Call) -> Vec<Action> {
        let now = call.timer().expect("a timer");
        self.client.on_timer(call, now);
        self.drain(call, now)
    }

    fn drain(&mut self, call: &mut Call, now: Time) -> Vec<Action> {
        let mut draw = self.draw;
        std::iter::from_fn(|| self.client.poll(call, now, &mut draw)).collect()
    }
}

/// The number of the attempt that is sent, if the last action sends one.
pub(crate) fn sent(actions: &[Action]) -> Option<u32> {
    match actions.last() {
        Some(Action::Send { attempt, .. }) => Some(*attempt),
        _ => None,
    }
}

/// Why the call ended badly, if the last action ends it.
pub(crate) fn stopped(actions: &[Action]) -> Option<Stopped> {
    match actions.last() {
        Some(Action::Finish(verdict)) => verdict.stopped,
        _ => None,
    }
}

/// So many attempts, at once, on timeouts and on unavailable and overloaded servers.
pub(crate) fn retrying(max_attempts: u32) -> Spec {
    Spec {
        retry: Retry {
            max_attempts,
            on: FailureSet::of(&[
                FailureKind::Timeout,
                FailureKind::Unavailable,
                FailureKind::Overloaded,
            ]),
            ..Retry::default()
        },
        ..Spec::default()
    }
}
