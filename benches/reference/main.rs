mod hand;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use sim::Scenario;
use sim::metrics::Outcome;
use sim::scenario::{Format, Override, Source, load};

fn scenario(text: &str, duration_s: u64) -> Arc<Scenario> {
    let source = Source {
        name: "bench",
        text,
        format: Format::Yaml,
    };
    let duration = Override::parse(&format!("run.duration={duration_s}s")).unwrap();
    Arc::new(
        load(&source, &[duration], &mut |_| Err(String::new())).unwrap_or_else(|p| panic!("{p}")),
    )
}

fn sim(name: &str, n: u64) -> Outcome {
    let (text, rate) = match name {
        "a" => (include_str!("mm1.yaml"), 0.8),
        _ => (include_str!("retry-storm.yaml"), 3.2),
    };
    sim::run(&scenario(text, (n as f64 / rate) as u64), 42)
}

fn main() {
    let args: Vec<_> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let n = args.get(2).map_or(1_000_000, |n| n.parse().unwrap());
    if args.len() >= 2 {
        match (args[0].as_str(), args[1].as_str()) {
            ("a", "hand") => {
                black_box(hand::mm1(n, 42));
            }
            ("b", "hand") => {
                black_box(hand::retry_storm(n, 42));
            }
            (w, _) => {
                let o = black_box(sim(w, n));
                let e = &o.drained.edges[0];
                println!(
                    "calls {} events {} amp {} ok {}",
                    e.calls,
                    o.events,
                    e.attempts as f64 / e.calls as f64,
                    e.ok as f64 / e.calls as f64
                );
            }
        }
        return;
    }
    for w in ["a", "b"] {
        let (mut bh, mut bs) = (f64::INFINITY, f64::INFINITY);
        let mut rs = vec![];
        for _ in 0..7 {
            let t = Instant::now();
            black_box(if w == "a" {
                hand::mm1(n, 42)
            } else {
                hand::retry_storm(n, 42)
            });
            let h = t.elapsed().as_secs_f64() * 1e9 / n as f64;
            let t = Instant::now();
            let o = black_box(sim(w, n));
            let s = t.elapsed().as_secs_f64() * 1e9 / o.drained.edges[0].calls as f64;
            bh = bh.min(h);
            bs = bs.min(s);
            rs.push(s / h);
        }
        rs.sort_by(f64::total_cmp);
        println!(
            "{w}: hand {bh:.1} ns/request, sim {bs:.1}, ratio of bests {:.2}, median ratio {:.2}",
            bs / bh,
            rs[rs.len() / 2]
        );
    }
}
