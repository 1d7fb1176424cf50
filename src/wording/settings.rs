//! The values of a policy in effect, each with where it comes from.

use sim::scenario::{Origin, Setting, Settings};

/// Path, origin and value of each value that somebody set; and all others in one sentence.
#[must_use]
pub fn settings(settings: &Settings) -> (Vec<[String; 3]>, String) {
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
        let origin = match origin {
            Origin::Line(line) => format!("line {line}"),
            Origin::Override(text) => text.clone(),
            Origin::Preset(name) => format!("preset {name}"),
            Origin::Default => {
                // How a retry would be made does not matter when none is.
                if !(single && path.starts_with("retry.") && path != "retry.max_attempts") {
                    usual.push(format!("{path} {value}"));
                }
                continue;
            }
        };
        set.push([path.clone(), origin, value.clone()]);
    }
    (set, format!("by default: {}", usual.join(" · ")))
}
