//! What is counted about the way of attempts: legs and connections.

use seawall::Phase;

use super::counted::{Counted, counters};

/// A leg of the way of an attempt. One follows the other without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leg {
    /// Waiting for a credential.
    Credential,
    /// Waiting for a connection.
    Pool,
    /// Resolving the name.
    Dns,
    /// Opening the connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Writing the request.
    Send,
    /// Until the first of the answer comes back: the link there, the service, the link home.
    Server,
    /// Reading the answer.
    Receive,
    /// Understanding the answer.
    Decode,
}

/// How many legs there are.
pub const LEGS: usize = Leg::ALL.len();

impl Leg {
    /// All, in the order of the way.
    pub const ALL: [Leg; 9] = [
        Leg::Credential,
        Leg::Pool,
        Leg::Dns,
        Leg::Connect,
        Leg::Tls,
        Leg::Send,
        Leg::Server,
        Leg::Receive,
        Leg::Decode,
    ];

    /// The word in promises, columns and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Leg::Credential => "credential",
            Leg::Pool => "pool",
            Leg::Dns => "dns",
            Leg::Connect => "connect",
            Leg::Tls => "tls",
            Leg::Send => "send",
            Leg::Server => "server",
            Leg::Receive => "receive",
            Leg::Decode => "decode",
        }
    }

    /// The phase in which an attempt fails that is given up there. No answer in time is a failure to receive one.
    #[must_use]
    pub const fn phase(self) -> Phase {
        match self {
            Leg::Credential => Phase::Credential,
            Leg::Pool | Leg::Connect => Phase::Connect,
            Leg::Dns => Phase::Dns,
            Leg::Tls => Phase::Tls,
            Leg::Send => Phase::Send,
            Leg::Server | Leg::Receive => Phase::Receive,
            Leg::Decode => Phase::Decode,
        }
    }

    /// Whether nothing of the request has gone out yet.
    #[must_use]
    pub const fn before_sending(self) -> bool {
        (self as usize) < Leg::Send as usize
    }
}

counters! {
    /// Counted for the attempts of one edge that go over links with phases or connections.
    PassageCount {
        /// Attempts that set out.
        begun: u64,
        /// Attempts that are over: answered, failed or given up.
        ended: u64,
        /// Sum over those of the time from setting out to the end, in ns.
        total_ns: u128,
        /// How many came to each leg (index: `Leg as usize`).
        entered: [u64; LEGS],
        /// Time spent in each leg, in ns.
        leg_ns: [u128; LEGS],
        /// Attempts that failed or were given up in each leg.
        failed: [u64; LEGS],
    }
}

counters! {
    /// Counted for the connections of one caller to one service over one link, all processes together.
    PoolCount {
        /// Attempts that wanted a connection.
        wanted: u64,
        /// Of those, the ones that got one that was open already, at once or after a wait.
        reused: u64,
        /// Of those, the ones that had to wait.
        waited: u64,
        /// Sum of their waits, in ns; those still waiting are left out.
        wait_ns: u128,
        /// Attempts that had waited as long as they may.
        timed_out: u64,
        /// Handshakes begun.
        begun: u64,
        /// Handshakes that failed or were given up.
        failed: u64,
        /// Connections that were there when their process began.
        warm: u64,
        /// Connections opened, those included.
        opened: u64,
        /// Requests that met a connection which the service had closed.
        resets: u64,
        /// Connections closed after they had been idle too long for the caller.
        closed_idle: u64,
        /// Connections that the service had closed when idle, and the caller noticed.
        closed_by_server: u64,
        /// Connections closed at their greatest age.
        closed_old: u64,
        /// Idle connections closed to make room for one to another replica.
        closed_for_room: u64,
        /// Connections that went with a process at one of their ends.
        closed_lost: u64,
        /// Connections that broke under a request or an answer.
        closed_broken: u64,
        /// Connections closed since their attempt was given up.
        closed_given_up: u64,
        /// Time integral of the connections that are open, in connection-ns.
        open_ns: u128,
        /// Of those, of the ones in use.
        in_use_ns: u128,
        /// Time integral of the attempts waiting, in attempt-ns.
        waiting_ns: u128,
        /// Time passed, in ns.
        time_ns: u128,
    }
}

impl PoolCount {
    /// Connections closed, for whatever reason.
    #[must_use]
    pub const fn closed(&self) -> u64 {
        self.closed_idle
            + self.closed_by_server
            + self.closed_old
            + self.closed_for_room
            + self.closed_lost
            + self.closed_broken
            + self.closed_given_up
    }
}
