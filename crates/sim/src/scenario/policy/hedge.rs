//! Copies of a call that do not wait for each other.

use seawall::{Hedge, HedgeVariant, Retry, Span};

use crate::scenario::written::{Kinds, Whole, mirror, words};

mirror! {
    /// gRPC's hedging: a copy of the call is sent a while after the one before it, whether or not that one has ended. The
    /// first good answer ends the call and the others are cancelled.
    Hedge as "Hedge" {
        /// Attempts in all, the first included: 2 to 5.
        max_attempts: Whole<1>,
        /// The time from one copy to the next; 0s sends all at once.
        delay: Span,
        /// Kinds of failure that are not fatal: the next copy is sent at once, and the others go on.
        on: Kinds => Retry::default().on,
        /// Whose reading of a wait that the service asks for.
        variant: HedgeVariant = "proposal",
    }
}

words! {
    /// What it means for a hedged call that the service asks for a wait.
    HedgeVariant, "HedgeVariant" {
        "proposal" => HedgeVariant::Proposal, "The wait for the next copy.";
        "java" => HedgeVariant::Java, "grpc-java: the next copy is sent at once.";
    }
}
