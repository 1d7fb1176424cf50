//! Axes: what a value is called and where it stands.

use crate::number;

/// One direction of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is measured, with its unit.
    pub title: String,
    /// Value at the near end.
    pub from: f64,
    /// Value at the far end.
    pub to: f64,
    /// How values are spread in between.
    pub scale: Scale,
    /// Values that are named.
    pub ticks: Vec<(f64, String)>,
}

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences take equal lengths.
    Linear,
    /// Equal ratios do.
    Log,
    /// Names, equally far apart; between them there is nothing.
    Names,
}

impl Axis {
    /// From zero to a little above `max`; counts and rates.
    #[must_use]
    pub fn from_zero(title: impl Into<String>, max: f64, ticks: usize) -> Axis {
        let max = if max > 0.0 && max.is_finite() {
            max
        } else {
            1.0
        };
        let step = nice_step(max, ticks);
        let count = (max * 1.02 / step).ceil();
        let ticks = (0..=count as usize)
            .map(|i| (i as f64 * step, number::prefixed(i as f64 * step)))
            .collect();
        Axis {
            title: title.into(),
            from: 0.0,
            to: count * step,
            scale: Scale::Linear,
            ticks,
        }
    }

    /// From `from` to `to` exactly, with named values inside.
    #[must_use]
    pub fn between(title: impl Into<String>, from: f64, to: f64, ticks: usize) -> Axis {
        let to = if to > from { to } else { from + 1.0 };
        let step = nice_step(to - from, ticks);
        let first = (from / step).ceil() as i64;
        let last = (to / step + 1e-9).floor() as i64;
        let ticks = (first..=last).map(|i| (i as f64 * step, number::prefixed(i as f64 * step)));
        Axis {
            title: title.into(),
            from,
            to,
            scale: Scale::Linear,
            ticks: ticks.collect(),
        }
    }

    /// Simulated seconds from the start, named in steps people count time in.
    #[must_use]
    pub fn time(seconds: f64, ticks: usize) -> Axis {
        const STEPS: [f64; 14] = [
            1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0,
            7200.0,
        ];
        let aim = seconds / ticks as f64;
        let step = if aim < 0.7 {
            nice_step(seconds, ticks)
        } else {
            STEPS
                .iter()
                .copied()
                .find(|s| *s >= aim * 0.8)
                .unwrap_or_else(|| nice_step(seconds, ticks))
        };
        let ticks = (0..=(seconds / step + 1e-9) as usize)
            .map(|i| (i as f64 * step, number::plain_long(i as f64 * step)))
            .collect();
        let title = "simulated time (s)".into();
        Axis {
            title,
            from: 0.0,
            to: seconds,
            scale: Scale::Linear,
            ticks,
        }
    }

    /// 1, 2, 4, 8 … up to at least `max`: factors.
    #[must_use]
    pub fn doublings(title: impl Into<String>, min: f64, max: f64) -> Axis {
        let low = if min > 0.0 {
            libm::log2(min).floor().min(0.0) as i32
        } else {
            0
        }
        .max(-10);
        let high = (libm::log2(max.max(1.0)) - 1e-9)
            .ceil()
            .max(f64::from(low + 1))
            .min(40.0) as i32;
        let every = (high - low).unsigned_abs().div_ceil(11) as i32;
        // 1 is always among them.
        let ticks = (low..=high)
            .filter(|power| power % every == 0)
            .map(|power| {
                (
                    libm::exp2(f64::from(power)),
                    number::times(libm::exp2(f64::from(power))),
                )
            })
            .collect();
        let (from, to) = (libm::exp2(f64::from(low)), libm::exp2(f64::from(high)));
        Axis {
            title: title.into(),
            from,
            to,
            scale: Scale::Log,
            ticks,
        }
    }

    /// Powers of ten around the values, with 2 and 5 between them when there is room: lengths of
    /// time in seconds.
    #[must_use]
    pub fn durations(title: impl Into<String>, min: f64, max: f64) -> Axis {
        Axis::decades(title, min, max).named(number::duration)
    }

    /// Powers of ten around the values, with 2 and 5 between them when there is room.
    #[must_use]
    pub fn decades(title: impl Into<String>, min: f64, max: f64) -> Axis {
        let (min, max) = (min.max(1e-9), max.max(min.max(1e-9) * 1.01));
        let mut named = Vec::new();
        for power in libm::log10(min).floor() as i32..=libm::log10(max).ceil() as i32 {
            for digit in [1.0, 2.0, 5.0] {
                named.push(digit * libm::exp10(f64::from(power)));
            }
        }
        let from = named
            .iter()
            .rev()
            .copied()
            .find(|v| *v <= min * 1.0001)
            .unwrap_or(min);
        let to = named
            .iter()
            .copied()
            .find(|v| *v >= max * 0.9999)
            .unwrap_or(max);
        let decades = libm::log10(to / from);
        named.retain(|v| *v >= from * 0.9999 && *v <= to * 1.0001);
        if decades > 3.2 {
            named.retain(|v| (libm::log10(*v) - libm::log10(*v).round()).abs() < 1e-6);
        }
        let ticks = named
            .into_iter()
            .map(|v| (v, number::prefixed(v)))
            .collect();
        Axis {
            title: title.into(),
            from,
            to,
            scale: Scale::Log,
            ticks,
        }
    }

