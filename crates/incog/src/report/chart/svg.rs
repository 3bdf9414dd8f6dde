//! A picture as SVG: text, for browsers and editors.

use std::fmt::Write;

use crate::report::chart::{Anchor, LETTER, PAPER, Picture, Shape};

/// Text inside XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

pub(super) fn written(picture: &Picture) -> String {
    let Picture { width, height, title, alt, shapes } = picture;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"{}\" font-family=\"DejaVu Sans, Verdana, sans-serif\" \
         font-size=\"{LETTER}\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{PAPER}\"/>\n",
        escaped(alt),
        escaped(title),
        escaped(alt)
    );
    for shape in shapes {
        let _ = match shape {
            Shape::Rectangle { x, y, width, height, fill } => writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>"
            ),
            Shape::Text { x, y, anchor, fill, text } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{}</text>",
                    escaped(text)
                )
            }
        };
    }
    svg + "</svg>\n"
}
