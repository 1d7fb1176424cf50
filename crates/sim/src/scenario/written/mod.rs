//! One declaration per written record: what Rust sees, how it is read, and its JSON Schema.
//!
//! [`record!`] declares a map with fixed keys, [`choice!`] one of several one-key maps or words,
//! [`words!`] a plain word; [`mirror!`] and [`members!`] do the same for types of the engine. The doc comment on each key is the description users read.

mod choice;
mod field;
mod layer;
mod plain;
mod quantity;
mod record;
mod schema;
mod size;
mod units;

pub(crate) use choice::{Chosen, Tag, choice, open_choice, schema_of_choice, words};
pub(crate) use field::Literal;
pub(crate) use layer::{
    Bound, Form, Keyed, Layered, Opt, Tagged, itself, lay_key, members, mirror, same_tag, unfold,
    written_map,
};
pub(crate) use plain::{Entry, Kinds, Several, Table, Tried, check_name};
pub(crate) use quantity::{Bytes, Factor, Limit, Percent, Rate, Ratio, Share, Weight, Whole};
pub(crate) use record::{Fields, Key, KeySchema, all_defaults, record, schema_of_record};
pub(crate) use schema::{Defs, described};
pub(crate) use size::Size;
pub(crate) use units::{parse_percent, parse_rate, parse_span, parse_times};

use serde_json::Value as Json;

use super::problem::Problems;
use super::tree::Node;

/// Something that can be written in a scenario.
pub(crate) trait Written: Sized {
    /// Reads it. `None`: it could not be read, and the reason has been reported.
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self>;

    /// Its JSON Schema; named parts go to `defs`.
    fn schema(defs: &mut Defs) -> Json;

    /// What it is when its key is not written; `None` makes the key required.
    fn absent() -> Option<Self> {
        None
    }

    /// What to go on with when it could not be read, so that other problems are found as well.
    fn fallback() -> Option<Self> {
        Self::absent()
    }
}

/// The known name nearest to `wrong` by edits, swaps of neighbours included, if it takes so few that it
/// may have been meant: a third of the letters, at least one but not all.
#[must_use]
pub fn nearest<'n>(wrong: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let wrong = wrong.to_lowercase();
    let edits = |name: &str| strsim::osa_distance(&wrong, &name.to_lowercase());
    let (edits, name) = known
        .map(|name| (edits(name), name))
        .min_by_key(|(edits, _)| *edits)?;
    let longest = wrong.chars().count().max(name.chars().count());
    (edits <= (longest / 3).max(1) && edits < longest).then_some(name)
}

/// "`a`, `b` or `c`".
pub(crate) fn alternatives<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        None => "nothing".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// "did you mean `x`? ", or nothing; followed by what is allowed.
pub(crate) fn mend<'n>(wrong: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    let allowed = alternatives(known.clone());
    match nearest(wrong, known) {
        Some(name) => format!("did you mean `{name}`? Allowed: {allowed}"),
        None => format!("allowed: {allowed}"),
    }
}
