//! A failure as a scenario writes it.

use seawall::{Failure, FailureKind, Phase, Span};

use crate::scenario::written::{record, words};

record! {
    /// What a caller gets instead of an answer.
    pub(crate) struct FailureFile [kind] {
        /// What went wrong.
        kind: FailureKind,
        /// Where in the life of the attempt; by default where that kind usually happens.
        phase: Option<Phase>,
        /// How long the server asks to be left alone; by default it does not ask.
        retry_after: Option<Span>,
    }
}

impl FailureFile {
    pub(crate) fn mean(&self) -> Failure {
        Failure {
            kind: self.kind,
            phase: self.phase.unwrap_or(self.kind.phase()),
            retry_after: self.retry_after,
        }
    }
}

words! {
    /// Where in the life of an attempt it failed.
    Phase, "Phase" {
        "dns" => Phase::Dns, "Name resolution or routing.";
        "connect" => Phase::Connect, "Opening the connection.";
        "tls" => Phase::Tls, "The TLS handshake.";
        "credential" => Phase::Credential, "Obtaining or presenting a credential.";
        "send" => Phase::Send, "Writing the request.";
        "server" => Phase::Server, "The server worked on it, or refused to.";
        "receive" => Phase::Receive, "Waiting for, or reading, the response.";
        "decode" => Phase::Decode, "Understanding the response.";
    }
}
