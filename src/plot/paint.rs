//! Pictures to files: SVG and PNG, both through plotters' backends and with the bundled font.

use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Text as TextElement};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBAColor, ShapeStyle, TextStyle};

use super::font::{EM, font, register_fonts};
use super::picture::{Anchor, Mark, Picture, Point, Stroke, Text, dashes};
use super::theme::{self, Colour};

/// plotters works on whole pixels; drawing this much larger keeps curves smooth.
const SVG_GRID: f64 = 8.0;
/// The PNG is painted this much larger and averaged down: smooth lines, polygons and letters alike.
const SUPERSAMPLING: usize = 3;

/// A picture in both of its formats.
#[derive(Clone, Debug)]
pub struct Painted {
    /// An SVG document.
    pub svg: String,
    /// A PNG file.
    pub png: Vec<u8>,
}

impl Painted {
    /// Paints `picture`.
    #[must_use]
    pub fn of(picture: &Picture) -> Painted {
        Painted {
            svg: svg(picture),
            png: png(picture, 1),
        }
    }
}

/// The picture as an SVG document.
#[must_use]
pub fn svg(picture: &Picture) -> String {
    let size = (theme::WIDTH, theme::HEIGHT);
    let pixels = ((size.0 * SVG_GRID) as u32, (size.1 * SVG_GRID) as u32);
    let mut document = String::new();
    let backend = SVGBackend::with_string(&mut document, pixels);
    // VPos::Top puts the baseline at 0.76 em below the given point.
    draw(picture, backend, SVG_GRID, 0.76).expect("writing to a string does not fail");
    let body = document.split_once('\n').map_or("", |(_, body)| body);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" \
         role=\"img\" stroke-linejoin=\"round\" stroke-linecap=\"butt\">\n<title>{}</title>\n{body}",
        size.0,
        size.1,
        pixels.0,
        pixels.1,
        escaped(&picture.alt),
    )
}

/// The picture as a PNG of 1280 × 720 pixels, or `scale` times that.
#[must_use]
pub fn png(picture: &Picture, scale: usize) -> Vec<u8> {
    let (width, height) = (
        theme::WIDTH as usize * scale,
        theme::HEIGHT as usize * scale,
    );
    let fine = (width * SUPERSAMPLING, height * SUPERSAMPLING);
    let mut pixels = vec![255; fine.0 * fine.1 * 3];
    let backend = BitMapBackend::with_buffer(&mut pixels, (fine.0 as u32, fine.1 as u32));
    // Its baseline is half the size below the given point.
    draw(picture, backend, (scale * SUPERSAMPLING) as f64, EM / 2.0)
        .expect("drawing into memory does not fail");
    let averaged = averaged(&pixels, width, height);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&averaged))
        .expect("encoding into memory does not fail");
    file
}

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

fn draw<B: DrawingBackend>(picture: &Picture, backend: B, scale: f64, baseline: f64) -> Drawn<B> {
    register_fonts();
    let area = backend.into_drawing_area();
    let at = |&(x, y): &Point| ((x * scale).round() as i32, (y * scale).round() as i32);
    area.fill(&rgba(theme::PAPER, 1.0))?;
    for mark in &picture.marks {
        match mark {
            Mark::Line(stroke, points) => draw_line(&area, stroke, points, scale)?,
            Mark::Area {
                points,
                colour,
                opacity,
            } => {
                let corners: Vec<_> = points.iter().map(at).collect();
                area.draw(&Polygon::new(corners, rgba(*colour, *opacity).filled()))?;
            }
            Mark::Dot {
                at: middle,
                radius,
                colour,
            } => {
                let radius = (radius * scale).round() as i32;
                area.draw(&Circle::new(
                    at(middle),
                    radius,
                    rgba(*colour, 1.0).filled(),
                ))?;
            }
            Mark::Text(text) => draw_text(&area, text, scale, baseline)?,
        }
    }
    area.present()
}

fn draw_line<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    stroke: &Stroke,
    points: &[Point],
    scale: f64,
) -> Drawn<B> {
    let style = ShapeStyle {
        color: rgba(stroke.colour, 1.0),
        filled: false,
        stroke_width: (stroke.width * scale).round() as u32,
    };
    let path = |points: &[Point]| {
        let at = |&(x, y): &Point| ((x * scale).round() as i32, (y * scale).round() as i32);
        PathElement::new(points.iter().map(at).collect::<Vec<_>>(), style)
    };
    match stroke.dash {
        None => area.draw(&path(points)),
        Some(dash) => dashes(points, dash)
            .iter()
            .try_for_each(|dash| area.draw(&path(dash))),
    }
}

fn draw_text<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    text: &Text,
    scale: f64,
    baseline: f64,
) -> Drawn<B> {
    let h_pos = match text.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let style = TextStyle {
        font: font(text.size * scale, text.bold),
        color: rgba(text.colour, 1.0).to_backend_color(),
        pos: Pos::new(h_pos, VPos::Top),
    };
    let top = text.at.1 - baseline * text.size;
    let at = (
        (text.at.0 * scale).round() as i32,
        (top * scale).round() as i32,
    );
    area.draw(&TextElement::new(text.text.as_str(), at, style))
}

fn rgba(colour: Colour, opacity: f64) -> RGBAColor {
    let (r, g, b) = colour.rgb();
    RGBAColor(r, g, b, opacity)
}

/// Averages squares of `SUPERSAMPLING`² pixels.
fn averaged(fine: &[u8], width: usize, height: usize) -> Vec<u8> {
    const N: usize = SUPERSAMPLING;
    let row = width * N * 3;
    let mut coarse = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            let corner = y * N * row + x * N * 3;
            for channel in 0..3 {
                let mut sum = 0;
                for dy in 0..N {
                    for dx in 0..N {
                        sum += u32::from(fine[corner + dy * row + dx * 3 + channel]);
                    }
                }
                coarse.push(((sum + (N * N / 2) as u32) / (N * N) as u32) as u8);
            }
        }
    }
    coarse
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_svg_holds_its_text_as_text_and_escaped() {
        let mut picture = Picture {
            alt: "a < b".into(),
            ..Picture::default()
        };
        picture.text(Text::new((10.0, 20.0), 20.0, "web → api & more"));
        let document = svg(&picture);
        assert!(document.contains("<title>a &lt; b</title>"));
        assert!(document.contains("web → api &amp; more"));
        assert!(document.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn a_png_has_the_size_it_says() {
        let file = png(&Picture::default(), 1);
        let decoder = png::Decoder::new(file.as_slice());
        let reader = decoder.read_info().expect("a PNG");
        assert_eq!((reader.info().width, reader.info().height), (1280, 720));
    }
}
