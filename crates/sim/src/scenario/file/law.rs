//! Laws of random lengths of time, as written.

use seawall::Span;

use super::empirical::EmpiricalFile;
use crate::law::Law;
use crate::scenario::context::Context;
use crate::scenario::tree::At;
use crate::scenario::written::{Several, Weight, Whole, choice, record};

choice! {
    /// A law of random lengths of time. A bare length is always the same.
    pub(crate) enum LawFile (Constant(Span)) {
        /// Always the same.
        constant => Constant(Span),
        /// Every length between two bounds alike: [low, high].
        uniform => Uniform(At<(Span, Span)>),
        /// Memoryless, with this mean.
        exponential => Exponential(ExponentialFile),
        /// Sums of so many exponential stages.
        erlang => Erlang(ErlangFile),
        /// Gamma; a whole shape is Erlang with that many stages.
        gamma => Gamma(GammaFile),
        /// The logarithm is normal; by mean and coefficient of variation, or by median and 99th percentile.
        lognormal => Lognormal(LognormalFile),
        /// Survival e^-(x/scale)^shape: a heavy tail below shape 1, exponential at 1.
        weibull => Weibull(ShapeScaleFile),
        /// Survival (scale/x)^shape from `scale` on; the mean is finite above shape 1.
        pareto => Pareto(ShapeScaleFile),
        /// Normal, cut off at zero.
        normal => Normal(NormalFile),
        /// Two exponential phases with balanced means, for a coefficient of variation above 1.
        hyperexponential => Hyperexponential(MeanCvFile),
        /// One of several laws, by weight.
        mixture => Mixture(At<Several<WeightedLaw>>),
        /// A few lengths, by weight.
        discrete => Discrete(At<Several<WeightedSpan>>),
        /// As measured: a percentile table, a table in a file, or plain values.
        empirical => Empirical(EmpiricalFile),
    }
}

record! {
    /// Memoryless. A bare length is its mean.
    pub(crate) struct ExponentialFile [mean] {
        /// The mean, above 0s.
        mean: Span,
    }
}

record! {
    /// Sums of exponential stages.
    pub(crate) struct ErlangFile {
        /// How many stages.
        shape: Whole<1>,
        /// The mean of the sum, above 0s.
        mean: Span,
    }
}

record! {
    /// A gamma law.
    pub(crate) struct GammaFile {
        /// The shape, above 0, at most 1000000.
        shape: f64,
        /// The mean, above 0s.
        mean: Span,
    }
}

record! {
    /// A lognormal law: `mean` and `cv`, or `p50` and `p99`.
    pub(crate) struct LognormalFile {
        /// The mean, above 0s; goes with `cv`.
        mean: Option<Span>,
        /// Standard deviation ÷ mean, above 0; goes with `mean`.
        cv: Option<f64>,
        /// The median, above 0s; goes with `p99`.
        p50: Option<Span>,
        /// The 99th percentile, above `p50`.
        p99: Option<Span>,
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

record! {
    /// A normal law; lengths below zero are drawn again.
    pub(crate) struct NormalFile {
        /// Mean of the law before it is cut off.
        mean: Span,
        /// Standard deviation of the law before it is cut off, above 0s.
        sd: Span,
    }
}

record! {
    /// A law by mean and coefficient of variation.
    pub(crate) struct MeanCvFile {
        /// The mean, above 0s.
        mean: Span,
        /// Standard deviation ÷ mean, above 1.
        cv: f64,
    }
}

record! {
    /// One of several laws.
    pub(crate) struct WeightedLaw {
        /// How often it is this one.
        weight: Weight,
        /// The law.
        law: Box<LawFile>,
    }
}

record! {
    /// One of a few lengths.
    pub(crate) struct WeightedSpan {
        /// How often it is this one.
        weight: Weight,
        /// The length.
        value: Span,
    }
}

impl LawFile {
    pub(crate) fn mean(&self, context: &mut Context<'_>) -> Option<Law> {
        let (at, law) = match self {
            LawFile::Constant(span) => return Some(Law::Constant(*span)),
            LawFile::Uniform(bounds) => (bounds.at, Law::uniform(bounds.value.0, bounds.value.1)),
            LawFile::Exponential(law) => (law.position, Law::exponential(law.mean)),
            LawFile::Erlang(law) => (law.position, Law::gamma(f64::from(law.shape.0), law.mean)),
            LawFile::Gamma(law) => (law.position, Law::gamma(law.shape, law.mean)),
            LawFile::Lognormal(law) => (law.position, law.mean()),
            LawFile::Weibull(law) => (law.position, Law::weibull(law.shape, law.scale)),
            LawFile::Pareto(law) => (law.position, Law::pareto(law.shape, law.scale)),
            LawFile::Normal(law) => (law.position, Law::normal(law.mean, law.sd)),
            LawFile::Hyperexponential(law) => {
                (law.position, Law::hyperexponential(law.mean, law.cv))
            }
            LawFile::Mixture(parts) => {
                let weights: Vec<Weight> = parts.value.0.iter().map(|part| part.weight).collect();
                let weights = Weight::parts(&weights, parts.at, context);
                let laws = parts.value.0.iter().map(|part| part.law.mean(context));
                let laws: Option<Vec<Law>> = laws.collect();
                (
                    parts.at,
                    Law::mixture(weights.into_iter().zip(laws?).collect()),
                )
            }
            LawFile::Discrete(parts) => {
                let weights: Vec<Weight> = parts.value.0.iter().map(|part| part.weight).collect();
                let weights = Weight::parts(&weights, parts.at, context);
                let values = parts.value.0.iter().map(|part| part.value);
                (
                    parts.at,
                    Law::discrete(weights.into_iter().zip(values).collect()),
                )
            }
            LawFile::Empirical(law) => return law.mean(context),
        };
        context.checked(at, law)
    }
}

impl LognormalFile {
    fn mean(&self) -> Result<Law, String> {
        match (self.mean, self.cv, self.p50, self.p99) {
            (Some(mean), Some(cv), None, None) => Law::lognormal_mean_cv(mean, cv),
            (None, None, Some(p50), Some(p99)) => Law::lognormal_p50_p99(p50, p99),
            _ => {
                Err("lognormal: `mean` and `cv`, or `p50` and `p99` are needed, and no more".into())
            }
        }
    }
}
