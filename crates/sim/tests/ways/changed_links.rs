//! Links whose place another one takes for a while.

use seawall::Time;
use sim::metrics::Leg;

use crate::{calls, run, spent, world, wrong};

/// Calls at 0, 100 and 200 s over a link of 1 s, whose place is taken by `far` from 50 s to 150 s.
fn changed(link: &str, far: &str, policy: &str) -> sim::metrics::Outcome {
    let text = world(
        link,
        "work: 10s",
        policy,
        "faults: [ { at: 50s, for: 100s, change_link: { link: default, to: far } } ]",
    );
    let with = text.replace("links: { ", &format!("links: {{ far: {{ {far} }}, "));
    run(&with, "0\n100\n200")
}

#[test]
fn a_slower_link_takes_the_place_of_another_and_gives_it_back() {
    let plain = "delay: 1s";
    assert_eq!(calls(&changed(plain, "delay: 7s", "")), [12.0, 24.0, 12.0]);
    let drawn = calls(&changed(plain, "delay: { uniform: [6s, 7s] }", ""));
    assert!(drawn[1] > 22.0 && drawn[1] < 24.0, "{drawn:?}");
    assert_eq!([drawn[0], drawn[2]], [12.0, 12.0]);
}

#[test]
fn a_network_that_is_cut_loses_what_is_sent_over_it() {
    let cut = |what: &str| changed("delay: 1s", what, "attempt_timeout: 20s");
    for (what, arrived) in [("lose_request: 100%", 2), ("lose_response: 100%", 3)] {
        let outcome = cut(what);
        assert_eq!(calls(&outcome), [12.0, 20.0, 12.0], "{what}");
        assert_eq!(outcome.drained.services[0].arrived, arrived, "{what}");
    }
}

#[test]
fn legs_of_the_way_are_slow_or_fail_for_a_while() {
    // Connecting takes long; the answer's head has come, but its body stalls.
    for (leg, far) in [
        (Leg::Connect, "delay: 1s, phases: { connect: 30s }"),
        (Leg::Receive, "delay: 1s, phases: { receive: 30s }"),
    ] {
        for link in ["delay: 1s", "delay: 1s, phases: { connect: 2s }"] {
            let outcome = changed(link, far, "attempt_timeout: 25s");
            let usual = if link.contains("phases") { 14.0 } else { 12.0 };
            assert_eq!(calls(&outcome), [usual, 25.0, usual], "{leg:?} {link}");
            assert!(spent(&outcome, leg) >= 13.0, "{leg:?} {link}");
        }
    }
    let refused = changed(
        "delay: 1s",
        "phases: { connect: { fails: 100% } }",
        "retry: { max_attempts: 3, on: connect_refused }",
    );
    assert_eq!(calls(&refused), [12.0, 0.0, 12.0]);
    assert_eq!(refused.drained.edges[0].attempts, 5);
}

#[test]
fn connections_stay_those_of_the_link_that_is_replaced() {
    let outcome = changed("delay: 1s, pool: { size: 3 }", "delay: 2s", "");
    assert_eq!(calls(&outcome), [12.0, 14.0, 12.0]);
    assert_eq!(outcome.drained.pools[0].opened, 1);
}

#[test]
fn of_several_at_a_time_the_last_one_written_holds_and_an_answer_goes_home_over_what_is_there_then()
{
    let text = world(
        "delay: 1s",
        "work: 10s",
        "",
        "faults:
  - { at: 5s, for: 100s, change_link: { link: default, to: slower } }
  - { at: 40s, for: 5s, change_link: { link: default, to: slow } }",
    );
    let text = text.replace(
        "links: { ",
        "links: { slow: { delay: 2s }, slower: { delay: 3s }, ",
    );
    // Out in 1 s, home in 3 s; with both the last one holds, then the first again.
    let outcome = run(&text, "0\n30\n41\n44.5\n200");
    assert_eq!(calls(&outcome), [14.0, 15.0, 15.0, 15.0, 12.0]);
    assert_eq!(outcome.log.as_ref().expect("a log").calls[0].began, Time(0));
}

#[test]
fn what_makes_no_sense_is_said() {
    let changed = |to: &str, far: &str| {
        let fault =
            format!("faults: [ {{ at: 50s, change_link: {{ link: default, to: {to} }} }} ]");
        let text = world("delay: 1s", "work: 1s", "", &fault);
        wrong(&text.replace("links: { ", &format!("links: {{ far: {{ {far} }}, ")))
    };
    let itself = changed("default", "delay: 1s");
    assert!(
        itself.contains("faults.0.change_link.to: `default` is the link that it replaces"),
        "{itself}"
    );
    for own in ["pool: {}", "pool: { size: 2 }, phases: { dns: 1s }"] {
        let pooled = changed("far", own);
        assert!(
            pooled.contains("`far` has a `pool` or a `credential` of its own"),
            "{pooled}"
        );
    }
    let unknown = changed("fra", "delay: 1s");
    assert!(unknown.contains("far"), "{unknown}");
}
