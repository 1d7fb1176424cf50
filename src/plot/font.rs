//! The bundled font, and how wide text is in it.

use std::sync::Once;

use plotters::style::{FontDesc, FontFamily, FontStyle, IntoFont, register_font};

use super::theme;

/// plotters' size of a text is this many em (its backends divide by it).
pub(super) const EM: f64 = 1.24;
/// Text is measured so much larger than it is.
const FINE: f64 = 8.0;

/// How wide a text is, in units.
#[must_use]
pub fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    register_fonts();
    // Measured large, since plotters measures in whole pixels.
    font(size * FINE, bold)
        .box_size(text)
        .map_or(0.0, |(width, _)| f64::from(width) / FINE)
}

/// The bundled font at so many pixels to the em.
pub(super) fn font(em: f64, bold: bool) -> FontDesc<'static> {
    let cut = if bold {
        FontStyle::Bold
    } else {
        FontStyle::Normal
    };
    (FontFamily::Name(theme::FONT_FAMILY), em * EM, cut).into_font()
}

/// plotters knows the bundled font from now on.
pub(super) fn register_fonts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (style, bytes) in [
            (FontStyle::Normal, theme::REGULAR),
            (FontStyle::Bold, theme::SEMIBOLD),
        ] {
            assert!(
                register_font(theme::FONT_FAMILY, style, bytes).is_ok(),
                "the bundled font is a font"
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_equally_wide() {
        let widths: Vec<f64> = ('0'..='9')
            .map(|d| text_width(&d.to_string().repeat(8), 20.0, false))
            .collect();
        assert!(
            widths.iter().all(|w| (w - widths[0]).abs() < 0.5),
            "{widths:?}"
        );
    }
}
