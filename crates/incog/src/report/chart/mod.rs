//! Charts: one picture, as SVG or as PNG.
//!
//! A chart is made of three shapes (rectangles, lines along the axes, texts), and both formats are made from those, so they show the
//! same. Ticks are round numbers, those of whole numbers are whole; what is only known at whole numbers is drawn in steps. A title says
//! which data, how many rows and which policy; the alternative text says it for who cannot see it.
//!
//! Ours rather than a plotting crate's: charts here are bars and steps along the axes, which take no anti-aliasing but that of letters,
//! and a rasterizer of SVG would bring some forty crates, and fonts of the machine it runs on, so that the same chart would look
//! different elsewhere. [`png`] has the letters with it.

mod axis;
mod png;
mod svg;

use std::path::Path;

use incog_core::Result;

use crate::publish::sink::Unfinished;

pub(crate) use axis::{Scale, ticks};

/// A colour, as SVG has it.
pub(crate) type Colour = &'static str;

pub(crate) const INK: Colour = "#222222";
pub(crate) const FAINT: Colour = "#666666";
pub(crate) const GRID: Colour = "#dddddd";
pub(crate) const STRONG: Colour = "#1b6ca8";
pub(crate) const PALE: Colour = "#8fb8d8";
const PAPER: Colour = "#ffffff";

/// Where a text stands beside its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// What a picture is made of.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Rectangle { x: f64, y: f64, width: f64, height: f64, fill: Colour },
    Text { x: f64, y: f64, anchor: Anchor, fill: Colour, text: String },
}

/// A chart, ready to be written.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    width: f64,
    height: f64,
    title: String,
    /// What is to be seen, for who does not see it.
    alt: String,
    shapes: Vec<Shape>,
}

/// How large letters are.
pub(crate) const LETTER: f64 = 13.0;

/// Letters are about this wide, on average.
const LETTER_WIDTH: f64 = 7.4;

impl Picture {
    /// A picture with a title, in as many lines as it takes, and the height that they take.
    pub(crate) fn new(width: f64, title: &str, alt: String) -> (Self, f64) {
        let mut picture = Picture { width, height: 0.0, title: title.to_owned(), alt, shapes: Vec::new() };
        let most = ((width - 20.0) / LETTER_WIDTH) as usize;
        let mut lines: Vec<String> = vec![String::new()];
        for word in title.split(' ') {
            let line = lines.last_mut().expect("there is a line");
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > most {
                lines.push(word.to_owned());
            } else {
                line.push_str(if line.is_empty() { "" } else { " " });
                line.push_str(word);
            }
        }
        for (at, line) in lines.iter().enumerate() {
            picture.text(10.0, 22.0 + 18.0 * at as f64, Anchor::Start, INK, line.clone());
        }
        (picture, 22.0 + 18.0 * lines.len() as f64)
    }

    pub(crate) fn set_height(&mut self, height: f64) {
        self.height = height;
    }

    pub(crate) fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, fill: Colour) {
        self.shapes.push(Shape::Rectangle { x, y, width, height, fill });
    }

    /// A line along the axis of x.
    pub(crate) fn across(&mut self, x: [f64; 2], y: f64, thick: f64, fill: Colour) {
        self.rectangle(x[0], y - thick / 2.0, x[1] - x[0], thick, fill);
    }

    /// A line along the axis of y, from whichever end.
    pub(crate) fn up(&mut self, x: f64, y: [f64; 2], thick: f64, fill: Colour) {
        let (top, bottom) = (y[0].min(y[1]), y[0].max(y[1]));
        self.rectangle(x - thick / 2.0, top - thick / 2.0, thick, bottom - top + thick, fill);
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, fill: Colour, text: impl Into<String>) {
        self.shapes.push(Shape::Text { x, y, anchor, fill, text: text.into() });
    }

    /// As SVG.
    pub(crate) fn to_svg(&self) -> String {
        svg::written(self)
    }

    /// As PNG, two pixels for each unit of the SVG.
    pub(crate) fn to_png(&self) -> Vec<u8> {
        png::drawn(self)
    }

    /// Writes the picture, whole or not at all: as PNG where the name ends so, as SVG otherwise.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let is_png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
        let mut file = Unfinished::create(path)?;
        file.put(&if is_png { self.to_png() } else { self.to_svg().into_bytes() })?;
        file.finish()?.appear()
    }
}
