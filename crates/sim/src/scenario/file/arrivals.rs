//! When work arrives from outside, as written.

use crate::arrivals::Arrivals;
use crate::scenario::context::Context;
use crate::scenario::text::At;
use crate::scenario::written::{Rate, choice};

choice! {
    /// When work arrives from outside.
    pub(crate) enum ArrivalsFile {
        /// Independent arrivals at this rate.
        poisson => Poisson(At<Rate>),
        /// Equal gaps at this rate; the first arrival after half a gap.
        paced => Paced(At<Rate>),
    }
}

impl ArrivalsFile {
    pub(crate) fn mean(&self, context: &mut Context<'_>) -> Option<Arrivals> {
        match self {
            ArrivalsFile::Poisson(rate) => {
                context.checked(rate.at, Arrivals::poisson(rate.value.0))
            }
            ArrivalsFile::Paced(rate) => context.checked(rate.at, Arrivals::paced(rate.value.0)),
        }
    }
}
