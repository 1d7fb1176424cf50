//! When work arrives from outside, as written.

use seawall::{Span, Time};

use super::law::LawFile;
use crate::arrivals::{Arrivals, Process};
use crate::scenario::context::Context;
use crate::scenario::tree::At;
use crate::scenario::written::{Factor, Rate, choice, record, words};
use crate::text::{instants, rates};

choice! {
    /// When work arrives from outside.
    pub(crate) enum ArrivalsFile {
        /// Independent arrivals at this rate.
        poisson => Poisson(At<Rate>),
        /// Equal gaps at this rate; the first arrival after half a gap.
        paced => Paced(At<Rate>),
        /// Independent gaps of this law, the first from 0s on.
        renewal => Renewal(At<LawFile>),
        /// A rate that changes as written.
        profile => Profile(ProfileFile),
        /// One arrival at each of these instants, for a world small enough to follow.
        at => At(At<Vec<Span>>),
        /// Arrivals as recorded in a file.
        trace => Trace(TraceFile),
        /// Rates as recorded in a file.
        rates => Rates(RatesFile),
    }
}

record! {
    /// A rate that changes as written. A bare list is its points.
    pub(crate) struct ProfileFile [points] {
        /// [time, rate] pairs in order of time. Between two the rate changes evenly, two at one time are a
        /// step; the last rate holds on.
        points: At<Vec<(Span, Rate)>>,
        /// What makes arrivals of the rate.
        process: Process = "poisson",
        /// Whether it starts over at the time of its last point.
        repeat: bool = false,
    }
}

record! {
    /// Recorded arrivals: comma-separated text, one row per arrival. A bare word is the file.
    pub(crate) struct TraceFile [file] {
        /// The file, relative to the scenario.
        file: At<String>,
        /// Heading of the column that says when. Default: the first column.
        column: Option<String>,
        /// Unit of times that are plain numbers; dates need none.
        unit: Span = "1s",
        /// How many times as fast as recorded.
        speed: Factor = 1,
        /// Whether it starts over one mean gap after the last arrival.
        repeat: bool = false,
    }
}

record! {
    /// Recorded rates: comma-separated rows of a time and arrivals per second from then on. A bare word is
    /// the file.
    pub(crate) struct RatesFile [file] {
        /// The file, relative to the scenario.
        file: At<String>,
        /// Unit of times that are plain numbers; dates need none.
        unit: Span = "1s",
        /// What makes arrivals of the rate.
        process: Process = "poisson",
        /// Whether it starts over at its end.
        repeat: bool = false,
    }
}

words! {
    /// What makes arrivals of a rate.
    Process, "Process" {
        "poisson" => Process::Poisson, "Independent arrivals.";
        "paced" => Process::Paced, "Evenly spaced arrivals.";
    }
}

impl ArrivalsFile {
    pub(crate) fn mean(&self, context: &mut Context<'_>) -> Option<Arrivals> {
        match self {
            ArrivalsFile::Poisson(rate) => {
                context.checked(rate.at, Arrivals::poisson(rate.value.0))
            }
            ArrivalsFile::Paced(rate) => context.checked(rate.at, Arrivals::paced(rate.value.0)),
            ArrivalsFile::Renewal(gap) => {
                let law = gap.value.mean(context)?;
                context.checked(gap.at, Arrivals::renewal(law))
            }
            ArrivalsFile::Profile(profile) => {
                let points = profile.points.value.iter();
                let points: Vec<_> = points
                    .map(|(span, rate)| (Time::ZERO.after(*span), rate.0))
                    .collect();
                let arrivals = Arrivals::profile(&points, profile.process, profile.repeat);
                context.checked(profile.points.at, arrivals)
            }
            ArrivalsFile::At(at) => {
                let instants = at.value.iter().map(|span| Time::ZERO.after(*span));
                let instants: Vec<Time> = instants.collect();
                context.checked(at.at, Arrivals::trace(&instants, 1.0, false))
            }
            ArrivalsFile::Trace(trace) => {
                let text = context.fetch(&trace.file)?;
                let read = instants::read(&text, trace.column.as_deref(), trace.unit);
                let instants = context.read(&trace.file, read)?;
                let arrivals = Arrivals::trace(&instants, trace.speed.0, trace.repeat);
                context.checked(trace.file.at, arrivals)
            }
            ArrivalsFile::Rates(recorded) => {
                let text = context.fetch(&recorded.file)?;
                let rates = context.read(&recorded.file, rates::read(&text, recorded.unit))?;
                let profile = context.checked(recorded.file.at, rates.profile(recorded.repeat))?;
                Some(Arrivals::Profile {
                    profile,
                    process: recorded.process,
                })
            }
        }
    }
}
