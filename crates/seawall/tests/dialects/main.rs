//! Production dialects inside a whole policy: what a client does that names them.

mod budgets;
mod desk;
