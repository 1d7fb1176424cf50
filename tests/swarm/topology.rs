//! Services that call each other, callers, policies, links and disturbances, with the names that docs/scenario.md uses.

use super::dice::Dice;

/// Every service of every world; each calls later ones only.
pub(super) const SERVICES: &[&str] = &["front", "orders", "api", "db", "s", "copy"];
/// Every policy of every world.
pub(super) const POLICIES: &[&str] = &["sdk", "p", "outer"];

/// How many faults are written in a world.
pub(super) fn faults_in(text: &str) -> usize {
    text.lines()
        .filter(|line| line.starts_with("  - { at:"))
        .count()
}

/// A world as a user might write it.
pub(super) fn yaml(dice: &mut Dice) -> String {
    let mut text = String::from("version: 1\n");
    let seconds = dice.between(8, 16);
    text += &format!(
        "run: {{ duration: {seconds}s, window: {}, drain: {}, limits: {{ events: 150000, calls: 4000, queue: 4000 }} }}\n",
        dice.pick(&["1s", "500ms", "2s", "700ms"]),
        dice.pick(&["1min", "5s", "0s", "20s"]),
    );
    let keyed = Keyed {
        order: memory_of_keys(dice),
        write: memory_of_keys(dice),
    };
    text += &clients(dice, &keyed);
    text += "services:\n";
    for (index, name) in SERVICES.iter().enumerate() {
        text += &service(dice, index, name, &keyed);
    }
    text += &links(dice);
    text += &policies(dice);
    text += "faults:\n  - { at: 3s, for: 2s, slow: { service: db, factor: 6 } }\n";
    for _ in 0..dice.below(5) {
        text += &fault(dice, seconds);
    }
    text
}

/// What the two operations that change something know of keys: a part of each, empty for nothing.
struct Keyed {
    order: &'static str,
    write: &'static str,
}

/// Whether callers have to send keys.
fn reads_keys(part: &str) -> bool {
    part.contains("idempotency")
}

fn clients(dice: &mut Dice, keyed: &Keyed) -> String {
    let mut text = String::from("clients:\n");
    let instances = |dice: &mut Dice| format!("instances: {}, ", dice.between(1, 4));
    for (name, call) in [
        ("web", "to: api"),
        ("shop", "to: orders, operation: order"),
        ("app", "to: front"),
        ("batch", "to: s, operation: write"),
    ] {
        let keyed = match name {
            "shop" => reads_keys(keyed.order),
            "batch" => reads_keys(keyed.write),
            _ => false,
        };
        let options = options(dice, true, keyed);
        let policy = dice.pick(POLICIES);
        text += &format!(
            "  {name}: {{ {}arrivals: {}, calls: [ {{ {call}, policy: {policy}{options} }} ] }}\n",
            instances(dice),
            arrivals(dice),
        );
    }
    if dice.one_in(3) {
        text += &format!(
            "  phones: {{ {}loop: [ {{ delay: {}ms }}, {{ session: {{ call: {{ to: db, policy: {} }}{} }} }} ] }}\n",
            instances(dice),
            dice.between(20, 500),
            dice.pick(POLICIES),
            dice.pick(&[
                "",
                ", lasts: { exponential: 2s }",
                ", heartbeat: 300ms",
                ", lasts: 5s, heartbeat: 1s"
            ]),
        );
    }
    let start = dice.maybe(2, "start: { uniform: [0s, 1s] }, ");
    text += &format!(
        "  jobs: {{ {}{start}loop: [ {{ call: {{ to: s, operation: read, policy: {} }} }}, {{ delay: {} }} ] }}\n",
        instances(dice),
        dice.pick(POLICIES),
        dice.pick(&[
            "50ms",
            "{ exponential: 200ms }",
            "{ uniform: [10ms, 400ms] }",
            "1s"
        ]),
    );
    text
}

fn arrivals(dice: &mut Dice) -> String {
    let rate = dice.between(1, 50);
    match dice.below(6) {
        0 => format!("{{ paced: {rate}/s }}"),
        1 => format!(
            "{{ profile: [ [0s, {rate}/s], [4s, {}/s], [7s, {rate}/s] ] }}",
            rate * 3
        ),
        2 => format!("{{ renewal: {{ uniform: [0ms, {}ms] }} }}", 2000 / rate),
        3 => format!(
            "{{ profile: {{ points: [ [0s, 1/s], [2s, {rate}/s] ], process: paced, repeat: true }} }}"
        ),
        _ => format!("{{ poisson: {rate}/s }}"),
    }
}

