//! A line of time drawn with block characters.

use super::table::width;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// `values` in `width` characters from 0 to `max`; a gap where there is no value. Values that share a
/// character are averaged.
#[must_use]
pub fn sparkline(values: &[Option<f64>], width: usize, max: f64) -> String {
    if values.is_empty() {
        return String::new();
    }
    let width = width.min(values.len());
    (0..width)
        .map(|i| {
            let part = &values[i * values.len() / width..(i + 1) * values.len() / width];
            let known: Vec<f64> = part.iter().flatten().copied().collect();
            if known.is_empty() {
                return ' ';
            }
            let mean = known.iter().sum::<f64>() / known.len() as f64;
            let level = if max > 0.0 {
                mean / max * BLOCKS.len() as f64
            } else {
                0.0
            };
            BLOCKS[(level.ceil() as usize).clamp(1, BLOCKS.len()) - 1]
        })
        .collect()
}

/// `width` characters of which those whose time meets an interval are `mark`; times are shares of the
/// whole.
#[must_use]
pub fn marks(intervals: &[(f64, f64)], width: usize, mark: char) -> String {
    (0..width)
        .map(|i| {
            let (from, to) = (i as f64 / width as f64, (i + 1) as f64 / width as f64);
            let met = intervals
                .iter()
                .any(|&(a, b)| a < to && (b > from || (a == b && a >= from)));
            if met { mark } else { ' ' }
        })
        .collect()
}

/// The ends of a line of time; its begin is not said where there is no room for both.
#[must_use]
pub fn ends(end: String, characters: usize) -> String {
    const BEGIN: &str = "0 s";
    match characters.checked_sub(BEGIN.len()) {
        Some(room) if room >= width(&end) + 2 => format!("{BEGIN}{end:>room$}"),
        _ => format!("{end:>characters$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_levels_and_gaps() {
        let values = [Some(0.0), Some(4.0), None, Some(8.0)];
        assert_eq!(sparkline(&values, 4, 8.0), "▁▄ █");
        assert_eq!(sparkline(&values, 2, 8.0), "▂█");
        assert_eq!(sparkline(&[Some(0.0)], 10, 0.0), "▁");
        assert_eq!(sparkline(&[], 10, 1.0), "");
    }

    #[test]
    fn a_short_fault_still_has_its_mark() {
        assert_eq!(marks(&[(0.5, 0.5)], 4, '▔'), "  ▔ ");
        assert_eq!(marks(&[(0.2, 0.6)], 4, '▔'), "▔▔▔ ");
        assert_eq!(marks(&[], 3, '▔'), "   ");
    }

    #[test]
    fn the_ends_of_a_short_line_do_not_run_together() {
        let ends = |end: &str, characters| ends(end.into(), characters);
        assert_eq!(ends("10 s", 12), "0 s     10 s");
        assert_eq!(ends("26.8 ms", 12), "0 s  26.8 ms");
        assert_eq!(ends("26.8 ms", 11), "    26.8 ms");
        assert_eq!(ends("5 ns", 2), "5 ns");
    }
}
