//! Random streams: one generator per purpose and entity.
//!
//! Every entity draws from streams of its own, named by what the draw is for and by whom. Adding a
//! client, a service or an observer therefore never changes what another one draws, and two runs that
//! differ only in a policy meet the same arrivals and the same work (common random numbers).
//!
//! The generator is PCG XSL-RR 128/64 ([`rand_pcg::Pcg64`], the variant numpy calls `PCG64`; O'Neill
//! 2014). Its state is filled by [`SplitMix64`] (Steele, Lea and Flood 2014) from a hash of the names.

use rand_core::Rng;
use rand_pcg::Pcg64;
use seawall::Entropy;

/// What a stream is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// When work arrives from outside.
    Arrivals,
    /// Which instance of a client takes an arrival, and which operation it is.
    Assign,
    /// How much work a job is.
    Work,
    /// How long a program waits.
    Delay,
    /// Which arm of a choice a program takes.
    Choose,
    /// How long a request or an answer is under way.
    Link,
    /// Whether it is lost there.
    Loss,
    /// Which replica gets an attempt.
    Balance,
    /// What a policy draws: the jitter of its backoff.
    Jitter,
    /// Whom a fault hits.
    Fault,
    /// When the instances of a closed loop start.
    Start,
    /// Whose turn it is in a queue without order.
    Turn,
    /// How long a job may wait.
    Patience,
    /// When a replica stands still, and how long.
    Pause,
    /// What happens to single replicas, and what a balancer draws.
    Luck,
    /// How long the phases of an attempt take, and whether they fail.
    Phase,
    /// How long tokens are good for.
    Lifetime,
    /// What a call asks for.
    Wish,
    /// Whether a job conflicts with others.
    Conflict,
    /// Which group a message belongs to.
    Group,
    /// When a message is seen again that a consumer failed with.
    Redelivery,
    /// How long a session lasts.
    Session,
}

impl Purpose {
    /// The word that enters the seed. It is part of the determinism contract: changing it changes draws.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Purpose::Arrivals => "arrivals",
            Purpose::Assign => "assign",
            Purpose::Work => "work",
            Purpose::Delay => "delay",
            Purpose::Choose => "choose",
            Purpose::Link => "link",
            Purpose::Loss => "loss",
            Purpose::Balance => "balance",
            Purpose::Jitter => "jitter",
            Purpose::Fault => "fault",
            Purpose::Start => "start",
            Purpose::Turn => "turn",
            Purpose::Patience => "patience",
            Purpose::Pause => "pause",
            Purpose::Luck => "luck",
            Purpose::Phase => "phase",
            Purpose::Lifetime => "lifetime",
            Purpose::Wish => "wish",
            Purpose::Conflict => "conflict",
            Purpose::Group => "group",
            Purpose::Redelivery => "redelivery",
            Purpose::Session => "session",
        }
    }
}

/// A reproducible source of random numbers. A clone continues exactly as the original would.
#[derive(Clone, Debug)]
pub struct Stream {
    generator: Pcg64,
    /// Draws made before they are needed; see [`Stream::exponential`].
    ahead: [Ahead; BATCH],
    /// How many of them are taken.
    taken: usize,
}

/// A draw that was made ahead, and the exponential it stands for.
#[derive(Clone, Copy, Debug, Default)]
struct Ahead {
    bits: u64,
    exponential: f64,
}

/// Draws made ahead at a time.
const BATCH: usize = 4;

impl Stream {
    /// The stream of `name` for `purpose` under a master seed.
    ///
    /// Seed, purpose and name are hashed word by word with the finaliser of SplitMix64; each text is
    /// followed by its length, so that no two combinations read the same. Four further SplitMix64
    /// outputs are the generator's state and increment.
    #[must_use]
    pub fn new(seed: u64, purpose: Purpose, name: &str) -> Stream {
        let hash = absorb(absorb(mix(seed), purpose.name()), name);
        let mut words = SplitMix64(hash);
        let mut wide = || (u128::from(words.next_u64()) << 64) | u128::from(words.next_u64());
        let state = wide();
        let increment = wide();
        Stream::from(Pcg64::new(state, increment))
    }

    /// The generator in this very state, for comparison with known answers: its first output is that of
    /// `state · multiplier + increment`. `increment` is odd.
    #[must_use]
    pub fn from_state(state: u128, increment: u128) -> Stream {
        // `Pcg64::new` takes a seed and sets the state to (seed + increment) · multiplier + increment. That is undone
        // with the inverse of the multiplier modulo 2^128, by Newton's iteration: each step doubles the bits.
        const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
        let inverse = (0..7).fold(1u128, |x, _| {
            x.wrapping_mul(2u128.wrapping_sub(MULTIPLIER.wrapping_mul(x)))
        });
        let seed = state
            .wrapping_sub(increment)
            .wrapping_mul(inverse)
            .wrapping_sub(increment);
        // The stream is `increment >> 1`; the generator puts the odd bit back.
        Stream::from(Pcg64::new(seed, increment >> 1))
    }

