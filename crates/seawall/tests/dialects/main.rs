//! Production dialects inside a whole policy: what a client does that names them.

mod breakers;
mod budgets;
mod desk;
mod limits;
mod waits;
