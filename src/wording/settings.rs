//! The values of a policy in effect, each with where it comes from.

use sim::scenario::{Origin, Setting, Settings};

/// Path, origin and value of each value that somebody set; and all others.
#[must_use]
pub fn settings(settings: &Settings) -> (Vec<[String; 3]>, Vec<String>) {
    let single = settings
        .values
        .iter()
        .any(|setting| setting.path == "retry.max_attempts" && setting.value == "1");
    let (mut set, mut usual) = (Vec::new(), Vec::new());
    for setting in &settings.values {
        let Setting {
            path,
            value,
            origin,
        } = setting;
        let Some(origin) = words(origin) else {
            // How a retry would be made does not matter when none is.
            if !(single && path.starts_with("retry.") && path != "retry.max_attempts") {
                usual.push(format!("{path} {value}"));
            }
            continue;
        };
        set.push([path.clone(), origin, value.clone()]);
    }
    if let Some(order) = &settings.order {
        let origin = words(&order.origin).unwrap_or_else(|| "default".into());
        set.push([order.path.clone(), origin, order.value.clone()]);
    }
    (set, usual)
}

/// Who set a value; `None` if nobody did.
fn words(origin: &Origin) -> Option<String> {
    match origin {
        Origin::Line(line) => Some(format!("line {line}")),
        Origin::Override(text) => Some(text.clone()),
        Origin::Preset(name) => Some(format!("preset {name}")),
        Origin::Default => None,
    }
}