    /// Uniform on `(0, 1]` with 53 bits, for logarithms and reciprocals.
    #[inline]
    pub fn unit_open(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Exponential with mean 1: `-ln` of [`Stream::unit_open`].
    ///
    /// A logarithm takes long, but several at a time take hardly longer. So a few are drawn ahead, since who draws one
    /// is likely to draw more; whoever draws something else gets the bits that were to come.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        if self.taken >= BATCH {
            self.draw_ahead();
        }
        let exponential = self.ahead[self.taken].exponential;
        self.taken += 1;
        if self.taken == BATCH {
            self.draw_ahead();
        }
        exponential
    }

    #[inline(never)]
    fn draw_ahead(&mut self) {
        for ahead in &mut self.ahead {
            let bits = self.generator.next_u64();
            *ahead = Ahead {
                bits,
                exponential: -libm::log(1.0 - unit(bits)),
            };
        }
        self.taken = 0;
    }

    /// Uniform on `0..n` without bias (Lemire 2019); 0 when `n` is 0.
    ///
    /// Takes one draw, and a further one with probability below `n / 2^64`.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// True with probability `p`: never at 0 or below, always at 1 or above.
    ///
    /// Takes one draw whatever `p` is, so that runs which differ in `p` stay paired.
    #[inline]
    pub fn bernoulli(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}

/// Whether both go on with the same draws, however many of them either has made ahead.
impl PartialEq for Stream {
    fn eq(&self, other: &Stream) -> bool {
        let (mut one, mut two) = (self.generator.clone(), other.generator.clone());
        for _ in self.taken..other.taken {
            two.next_u64();
        }
        for _ in other.taken..self.taken {
            one.next_u64();
        }
        one == two
    }
}

impl Eq for Stream {}

impl From<Pcg64> for Stream {
    fn from(generator: Pcg64) -> Self {
        Stream {
            generator,
            ahead: [Ahead::default(); BATCH],
            taken: BATCH,
        }
    }
}

impl Entropy for Stream {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        match self.ahead.get(self.taken) {
            Some(ahead) => {
                self.taken += 1;
                ahead.bits
            }
            None => self.generator.next_u64(),
        }
    }
}

/// Uniform on `[0, 1)`, as [`Entropy::unit`] has it.
#[inline]
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A small generator for filling state and for expanding one draw into several (Steele, Lea and
/// Flood 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    /// With this state.
    #[must_use]
    pub const fn new(state: u64) -> SplitMix64 {
        SplitMix64(state)
    }
}

impl Entropy for SplitMix64 {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        let output = mix(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        output
    }
}

/// 2^64 divided by the golden ratio, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// One SplitMix64 step and its finaliser: a bijection in which every input bit moves every output bit.
#[inline]
const fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(GOLDEN);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

