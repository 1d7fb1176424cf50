//! A retry storm on loopback, and its cure: an axum server, a hyper client, real sockets, twelve seconds.
//!
//! `cargo run -p seawall-tower --example storm`
//!
//! The server does 200 jobs a second and gets 100 calls. For one second it is ten times slower. Calls that time out are
//! tried again, and the server works through a line of jobs whose callers have left. Without a budget the retries alone
//! keep that line long when the slow second is over.

mod loopback;
mod policies;

use std::time::Duration;

use loopback::{Outcome, Plan, run};
use policies::{cure, naive};

const PLAN: Plan = Plan {
    every: Duration::from_millis(10),
    workers: 5,
    work: Duration::from_millis(25),
    slow_work: Duration::from_millis(250),
    healthy: Duration::from_secs(1),
    slow: Duration::from_secs(1),
    after: Duration::from_secs(4),
};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    println!("100 calls a second; the server is slow in the second second\n");
    println!(
        "                                 answered, of those begun in second     attempts    jobs done"
    );
    println!(
        "policy                       1     2     3     4     5     6            per call   for nobody"
    );
    row("naive retries", &run(PLAN, &naive()).await?);
    row("budget, breaker, jitter", &run(PLAN, &cure()).await?);
    Ok(())
}

fn row(name: &str, outcome: &Outcome) {
    print!("{name:<24}");
    for count in outcome.answered.iter().take(6) {
        print!("{count:>6}");
    }
    let stats = &outcome.stats;
    let per_call = stats.attempts as f64 / stats.calls as f64;
    let for_nobody = 100.0 * outcome.for_nobody as f64 / outcome.jobs as f64;
    println!("{per_call:>18.2}{for_nobody:>11.0} %");
}
