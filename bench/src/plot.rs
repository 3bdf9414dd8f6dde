//! Line charts as SVG, in as few strokes as possible: both axes logarithmic or both plain, one line a series.

use std::fmt::Write;

use incog_core::{Error, ErrorKind, Result};

use crate::{Arguments, say};

/// A series of points.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 250.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 56.0;
/// The height of a line of text.
const LINE: f64 = 15.0;
const COLOURS: [&str; 8] =
    ["#1b6ca8", "#d1495b", "#2e8b57", "#8a5a00", "#6b4fa0", "#00798c", "#b5651d", "#444444"];

/// The chart of all series with logarithmic axes and a heavier line at y = 1.
pub(crate) fn log_log(title: &str, x_axis: &str, y_axis: &str, series: &[Series]) -> String {
    chart(title, x_axis, y_axis, series, Scale::Logarithmic)
}

/// The chart of all series with plain axes, from 0 up.
pub(crate) fn linear(title: &str, x_axis: &str, y_axis: &str, series: &[Series]) -> String {
    chart(title, x_axis, y_axis, series, Scale::Linear)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Logarithmic,
    Linear,
}

impl Scale {
    /// Where a value stands.
    fn place(self, value: f64) -> f64 {
        match self {
            Scale::Logarithmic => value.log10(),
            Scale::Linear => value,
        }
    }

    /// The values at which the y axis is marked: the decades, or some five round steps.
    fn marks(self, low: f64, high: f64) -> Vec<f64> {
        match self {
            Scale::Logarithmic => {
                let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
                (first..=last).map(|decade| 10_f64.powi(decade)).collect()
            }
            Scale::Linear => {
                let decade = 10_f64.powf((high / 5.0).log10().floor());
                let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
                let step = steps.into_iter().find(|step| step * 5.0 >= high).unwrap_or(decade * 10.0);
                let n_steps = (high / step).ceil() as u32;
                // Rounded: 3 * 0.1 is no 0.3.
                (0..=n_steps).map(|at| (f64::from(at) * step * 1e6).round() / 1e6).collect()
            }
        }
    }
}

fn chart(title: &str, x_axis: &str, y_axis: &str, series: &[Series], scale: Scale) -> String {
    let points = || series.iter().flat_map(|series| series.points.iter().copied());
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (x_low, x_high) = range(&mut points().map(|point| point.0));
    let base = if scale == Scale::Logarithmic { 1.0 } else { 0.0 };
    let (y_low, y_high) = range(&mut points().map(|point| point.1).chain([base]));
    let y_marks = scale.marks(y_low, y_high);
    let share = |value: f64, low: f64, high: f64| {
        (scale.place(value) - scale.place(low)) / (scale.place(high) - scale.place(low))
    };
    let x = |value: f64| LEFT + share(value, x_low, x_high) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| {
        HEIGHT - BOTTOM - share(value, y_marks[0], y_marks[y_marks.len() - 1]) * (HEIGHT - TOP - BOTTOM)
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"16\">{title}</text>\n"
    );
    let end = WIDTH - RIGHT;
    for &value in &y_marks {
        let (at, weight) = (y(value), if value == base { "2" } else { "0.5" });
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{end:.1}\" stroke=\"#888\" stroke-width=\"{weight}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    let mut marks: Vec<f64> = points().map(|point| point.0).collect();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    for mark in marks {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{mark}</text>",
            x(mark),
            HEIGHT - BOTTOM + 18.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_axis}</text>\n\
         <text x=\"16\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {:.1})\">{y_axis}</text>",
        (LEFT + end) / 2.0,
        HEIGHT - 12.0,
        HEIGHT / 2.0,
        HEIGHT / 2.0
    );
    // Names stand where the lines end, the upper ones first, and none on another.
    let mut ends: Vec<(f64, usize)> = Vec::new();
    for (at, one) in series.iter().enumerate() {
        let path: Vec<String> =
            one.points.iter().map(|&(px, py)| format!("{:.1} {:.1}", x(px), y(py))).collect();
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            path.join("L"),
            COLOURS[at % COLOURS.len()]
        );
        ends.extend(one.points.last().map(|&(_, py)| (y(py) + 4.0, at)));
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = f64::NEG_INFINITY;
    for (place, at) in ends {
        lowest = place.max(lowest + LINE);
        let (colour, name) = (COLOURS[at % COLOURS.len()], &series[at].name);
        let _ =
            writeln!(svg, "<text x=\"{:.1}\" y=\"{lowest:.1}\" fill=\"{colour}\">{name}</text>", end + 8.0);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Puts a chart where the charts go.
pub(crate) fn write_chart(arguments: &Arguments, file: &str, chart: &str) -> Result<()> {
    let path = arguments.plots.join(file);
    std::fs::write(&path, chart)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot write `{}`: {error}", path.display())))?;
    say(&format!("\nplotted in `{}`", path.display()));
    Ok(())
}