fn law(dice: &mut Dice, ms: usize) -> String {
    let mean = dice.between(1, ms);
    match dice.below(11) {
        0 => format!("{mean}ms"),
        1 => format!("{{ uniform: [0ms, {}ms] }}", 2 * mean),
        2 => format!("{{ erlang: {{ shape: 3, mean: {mean}ms }} }}"),
        3 => format!("{{ lognormal: {{ mean: {mean}ms, cv: 1.5 }} }}"),
        4 => format!("{{ pareto: {{ shape: 2.5, scale: {mean}ms }} }}"),
        5 => format!("{{ hyperexponential: {{ mean: {mean}ms, cv: 3 }} }}"),
        6 => format!(
            "{{ discrete: [ {{ weight: 9, value: {mean}ms }}, {{ weight: 1, value: 1s }} ] }}"
        ),
        7 => "0s".into(),
        _ => format!("{{ exponential: {mean}ms }}"),
    }
}

/// What else can stand in a call.
fn options(dice: &mut Dice, by_client: bool, keyed: bool) -> String {
    let mut text = dice.maybe(8, ", optional: true");
    if text.is_empty() {
        text = match dice.below(24) {
            0 => ", fallback: { instead: omit }",
            1 => ", fallback: { instead: generic, permits: 3 }",
            2 => ", fallback: { instead: reject, on: [ 503 ] }",
            3 => ", fallback: { snapshot: 2s }",
            4 => ", fallback: { snapshot: { max_age: 1s, item: a, at: 0s }, permits: 2 }",
            5 => ", fallback: { direct: { to: copy, policy: p } }",
            6 => ", fallback: { direct: { to: copy, policy: outer, optional: true } }",
            _ => "",
        }
        .into();
    }
    if keyed {
        let word = match (by_client, dice.below(4)) {
            (_, 0) => "per_attempt",
            (true, 1) => "numbered",
            (false, 1) => "inherited",
            _ => "per_call",
        };
        text += &format!(", key: {word}");
        text += &dice.maybe(4, ", body: changed");
    }
    let priority = format!(", priority: {}", dice.between(0, 9));
    text + &dice.maybe(8, priority)
}

/// A call of a service to a later one.
fn call(dice: &mut Dice, index: usize, keyed: &Keyed) -> String {
    let to = SERVICES[dice.between(index + 1, SERVICES.len() - 1)];
    let operation = match to {
        "s" => dice.pick(&["", ", operation: read", ", operation: write"]),
        _ => "",
    };
    let keyed = operation.contains("write") && reads_keys(keyed.write);
    // The last one has nobody to fall back to but itself.
    let mut options = options(dice, false, keyed);
    if options.contains("direct") && to == "copy" {
        options.clear();
    }
    let policy = dice.pick(&["sdk", "p", "outer", "none"]);
    format!("{{ call: {{ to: {to}{operation}, policy: {policy}{options} }} }}")
}