fn absorb(hash: u64, text: &str) -> u64 {
    let hash = text.as_bytes().chunks(8).fold(hash, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash ^ u64::from_le_bytes(word))
    });
    mix(hash ^ text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(stream: &mut impl Entropy, n: usize) -> Vec<u64> {
        (0..n).map(|_| stream.next_u64()).collect()
    }

    #[test]
    fn splitmix64_gives_the_published_vector() {
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
            7_804_594_928_223_864_054,
            10_895_525_637_215_051_397,
            5_078_158_048_327_840_177,
        ];
        assert_eq!(draws(&mut SplitMix64(1_234_567), 8), expected);
    }

    #[test]
    fn the_generator_is_numpys_pcg64() {
        // numpy: PCG64 with this raw state and increment, `random_raw(8)`.
        let (state, increment) = (
            0x0123_4567_89ab_cdef_0123_4567_89ab_cdef_u128,
            0x1_b47c_7397_2972_b7b7_u128,
        );
        let expected = [
            5_185_033_161_393_890_246,
            11_876_109_888_109_622_758,
            713_201_576_367_549_086,
            6_778_799_409_034_508_924,
            15_079_706_914_626_085_556,
            17_185_493_942_002_768_459,
            13_723_526_931_817_863_837,
            11_787_223_555_748_769_158,
        ];
        assert_eq!(
            draws(&mut Stream::from_state(state, increment), 8),
            expected
        );
    }

    #[test]
    fn the_same_names_give_the_same_stream_and_any_other_a_different_one() {
        let base = draws(&mut Stream::new(1, Purpose::Work, "api"), 4);
        assert_eq!(base, draws(&mut Stream::new(1, Purpose::Work, "api"), 4));
        for other in [
            Stream::new(2, Purpose::Work, "api"),
            Stream::new(1, Purpose::Link, "api"),
            Stream::new(1, Purpose::Work, "apj"),
            Stream::new(1, Purpose::Work, "api\0"),
            Stream::new(1, Purpose::Work, ""),
        ] {
            let other = draws(&mut other.clone(), 4);
            assert!(base.iter().zip(&other).all(|(a, b)| a != b), "{other:?}");
        }
    }

    #[test]
    fn seeding_is_part_of_the_contract() {
        // From a second implementation, in Python. Changing any of these changes every trajectory: a versioned event.
        let first = |seed, purpose, name| Stream::new(seed, purpose, name).next_u64();
        assert_eq!(
            first(0, Purpose::Arrivals, "web"),
            6_324_038_075_184_271_600
        );
        assert_eq!(
            first(42, Purpose::Jitter, "a name longer than a word"),
            15_044_407_286_847_886_662
        );
    }

    #[test]
    fn bounded_draws_are_uniform_and_in_range() {
        let mut stream = Stream::new(3, Purpose::Balance, "api");
        assert_eq!(stream.below(0), 0);
        assert_eq!(stream.below(1), 0);
        let mut counts = [0u32; 6];
        let n = 60_000;
        for _ in 0..n {
            counts[stream.below(6) as usize] += 1;
        }
        let expected = f64::from(n) / 6.0;
        let chi2: f64 = counts
            .iter()
            .map(|&count| (f64::from(count) - expected) * (f64::from(count) - expected) / expected)
            .sum();
        // 99.9 % quantile of chi-squared with 5 degrees of freedom.
        assert!(chi2 < 20.515, "chi-squared {chi2}");
        // Without rejection a bound of 3/4 of the range would give residues 1/2, 1/4 and 1/4.
        let n = 30_000;
        let zeros = (0..n)
            .filter(|_| stream.below(3 << 62).is_multiple_of(3))
            .count();
        // 10 000 ± 3.3 standard deviations of 81.6.
        assert!((9_730..=10_270).contains(&zeros), "{zeros}");
    }

    #[test]
    fn a_probability_takes_one_draw_whatever_it_is() {
        let mut stream = Stream::new(4, Purpose::Loss, "link");
        let mut reference = stream.clone();
        assert!(!stream.bernoulli(0.0) && !stream.bernoulli(-1.0) && !stream.bernoulli(f64::NAN));
        assert!(stream.bernoulli(1.0) && stream.bernoulli(2.0));
        draws(&mut reference, 5);
        assert_eq!(draws(&mut stream.clone(), 4), draws(&mut reference, 4));
        let hits = (0..100_000).filter(|_| stream.bernoulli(0.3)).count();
        // 30 000 ± 3.3 standard deviations of 145.
        assert!((29_522..=30_478).contains(&hits), "{hits}");
    }

    #[test]
    fn a_draw_made_ahead_is_the_one_that_would_have_come() {
        let mut stream = Stream::new(6, Purpose::Work, "api");
        let mut bits = draws(&mut stream.clone(), 1000).into_iter();
        for n in 0..500 {
            let expected = bits.next().expect("a thousand");
            if n % 7 < 4 {
                assert_eq!(stream.exponential(), -libm::log(1.0 - unit(expected)));
            } else {
                assert_eq!(stream.clone().next_u64(), expected);
                assert_eq!(stream.next_u64(), expected);
            }
        }
    }

    /// The tape follows each stream with a copy that draws bits alone: it must see every draw when it is taken.
    #[test]
    fn streams_are_equal_when_they_go_on_alike_whatever_was_drawn_ahead() {
        let mut stream = Stream::new(7, Purpose::Work, "api");
        let mut follower = stream.clone();
        for n in 0..40 {
            assert_eq!(stream, follower);
            let _ = stream.exponential();
            assert_ne!(stream, follower, "draw {n}");
            follower.next_u64();
            if n % 5 == 0 {
                stream.next_u64();
                assert_ne!(follower, stream);
                follower.next_u64();
            }
        }
    }

    #[test]
    fn open_units_are_never_zero() {
        let mut stream = Stream::new(5, Purpose::Work, "api");
        assert!((0..10_000).all(|_| (f64::MIN_POSITIVE..=1.0).contains(&stream.unit_open())));
    }
}
