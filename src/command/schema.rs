//! `retrystorm schema`.

use crate::cli::SchemaOf;
use crate::error::{Error, exit};

pub(super) fn schema(of: SchemaOf) -> Result<u8, Error> {
    let schema = match of {
        SchemaOf::Scenario => sim::scenario::schema(),
        SchemaOf::Experiment => sim::experiment::schema(),
    };
    let mut text = serde_json::to_string_pretty(&schema).expect("keys are strings");
    text.push('\n');
    super::print(&text)?;
    Ok(exit::OK)
}
