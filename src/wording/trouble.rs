//! Faults of single replicas in a few words.

use sim::scenario::model::Trouble;

use crate::number;

/// `2 replicas of api crash`, `api stands still`.
pub(super) fn troubled(service: &str, replicas: u32, trouble: &Trouble) -> String {
    let (who, one) = match replicas {
        u32::MAX => (service.to_owned(), true),
        1 => (format!("one replica of {service}"), true),
        n => (format!("{n} replicas of {service}"), false),
    };
    let verb = |single: &'static str, several: &'static str| if one { single } else { several };
    match trouble {
        Trouble::Crash => format!("{who} {}", verb("crashes", "crash")),
        Trouble::Deploy(deployment) => format!(
            "{service} is started anew, {} at a time every {}",
            deployment.at_once,
            number::duration(deployment.every.as_secs_f64())
        ),
        Trouble::Pause => format!("{who} {} still", verb("stands", "stand")),
        Trouble::Bad {
            share,
            failure,
            slow,
        } => {
            let mut parts = Vec::new();
            if *share > 0.0 {
                let (share, kind) = (number::share(*share), failure.kind.name());
                parts.push(format!("{} {share} {kind}", verb("answers", "answer")));
            }
            if *slow != 1.0 {
                parts.push(format!(
                    "{} {} slower",
                    verb("is", "are"),
                    number::times(*slow)
                ));
            }
            format!("{who} {}", parts.join(" and "))
        }
    }
}