/// A step of the program of a service.
fn step(dice: &mut Dice, index: usize, depth: usize, keyed: &Keyed) -> String {
    let last = index + 1 == SERVICES.len();
    match dice.below(12) {
        0 if depth < 2 => format!(
            "{{ parallel: [ {}, [ {}, {} ] ] }}",
            step(dice, index, depth + 1, keyed),
            step(dice, index, depth + 1, keyed),
            step(dice, index, depth + 1, keyed)
        ),
        1 if depth < 2 => format!(
            "{{ choose: [ {{ weight: 3, do: {} }}, {{ weight: 1, do: [ {} ] }} ] }}",
            step(dice, index, depth + 1, keyed),
            step(dice, index, depth + 1, keyed)
        ),
        2 if depth < 2 => format!(
            "{{ repeat: {{ times: {}, do: {} }} }}",
            dice.between(1, 3),
            step(dice, index, depth + 1, keyed)
        ),
        7 if depth < 2 => {
            let keys = dice.between(1, 30);
            let capacity = dice.between(1, keys);
            let skew = dice.pick(&["0", "0.8", "1.5"]);
            let options = dice.pick(&[
                "",
                ", coalesce: true",
                ", scope: service, coalesce: true, ttl: 2s",
                ", ttl: 1s, ttl_jitter: 50%, filled: true, hit: { work: 1ms }",
                ", scope: service, ttl: 500ms, on_failure: delete",
            ]);
            let stale = dice.one_in(3);
            let (rule, miss) = match stale && !last {
                true => (
                    ", ttl: 1s, coalesce: true, on_failure: stale",
                    call(dice, index, keyed),
                ),
                false => (options, step(dice, index, depth + 1, keyed)),
            };
            format!(
                "{{ cache: {{ keys: {keys}, capacity: {capacity}, skew: {skew}{rule}, miss: {miss} }} }}"
            )
        }
        3 => format!("{{ delay: {} }}", law(dice, 20)),
        4 => format!("{{ effect: {} }}", dice.pick(&["order", "mail", "charge"])),
        5 | 6 => format!("{{ work: {} }}", law(dice, 20)),
        _ if last => format!("{{ work: {} }}", law(dice, 10)),
        _ => call(dice, index, keyed),
    }
}

fn ending(dice: &mut Dice) -> String {
    match dice.below(8) {
        0 => ", { respond: ok }, { work: 3ms }".into(),
        1 => format!(
            ", {{ choose: [ {{ weight: 9, do: {{ work: 1ms }} }}, {{ weight: 1, do: {{ respond: {{ fail: {} }} }} }} ] }}",
            dice.pick(&[
                "unavailable",
                "overloaded",
                "invalid",
                "conflict",
                "{ kind: overloaded, retry_after: 1s }",
                "{ kind: internal, phase: receive }"
            ])
        ),
        _ => String::new(),
    }
}

fn service(dice: &mut Dice, index: usize, name: &str, keyed: &Keyed) -> String {
    let mut parts = Vec::new();
    if dice.one_in(2) {
        parts.push(format!("replicas: {}", dice.between(1, 4)));
        let balance = ["round_robin", "random", "least_in_flight", "power_of_two"];
        parts.push(format!("balance: {}", dice.pick(&balance)));
    }
    // A fault takes workers away from one of them.
    if name == "db" || !dice.one_in(5) {
        parts.push(format!("concurrency: {}", dice.between(1, 8)));
        parts.push(format!("queue: {}", queue(dice)));
    }
    behaviour(dice, &mut parts);
    if name != "db" && dice.one_in(7) {
        keeps_messages(dice, &mut parts);
    }
    let work = law(dice, 30);
    match name {
        "orders" => parts.push(format!(
            "operations: {{ order: {{ {}program: [ {{ work: {work} }}, {{ effect: order }}, {}, {{ effect: mail }}{} ] }}, \
             read: {{ work: {} }} }}",
            keyed.order,
            step(dice, index, 0, keyed),
            ending(dice),
            law(dice, 20),
        )),
        "s" => parts.push(format!(
            "operations: {{ read: {{ work: {work} }}, write: {{ {}work: {}{} }} }}",
            keyed.write,
            law(dice, 30),
            dice.maybe(2, ", idempotent: false"),
        )),
        "api" => parts.push(format!("program: [ {{ work: {work} }}, {{ call: {{ to: db, policy: sdk }} }} ]")),
        "db" => parts.push(format!("work: {work}")),
        _ => {
            let steps: Vec<String> = (0..dice.between(1, 3)).map(|_| step(dice, index, 0, keyed)).collect();
            parts.push(format!("program: [ {}{} ]", steps.join(", "), ending(dice)));
        }
    }
    format!("  {name}: {{ {} }}\n", parts.join(", "))
}