    /// Percentiles on the scale 1/(1−p): 0, 90, 99, 99.9 … are equally far apart.
    #[must_use]
    pub fn percentiles(nines: usize) -> Axis {
        let names = [
            "0",
            "90 %",
            "99 %",
            "99.9 %",
            "99.99 %",
            "99.999 %",
            "99.9999 %",
        ];
        let nines = nines.clamp(1, names.len() - 1);
        let mut ticks: Vec<(f64, String)> = (0..=nines)
            .map(|n| (libm::exp10(n as f64), names[n].to_string()))
            .collect();
        ticks.insert(1, (2.0, "50 %".into()));
        let (to, title) = (
            libm::exp10(nines as f64),
            "percentile (spread as 1/(1−p))".into(),
        );
        Axis {
            title,
            from: 1.0,
            to,
            scale: Scale::Log,
            ticks,
        }
    }

    /// Names, equally far apart, at 0, 1, 2 ….
    #[must_use]
    pub fn names<'n>(title: impl Into<String>, names: impl IntoIterator<Item = &'n str>) -> Axis {
        let names = names.into_iter().enumerate();
        let ticks: Vec<_> = names
            .map(|(i, name)| (i as f64, name.to_string()))
            .collect();
        Axis {
            title: title.into(),
            from: -0.5,
            to: ticks.len().max(1) as f64 - 0.5,
            scale: Scale::Names,
            ticks,
        }
    }

    /// The same with other names for its values.
    #[must_use]
    pub fn named(mut self, name: impl Fn(f64) -> String) -> Axis {
        for (value, label) in &mut self.ticks {
            *label = name(*value);
        }
        self
    }

    /// The same with `name` at its far end, beyond all values.
    #[must_use]
    pub fn beyond(mut self, name: &str) -> Axis {
        const SHARE: f64 = 0.12;
        self.to = match self.scale {
            Scale::Linear | Scale::Names => self.to + (self.to - self.from) * SHARE,
            Scale::Log => self.to * libm::pow(self.to / self.from, SHARE),
        };
        self.ticks.push((self.to, name.into()));
        self
    }

    /// Where `value` stands: 0 is the near end, 1 the far one; values beyond an end stand at it.
    #[must_use]
    pub fn position(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear | Scale::Names => (value - self.from) / (self.to - self.from),
            Scale::Log => libm::log(value / self.from) / libm::log(self.to / self.from),
        };
        if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        }
    }
}

/// 1, 2 or 5 times a power of ten, such that about `ticks` steps make `span`.
fn nice_step(span: f64, ticks: usize) -> f64 {
    let rough = span / ticks.max(1) as f64;
    let power = libm::exp10(libm::log10(rough).floor());
    let digit = rough / power;
    power
        * match digit {
            d if d <= 1.0 => 1.0,
            d if d <= 2.0 => 2.0,
            d if d <= 5.0 => 5.0,
            _ => 10.0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn rates_begin_at_zero_and_end_above_the_largest() {
        let axis = Axis::from_zero("calls per second", 2700.0, 5);
        assert_eq!(labels(&axis), ["0", "1 k", "2 k", "3 k"]);
        assert_eq!((axis.from, axis.to), (0.0, 3000.0));
        assert_eq!(Axis::from_zero("nothing", 0.0, 4).to, 1.5);
    }

    #[test]
    fn time_is_named_in_seconds() {
        assert_eq!(
            labels(&Axis::time(600.0, 6)),
            ["0", "120", "240", "360", "480", "600"]
        );
        assert_eq!(labels(&Axis::time(7200.0, 6)).last(), Some(&"7200"));
        assert_eq!(Axis::time(0.5, 6).ticks.len(), 6);
    }

    #[test]
    fn factors_double() {
        let axis = Axis::doublings("×", 1.0, 64.0);
        assert_eq!(labels(&axis), ["1×", "2×", "4×", "8×", "16×", "32×", "64×"]);
        assert!((axis.position(8.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn durations_close_around_what_is_shown() {
        let axis = Axis::durations("latency", 0.004, 0.9);
        assert!(axis.from <= 0.004 && axis.to >= 0.9);
        assert_eq!(
            labels(&axis),
            [
                "2 ms", "5 ms", "10 ms", "20 ms", "50 ms", "100 ms", "200 ms", "500 ms", "1 s"
            ]
        );
        assert_eq!(
            labels(&Axis::durations("latency", 1e-4, 20.0)),
            ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]
        );
    }

    #[test]
    fn beyond_all_values_there_is_room_for_a_name() {
        for axis in [
            Axis::from_zero("time", 30.0, 3),
            Axis::decades("time", 1.0, 30.0),
        ] {
            let (to, beyond) = (axis.to, axis.beyond("never"));
            assert_eq!(labels(&beyond).last(), Some(&"never"));
            assert_eq!(beyond.position(beyond.to), 1.0);
            assert!(beyond.position(to) < 0.93 && beyond.position(to) > 0.85);
        }
    }

    #[test]
    fn every_position_is_inside() {
        for axis in [
            Axis::time(10.0, 6),
            Axis::doublings("x", 1.0, 9.0),
            Axis::percentiles(3),
        ] {
            for value in [-1.0, 0.0, 1.0, 1e30, f64::NAN, f64::INFINITY] {
                let position = axis.position(value);
                assert!((0.0..=1.0).contains(&position), "{value} at {position}");
            }
        }
    }
}
