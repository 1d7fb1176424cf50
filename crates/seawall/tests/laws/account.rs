//! Budgets against a list of everything that happened.

use seawall::budget::{Account, Event, Grant, Need, Settled};
use seawall::{Budget, BudgetEvent, FailureKind, Span, Time};

#[derive(Clone)]
struct Both {
    account: Account,
    now: Time,
    /// When calls began, in order.
    calls: Vec<Time>,
    /// When retries were granted, those put back taken out.
    retries: Vec<Time>,
    /// Grants nothing is known of yet.
    open: Vec<Grant>,
    /// Tokens of a bucket, in quarters.
    quarters: u64,
}

impl Both {
    fn new(budget: &Budget) -> Both {
        Both {
            account: Account::new(budget, Time::ZERO),
            now: Time::ZERO,
            calls: Vec::new(),
            retries: Vec::new(),
            open: Vec::new(),
            quarters: 8,
        }
    }

    /// `expected` says whether a retry is due in this state. `false`: the input means nothing.
    fn apply(&mut self, input: usize, expected: impl Fn(&Both) -> bool) -> bool {
        match input {
            0 => {
                self.account.record(self.now, Event::Sent { first: true });
                self.calls.push(self.now);
                self.quarters = (self.quarters + 1).min(8);
            }
            1 => {
                let need = Need {
                    kind: FailureKind::Timeout,
                    pending: 0,
                };
                let granted = self.account.withdraw(self.now, need);
                assert_eq!(granted.is_some(), expected(self));
                if let Some(grant) = granted {
                    self.open.push(grant);
                    self.retries.push(self.now);
                    self.quarters -= 4;
                }
            }
            2 => {
                let Some(grant) = self.open.pop() else {
                    return false;
                };
                self.account.settle(self.now, grant, Settled::Unused);
                self.retries.pop();
                self.quarters = (self.quarters + 4).min(8);
            }
            3 => {
                let Some(grant) = self.open.pop() else {
                    return false;
                };
                self.account.settle(self.now, grant, Settled::Failed);
            }
            4 => {
                let Some(grant) = self.open.pop() else {
                    return false;
                };
                self.account.settle(self.now, grant, Settled::Succeeded);
                self.account
                    .record(self.now, Event::CallSucceeded { retried: true });
            }
            _ => self.now = self.now.after(Span(35)),
        }
        true
    }
}

fn visit(both: &Both, depth: u32, expected: fn(&Both) -> bool) {
    if depth == 0 {
        return;
    }
    for input in 0..6 {
        let mut next = both.clone();
        if next.apply(input, expected) {
            visit(&next, depth - 1, expected);
        }
    }
}

#[test]
fn a_bucket_grants_what_traffic_paid_for_and_no_more() {
    let budget = Budget::Ratio {
        of: BudgetEvent::Calls,
        ratio: 0.25,
        burst: 2.0,
    };
    visit(&Both::new(&budget), 8, |both| both.quarters >= 4);
}

#[test]
fn a_window_grants_a_share_of_recent_calls_and_never_less_than_its_floor() {
    let budget = Budget::Windowed {
        of: BudgetEvent::Calls,
        ratio: 0.5,
        window: Span(100),
        // One in 100 ns.
        floor_per_sec: 1e7,
    };
    visit(&Both::new(&budget), 8, |both| {
        // Ten slices of 10 ns, aligned.
        let recent = |list: &[Time]| {
            let slice = both.now.0 / 10;
            list.iter().filter(|t| t.0 / 10 + 10 > slice).count() as u64
        };
        let allowed = (recent(&both.calls) / 2).max(1);
        recent(&both.retries) < allowed
    });
}
