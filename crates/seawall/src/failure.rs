//! Why an attempt failed, in one closed vocabulary, and sets of such reasons.
//!
//! One word per *decision*, not per wire format: `503` and gRPC `UNAVAILABLE` are both
//! [`FailureKind::Unavailable`], since a policy treats them alike.

use crate::time::Span;

/// Where in the life of an attempt it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Name resolution or routing.
    Dns,
    /// Opening the connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Obtaining or presenting a credential.
    Credential,
    /// Writing the request.
    Send,
    /// The server worked on it, or refused to.
    Server,
    /// Waiting for, or reading, the response.
    Receive,
    /// Understanding the response.
    Decode,
}

impl Phase {
    /// All phases in the order a call passes through them.
    pub const ALL: [Phase; 8] = [
        Phase::Dns,
        Phase::Connect,
        Phase::Tls,
        Phase::Credential,
        Phase::Send,
        Phase::Server,
        Phase::Receive,
        Phase::Decode,
    ];

    /// The word used in scenarios, columns and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Dns => "dns",
            Phase::Connect => "connect",
            Phase::Tls => "tls",
            Phase::Credential => "credential",
            Phase::Send => "send",
            Phase::Server => "server",
            Phase::Receive => "receive",
            Phase::Decode => "decode",
        }
    }
}

/// A set of phases; one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseSet(u8);

impl PhaseSet {
    /// Every phase.
    pub const ALL: PhaseSet = PhaseSet::of(&Phase::ALL);

    /// The set of exactly these phases.
    #[must_use]
    pub const fn of(phases: &[Phase]) -> PhaseSet {
        let (mut bits, mut i) = (0, 0);
        while i < phases.len() {
            bits |= 1 << phases[i] as u8;
            i += 1;
        }
        PhaseSet(bits)
    }

    /// Whether `phase` is in the set.
    #[must_use]
    pub const fn contains(self, phase: Phase) -> bool {
        self.0 & (1 << phase as u8) != 0
    }

    /// Its phases in the order a call passes through them.
    pub fn iter(self) -> impl Iterator<Item = Phase> {
        Phase::ALL.into_iter().filter(move |&p| self.contains(p))
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $phase:ident $http:expr, $grpc:expr;)*) => {
        /// What went wrong with one attempt, as far as a policy is concerned.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum FailureKind { $($(#[$doc])* $kind,)* }

        impl FailureKind {
            /// All kinds, in declaration order.
            pub const ALL: &'static [FailureKind] = &[$(FailureKind::$kind,)*];

            /// The word used in scenarios, columns and reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(FailureKind::$kind => $name,)* }
            }

            /// The phase in which it happens unless told otherwise.
            #[must_use]
            pub const fn phase(self) -> Phase {
                match self { $(FailureKind::$kind => Phase::$phase,)* }
            }

            /// The HTTP status that carries it, if one does.
            #[must_use]
            pub const fn http(self) -> Option<u16> {
                match self { $(FailureKind::$kind => $http,)* }
            }

            /// The gRPC status name that carries it most closely, if one does.
            #[must_use]
            pub const fn grpc(self) -> Option<&'static str> {
                match self { $(FailureKind::$kind => $grpc,)* }
            }
        }
    };
}

kinds! {
    /// The name could not be resolved, or no route.
    Dns "dns" Dns None, None;
    /// The connection was refused.
    ConnectRefused "connect_refused" Connect None, None;
    /// No connection within the connect timeout.
    ConnectTimeout "connect_timeout" Connect None, None;
    /// The TLS handshake failed (certificate, protocol).
    Tls "tls" Tls None, None;
    /// The credential was missing, expired or revoked.
    Unauthenticated "unauthenticated" Credential Some(401), Some("UNAUTHENTICATED");
    /// The connection broke while the request was sent or the response awaited.
    Reset "reset" Receive None, None;
    /// No response within the attempt timeout. The server may or may not have done the work.
    Timeout "timeout" Receive None, None;
    /// The server says it cannot serve now.
    Unavailable "unavailable" Server Some(503), Some("UNAVAILABLE");
    /// The server says the caller, or everybody, sends too much.
    Overloaded "overloaded" Server Some(429), Some("RESOURCE_EXHAUSTED");
    /// A proxy got no usable answer from the server behind it.
    BadGateway "bad_gateway" Server Some(502), None;
    /// The server, or one behind it, ran out of time.
    DeadlineExceeded "deadline_exceeded" Server Some(504), Some("DEADLINE_EXCEEDED");
    /// The server failed.
    Internal "internal" Server Some(500), Some("INTERNAL");
    /// The request conflicts with the state of the resource.
    Conflict "conflict" Server Some(409), Some("ABORTED");
    /// The caller may not do this.
    PermissionDenied "permission_denied" Server Some(403), Some("PERMISSION_DENIED");
    /// The request itself is wrong (any other 4xx).
    Invalid "invalid" Server Some(400), Some("INVALID_ARGUMENT");
    /// The work was cancelled from elsewhere.
    Cancelled "cancelled" Server Some(499), Some("CANCELLED");
    /// The response could not be understood.
    Decode "decode" Decode None, None;
}

impl FailureKind {
    /// The kind that a gRPC status means to a policy; `None` for `OK` and what is no status name.
    #[must_use]
    pub fn from_grpc(status: &str) -> Option<FailureKind> {
        let known = FailureKind::ALL.iter().copied();
        let mut same = known.filter(|kind| kind.grpc() == Some(status));
        same.next().or(match status {
            "UNKNOWN" | "DATA_LOSS" => Some(FailureKind::Internal),
            "NOT_FOUND"
            | "ALREADY_EXISTS"
            | "FAILED_PRECONDITION"
            | "OUT_OF_RANGE"
            | "UNIMPLEMENTED" => Some(FailureKind::Invalid),
            _ => None,
        })
    }
}

/// A failed attempt as the driver reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// Where; usually `kind.phase()`.
    pub phase: Phase,
    /// How long the server asked to be left alone, counted from now; `None` if it did not ask or
    /// what it said was invalid or past.
    pub retry_after: Option<Span>,
}

impl From<FailureKind> for Failure {
    fn from(kind: FailureKind) -> Self {
        Failure {
            kind,
            phase: kind.phase(),
            retry_after: None,
        }
    }
}

/// What came back for one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A usable answer.
    Ok,
    /// No usable answer.
    Failed(Failure),
}

/// A set of failure kinds; one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailureSet(u32);

impl FailureSet {
    /// No kind at all.
    pub const NONE: FailureSet = FailureSet(0);

    /// The set of exactly these kinds.
    #[must_use]
    pub const fn of(kinds: &[FailureKind]) -> FailureSet {
        let (mut bits, mut i) = (0, 0);
        while i < kinds.len() {
            bits |= 1 << kinds[i] as u8;
            i += 1;
        }
        FailureSet(bits)
    }

    /// Whether `kind` is in the set.
    #[must_use]
    pub const fn contains(self, kind: FailureKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// The set with `kind` added.
    #[must_use]
    pub const fn with(self, kind: FailureKind) -> FailureSet {
        FailureSet(self.0 | 1 << kind as u8)
    }

    /// The kinds that are in both sets.
    #[must_use]
    pub const fn and(self, other: FailureSet) -> FailureSet {
        FailureSet(self.0 & other.0)
    }

    /// Whether nothing is in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its kinds in declaration order.
    pub fn iter(self) -> impl Iterator<Item = FailureKind> {
        FailureKind::ALL
            .iter()
            .copied()
            .filter(move |&k| self.contains(k))
    }
}
