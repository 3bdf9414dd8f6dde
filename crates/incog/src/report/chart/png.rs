//! A picture as PNG: pixels, for documents and slides.
//!
//! Rectangles are filled to whole pixels, letters are those of `font.bin` (made by `font.py`), and the file is the simplest that the
//! format (ISO/IEC 15948) has: 8 bits of red, green and blue, no filter, one block of data.

use std::io::{Read, Write};
use std::sync::OnceLock;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::report::chart::{Anchor, Colour, LETTER, PAPER, Picture, Shape};

/// Pixels for each unit.
const SCALE: f64 = 2.0;

/// The letters from space to tilde.
const FONT: &[u8] = include_bytes!("font.bin");

/// Pixels of a letter from top to bottom, and from its top to where letters stand.
const HEIGHT: usize = 34;
const BASE: f64 = 24.0;

/// A letter: its width, and shades from 0 to 15, row by row. Rows have an even number of pixels.
struct Letter {
    width: usize,
    shades: Vec<u8>,
}

fn letters() -> &'static [Letter] {
    static LETTERS: OnceLock<Vec<Letter>> = OnceLock::new();
    LETTERS.get_or_init(|| {
        let mut bytes = Vec::new();
        ZlibDecoder::new(FONT).read_to_end(&mut bytes).expect("the letters are compiled in");
        let mut letters = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let width = usize::from(bytes[at]);
            let n_bytes = width.div_ceil(2) * HEIGHT;
            let packed = &bytes[at + 1..at + 1 + n_bytes];
            letters.push(Letter {
                width,
                shades: packed.iter().flat_map(|&two| [two >> 4, two & 15]).collect(),
            });
            at += 1 + n_bytes;
        }
        letters
    })
}

/// The letter for a character; a question mark for one that there is none for.
fn letter(character: char) -> &'static Letter {
    let letters = letters();
    let at = |character: char| (character as usize).checked_sub(32).and_then(|at| letters.get(at));
    at(character).or_else(|| at('?')).expect("there is a question mark")
}

/// Pixels of red, green and blue.
struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

fn parts(colour: Colour) -> [u8; 3] {
    [1, 3, 5].map(|at| u8::from_str_radix(&colour[at..at + 2], 16).unwrap_or(0))
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        let pixels = parts(PAPER).repeat(width * height);
        Canvas { width, height, pixels }
    }

    /// Mixes a colour into a pixel, `shade` parts of 15.
    fn mix(&mut self, x: usize, y: usize, colour: [u8; 3], shade: u8) {
        if x >= self.width || y >= self.height {
            return;
        }
        let at = 3 * (y * self.width + x);
        for (pixel, part) in self.pixels[at..at + 3].iter_mut().zip(colour) {
            let (old, new, shade) = (u16::from(*pixel), u16::from(part), u16::from(shade));
            *pixel = ((old * (15 - shade) + new * shade) / 15) as u8;
        }
    }

    fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, colour: [u8; 3]) {
        let pixel = |place: f64| (place * SCALE).round().max(0.0) as usize;
        // Whatever has a width is seen.
        let end = |from: usize, to: f64| if to > 0.0 { pixel(to).max(from + 1) } else { from };
        let (left, top) = (pixel(x), pixel(y));
        for row in top..end(top, y + height) {
            for column in left..end(left, x + width) {
                self.mix(column, row, colour, 15);
            }
        }
    }

    fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str, colour: [u8; 3]) {
        let width: usize = text.chars().map(|character| letter(character).width).sum();
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width as f64 / 2.0,
            Anchor::End => width as f64,
        };
        let mut left = (x * SCALE - before).round().max(0.0) as usize;
        let top = (y * SCALE - BASE).round().max(0.0) as usize;
        for character in text.chars() {
            let Letter { width, shades } = letter(character);
            let in_row = width.div_ceil(2) * 2;
            for (at, &shade) in shades.iter().enumerate().filter(|(_, shade)| **shade > 0) {
                self.mix(left + at % in_row, top + at / in_row, colour, shade);
            }
            left += width;
        }
    }
}

pub(super) fn drawn(picture: &Picture) -> Vec<u8> {
    debug_assert_eq!(LETTER * SCALE, 26.0, "the letters are made for this size");
    let pixels = |units: f64| (units * SCALE).ceil() as usize;
    let mut canvas = Canvas::new(pixels(picture.width), pixels(picture.height));
    for shape in &picture.shapes {
        match shape {
            Shape::Rectangle { x, y, width, height, fill } => {
                canvas.rectangle(*x, *y, *width, *height, parts(fill));
            }
            Shape::Text { x, y, anchor, fill, text } => canvas.text(*x, *y, *anchor, text, parts(fill)),
        }
    }
    file(&canvas, &picture.alt)
}

/// The file: a signature and four kinds of chunks.
fn file(canvas: &Canvas, alt: &str) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let [width, height] = [canvas.width, canvas.height].map(|n| (n as u32).to_be_bytes());
    // 8 bits, red, green and blue, the one way to compress, the one way to filter, not interlaced.
    chunk(&mut png, b"IHDR", &[&width[..], &height, &[8, 2, 0, 0, 0]].concat());
    // What is to be seen, for who does not see it: not compressed, no language.
    chunk(&mut png, b"iTXt", &[b"Description\0\0\0\0\0", alt.as_bytes()].concat());
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in canvas.pixels.chunks(3 * canvas.width) {
        // No filter.
        rows.write_all(&[0]).and_then(|()| rows.write_all(row)).expect("memory can be written to");
    }
    chunk(&mut png, b"IDAT", &rows.finish().expect("memory can be written to"));
    chunk(&mut png, b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], content: &[u8]) {
    png.extend((content.len() as u32).to_be_bytes());
    let from = png.len();
    png.extend(kind);
    png.extend(content);
    let mut sum = flate2::Crc::new();
    sum.update(&png[from..]);
    png.extend(sum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::INK;

    #[test]
    fn there_is_every_letter_and_letters_leave_ink() {
        assert_eq!(letters().len(), 95);
        for (at, letter) in letters().iter().enumerate() {
            let is_inked = letter.shades.iter().any(|&shade| shade > 8);
            assert_eq!(is_inked, at > 0, "{:?}", char::from(at as u8 + 32));
        }
    }

    #[test]
    fn a_file_has_its_chunks_and_pixels_where_they_belong() {
        let (mut picture, _) = Picture::new(20.0, "", "a bar".to_owned());
        picture.set_height(10.0);
        picture.rectangle(5.0, 2.0, 10.0, 4.0, INK);
        let png = picture.to_png();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"IEND\xaeB`\x82"));
        let at = png.windows(4).position(|four| four == b"IDAT").unwrap();
        let length = u32::from_be_bytes(png[at - 4..at].try_into().unwrap()) as usize;
        let mut rows = Vec::new();
        ZlibDecoder::new(&png[at + 4..at + 4 + length]).read_to_end(&mut rows).unwrap();
        assert_eq!(rows.len(), 20 * (1 + 3 * 40));
        let pixel = |x: usize, y: usize| rows[y * 121 + 1 + 3 * x];
        assert_eq!((pixel(9, 4), pixel(10, 4), pixel(29, 11), pixel(30, 11)), (255, 34, 34, 255));
    }
}