/// The service becomes a message queue; what goes with callers that wait is left out.
fn keeps_messages(dice: &mut Dice, parts: &mut Vec<String>) {
    let waiting = ["balance", "queue", "outlier", "probes"];
    parts.retain(|part| !waiting.iter().any(|key| part.starts_with(key)));
    let more = dice.pick(&[
        "",
        ", max_receives: 3",
        ", max_receives: 2, gives_back: { after: { exponential: 300ms } }, receipt: any",
        ", gives_back: never, heartbeat: 50ms, receipt: in_time",
        ", retention: 2s, groups: { keys: 5, skew: 1 }",
        ", groups: 3, gives_back: never, max_receives: 4",
    ]);
    let visibility = dice.between(100, 2000);
    parts.push(format!("messages: {{ visibility: {visibility}ms{more} }}"));
    let room = dice.maybe(3, ", queue: 20");
    if let Some(last) = parts.last_mut() {
        *last += &room;
    }
}

fn queue(dice: &mut Dice) -> String {
    let order = dice.pick(&[
        "fifo",
        "fifo",
        "lifo",
        "siro",
        "priority",
        "fair",
        "deadline_drop",
        "{ adaptive_lifo: 3 }",
    ]);
    format!(
        "{{ capacity: {}, discipline: {order}{}{} }}",
        dice.pick(&["0", "3", "20", "100", "unlimited"]),
        dice.maybe(6, ", max_wait: { exponential: 100ms }"),
        dice.maybe(6, ", retry_after: 500ms"),
    )
}

/// What a server does that is not ordinary.
fn behaviour(dice: &mut Dice, parts: &mut Vec<String>) {
    let all = [
        "serve: { processor_sharing: 2 }",
        "serve: { preemptive_lifo: 1 }",
        "serve: { preemptive_priority: 2 }",
        "contention: { usl: { alpha: 0.2, beta: 0.02 } }",
        "contention: { usl: { alpha: 0.2, beta: 0.02, frozen: true } }",
        "rate_limit: { gcra: { rate: 30/s, burst: 5 } }",
        "rate_limit: { per_period: { limit: 20, period: 1s }, per_client: true }",
        "memory: { limit: 60MB, per_job: 5MB, leak: 100kB }, restart: { after: 1s, cold: { factor: 3, jobs: 5 } }",
        "memory: { limit: 20MB, per_job: 2MB }, restart: { after: 500ms, answer: nothing }",
        "pauses: { every: { exponential: 3s }, length: { uniform: [10ms, 900ms] } }",
        "outlier: { interval: 1s, base_ejection_time: 2s, max_ejection_percent: 60 }, panic_threshold: 30%",
        "probes: { liveness: { period: 1s, timeout: 200ms, failure_threshold: 2 }, readiness: { period: 500ms, timeout: 100ms } }",
        "probes: { startup: { period: 300ms, timeout: 100ms }, liveness: { period: 2s, timeout: 500ms, aside: true } }",
        "scaling: { max: 6, workers: 60%, every: 1s, lag: 1s, cooldown: 3s }",
        "scaling: { max: 4, queue: 2, every: 2s, lag: 500ms, cooldown: 2s }",
        "holds_worker: false",
        "honours_cancellation: true",
        "retry_only: [ 503 ]",
    ];
    for _ in 0..dice.below(4) {
        let one = dice.pick(&all);
        let key = |part: &str| part.split(':').next().map(String::from);
        // What goes with workers that are counted or shared in one way only is left to the snippets.
        let alone = ["serve", "contention", "scaling"];
        let clash = |part: &String| {
            key(part) == key(one)
                || (alone.iter().any(|a| part.starts_with(a))
                    && alone.iter().any(|a| one.starts_with(a)))
        };
        let has = |text: &str| parts.iter().any(|part| part.starts_with(text));
        let needs = match key(one).as_deref() {
            Some("scaling") => has("concurrency"),
            Some("outlier") => has("replicas") && !has("replicas: 1"),
            _ => true,
        };
        if needs && !parts.iter().any(clash) {
            parts.push(one.into());
        }
    }
}

fn memory_of_keys(dice: &mut Dice) -> &'static str {
    dice.pick(&[
        "",
        "idempotency: { retention: 1h }, ",
        "idempotency: { retention: 2s, claim: check_then_act }, ",
        "idempotency: { in_progress: { poll: { every: 20ms, times: 3 } }, lease: 1s }, ",
        "idempotency: { failures: replay, scope: [ tenant, operation ], required: true }, ",
        "script: [ 503, 200, lost, 429, program ], ",
        "script: { answers: [ 503, { status: 503, program: true }, 200 ], then: normal, per: call }, ",
    ])
}

