//! Laws of random lengths of time, as written.

use seawall::Span;

use crate::law::Law;
use crate::scenario::context::Context;
use crate::scenario::text::At;
use crate::scenario::written::{choice, record};

choice! {
    /// A law of random lengths of time. A bare length is always the same.
    pub(crate) enum LawFile (Constant(Span)) {
        /// Always the same.
        constant => Constant(Span),
        /// Every length between two bounds alike: [low, high].
        uniform => Uniform(At<(Span, Span)>),
        /// Memoryless, with this mean.
        exponential => Exponential(ExponentialFile),
        /// Survival e^-(x/scale)^shape: a heavy tail below shape 1, exponential at 1.
        weibull => Weibull(ShapeScaleFile),
        /// Survival (scale/x)^shape from `scale` on; the mean is finite above shape 1.
        pareto => Pareto(ShapeScaleFile),
    }
}

record! {
    /// Memoryless.
    pub(crate) struct ExponentialFile [mean] {
        /// The mean, above 0s.
        mean: At<Span>,
    }
}

record! {
    /// A law with a shape and a scale.
    pub(crate) struct ShapeScaleFile {
        /// The shape, above 0.
        shape: f64,
        /// The scale, above 0s: the 63.2 % quantile of a Weibull, the shortest length of a Pareto law.
        scale: Span,
    }
}

impl LawFile {
    pub(crate) fn mean(&self, context: &mut Context<'_>) -> Option<Law> {
        match self {
            LawFile::Constant(span) => Some(Law::Constant(*span)),
            LawFile::Uniform(bounds) => {
                let (low, high) = bounds.value;
                context.checked(bounds.at, Law::uniform(low, high))
            }
            LawFile::Exponential(law) => {
                context.checked(law.mean.at, Law::exponential(law.mean.value))
            }
            LawFile::Weibull(law) => {
                context.checked(law.position, Law::weibull(law.shape, law.scale))
            }
            LawFile::Pareto(law) => {
                context.checked(law.position, Law::pareto(law.shape, law.scale))
            }
        }
    }
}
