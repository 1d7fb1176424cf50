//! Several worlds under the same random numbers: how they differ, and whether that can be told from chance.

pub mod csv;
pub mod difference;
pub mod finding;
pub mod folder;
pub mod json;
pub mod manifest;
pub mod picture;
pub mod run;
pub mod sense;
pub mod terminal;
pub mod world;