fn links(dice: &mut Dice) -> String {
    format!(
        "links:\n  default: {{ delay: {}{}{} }}\n  \"web -> api\": {{ delay: {} }}\n",
        dice.pick(&[
            "0s",
            "2ms",
            "{ exponential: 3ms }",
            "{ uniform: [1ms, 20ms] }"
        ]),
        dice.maybe(3, ", lose_request: 2%"),
        dice.maybe(3, ", lose_response: 3%"),
        dice.pick(&["0s", "1ms", "5ms"]),
    )
}

fn policies(dice: &mut Dice) -> String {
    let mut text = String::from("policies:\n");
    for name in POLICIES {
        let mut parts = Vec::new();
        if *name == "outer" || dice.one_in(3) {
            parts.push(format!("deadline: {}", dice.pick(&["500ms", "2s", "4s"])));
        }
        if dice.one_in(2) {
            parts.push(format!(
                "attempt_timeout: {}",
                dice.pick(&["100ms", "300ms", "1s"])
            ));
        }
        if dice.one_in(2) {
            parts.push(format!(
                "retry: {{ max_attempts: {}, on: [ timeout, 5xx, 429, reset ], backoff: {} }}",
                dice.pick(&["2", "3", "5", "unlimited"]),
                dice.pick(&[
                    "{ fixed: 20ms }",
                    "{ exponential: { base: 10ms, max: 1s, jitter: full } }",
                    "{ exponential: { base: 10ms, max: 1s, jitter: decorrelated } }",
                    "{ fixed: { delay: 50ms, jitter: equal } }"
                ]),
            ));
        }
        text += &format!("  {name}: {{ {} }}\n", parts.join(", "));
    }
    text
}

fn fault(dice: &mut Dice, seconds: usize) -> String {
    let service = dice.pick(SERVICES);
    let what = match dice.below(15) {
        0 => format!(
            "slow: {{ service: {service}, factor: {} }}",
            dice.pick(&["0", "0.5", "4", "30"])
        ),
        1 => format!("errors: {{ service: {service}, share: 40%, fail: unavailable }}"),
        2 => format!(
            "errors: {{ service: {service}, after_program: true, fail: {{ kind: overloaded, retry_after: 1s }} }}"
        ),
        3 => format!(
            "lose_capacity: {{ service: db, share: {} }}",
            dice.pick(&["30%", "100%"])
        ),
        4 => format!("outage: {service}"),
        5 => format!("refuse: {service}"),
        6 => format!(
            "load: {{ client: {}, factor: {} }}",
            dice.pick(&["web", "app", "shop"]),
            dice.pick(&["0", "2", "5"])
        ),
        7 | 8 => format!(
            "crash: {{ service: {service}, replicas: {} }}",
            dice.pick(&["1", "unlimited"])
        ),
        9 if dice.one_in(3) => format!(
            "deploy: {{ service: {service}, at_once: {}, every: 300ms, drain: {} }}",
            dice.pick(&["1", "2"]),
            dice.pick(&["0s", "100ms", "500ms"])
        ),
        9 => format!(
            "pause: {{ service: {service}, replicas: {} }}",
            dice.pick(&["1", "unlimited"])
        ),
        10 if dice.one_in(2) => format!(
            "throttle: {{ service: {service}, limit: {{ gcra: {{ rate: 20/s, burst: 3 }}, per_client: {} }} }}",
            dice.pick(&["true", "false"])
        ),
        10 => format!("bad_replicas: {{ service: {service}, errors: 50%, slow: 2 }}"),
        11 | 12 => format!(
            "change_policy: {{ policy: {}, to: outer, share: {}, over: {} }}",
            dice.pick(&["sdk", "p"]),
            dice.pick(&["100%", "30%"]),
            dice.pick(&["0s", "800ms"])
        ),
        _ => format!("kill_switch: {}", dice.pick(POLICIES)),
    };
    let length = dice.pick(&["100ms", "1s", "3s"]);
    let for_ = if what.starts_with("deploy") || dice.one_in(6) {
        String::new()
    } else {
        format!(", for: {length}")
    };
    format!(
        "  - {{ at: {}ms{for_}, {what} }}\n",
        dice.below(seconds * 1000)
    )
}
