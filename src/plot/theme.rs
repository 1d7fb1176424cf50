//! How pictures look, in one place: colours, sizes and the font.

/// A colour, 0xRRGGBB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u32);

/// Calls answered in time.
pub const GOODPUT: Colour = Colour(0x00_9E73);
/// Load that comes from outside.
pub const OFFERED: Colour = Colour(0x00_72B2);
/// Attempts and retries.
pub const ATTEMPTS: Colour = Colour(0xD5_5E00);
/// Failures and timeouts.
pub const FAILED: Colour = Colour(0xCC_79A7);
/// Queues and wasted work.
pub const QUEUE: Colour = Colour(0xE6_9F00);
/// Neither good nor bad.
pub const NEUTRAL: Colour = Colour(0x56_B4E9);
/// Text and axes.
pub const INK: Colour = Colour(0x1B_1F24);
/// Text that may be overlooked.
pub const MUTED: Colour = Colour(0x5B_6470);
/// Grid lines.
pub const GRID: Colour = Colour(0xE5_E7EB);
/// The time during which a fault acts.
pub const TRIGGER: Colour = Colour(0xF3_E6D0);
/// Paper.
pub const PAPER: Colour = Colour(0xFF_FFFF);

/// Lines that have no meaning of their own, told apart: the Okabe–Ito colours in order of contrast.
pub const SERIES: [Colour; 7] = [OFFERED, ATTEMPTS, GOODPUT, FAILED, QUEUE, NEUTRAL, INK];

/// Width of a picture in its own units; one unit is one pixel of the PNG.
pub const WIDTH: f64 = 1280.0;
/// Height of a picture.
pub const HEIGHT: f64 = 720.0;

/// Text sizes, in units.
pub const TITLE: f64 = 28.0;
/// Size of the line under the title.
pub const SUBTITLE: f64 = 17.0;
/// Size of labels at lines and bars.
pub const LABEL: f64 = 17.0;
/// Size of axis ticks and axis titles.
pub const TICK: f64 = 15.0;
/// Size of the line at the bottom.
pub const FOOTER: f64 = 13.0;

/// What an SVG asks its viewer for; all of them have tabular figures.
pub const FONT_FAMILY: &str =
    "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif";
/// The bundled font.
pub const REGULAR: &[u8] = include_bytes!("../../assets/fonts/Inter-Regular.otf");
/// Its heavier cut.
pub const SEMIBOLD: &[u8] = include_bytes!("../../assets/fonts/Inter-SemiBold.otf");

impl Colour {
    /// Red, green and blue.
    #[must_use]
    pub const fn rgb(self) -> (u8, u8, u8) {
        ((self.0 >> 16) as u8, (self.0 >> 8) as u8, self.0 as u8)
    }

    /// This colour with `share` of `other` in it.
    #[must_use]
    pub fn mixed(self, other: Colour, share: f64) -> Colour {
        let ((r, g, b), (s, h, c)) = (self.rgb(), other.rgb());
        let mix =
            |a: u8, z: u8| (f64::from(a) + (f64::from(z) - f64::from(a)) * share).round() as u32;
        Colour(mix(r, s) << 16 | mix(g, h) << 8 | mix(b, c))
    }

    /// Ink or paper, whichever can be read on this colour.
    #[must_use]
    pub fn readable_on(self) -> Colour {
        let (r, g, b) = self.rgb();
        let luminance = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
        if luminance > 140.0 { INK } else { PAPER }
    }
}

/// The viridis scale (van der Walt and Smith, 2015) at `t` in 0..=1, interpolated between nine anchors.
#[must_use]
pub fn viridis(t: f64) -> Colour {
    const ANCHORS: [u32; 9] = [
        0x44_0154, 0x47_2D7B, 0x3B_528B, 0x2C_728E, 0x21_918C, 0x28_AE80, 0x5E_C962, 0xAD_DC30,
        0xFD_E725,
    ];
    let x = if t.is_finite() {
        t.clamp(0.0, 1.0)
    } else {
        0.0
    } * (ANCHORS.len() - 1) as f64;
    let i = (x as usize).min(ANCHORS.len() - 2);
    Colour(ANCHORS[i]).mixed(Colour(ANCHORS[i + 1]), x - i as f64)
}
