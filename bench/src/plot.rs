//! Line charts as SVG, in as few strokes as possible: axes logarithmic or plain, one line a series, its name at its end.

use std::fmt::Write;

use incog_core::{Error, ErrorKind, Result};

use crate::{Arguments, say};

/// A series of points.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 874.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 250.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 56.0;
/// The height of a line of text.
const LINE: f64 = 15.0;
/// The width of a mark of the x axis.
const MARK: f64 = 42.0;
const COLOURS: [&str; 8] =
    ["#1b6ca8", "#d1495b", "#2e8b57", "#8a5a00", "#6b4fa0", "#00798c", "#b5651d", "#444444"];

/// The chart of all series with logarithmic axes and a heavier line at y = 1.
pub(crate) fn log_log(title: &str, x_axis: &str, y_axis: &str, series: &[Series]) -> String {
    let axis = |name| Axis { name, scale: Scale::Log, mark: number };
    chart(title, &axis(x_axis), &axis(y_axis), Some(1.0), series)
}

/// The chart of all series with plain axes, from 0 up.
pub(crate) fn linear(title: &str, x_axis: &str, y_axis: &str, series: &[Series]) -> String {
    let axis = |name| Axis { name, scale: Scale::Linear, mark: number };
    chart(title, &axis(x_axis), &axis(y_axis), Some(0.0), series)
}

/// What an axis shows, and how.
pub(crate) struct Axis<'a> {
    pub(crate) name: &'a str,
    pub(crate) scale: Scale,
    /// How a value is written beside the axis: [`number`] or [`milliseconds`].
    pub(crate) mark: fn(f64) -> String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Log,
    Linear,
}

impl Scale {
    /// Where a value stands.
    fn place(self, value: f64) -> f64 {
        match self {
            Scale::Log => value.log10(),
            Scale::Linear => value,
        }
    }

    /// The values at which the y axis is marked: the decades, or some five round steps.
    fn marks(self, low: f64, high: f64) -> Vec<f64> {
        match self {
            Scale::Log => {
                let first = low.log10().floor() as i32;
                let last = (high.log10().ceil() as i32).max(first + 1);
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

/// A number as a mark of an axis: 250, 45.2 k, 280 k, 4.6 M.
pub(crate) fn number(value: f64) -> String {
    let short = |value: f64, unit: &str| {
        let digits = if value < 100.0 { 10.0 } else { 1.0 };
        format!("{} {unit}", (value * digits).round() / digits)
    };
    match value {
        1e6.. => short(value / 1e6, "M"),
        1e4.. => short(value / 1e3, "k"),
        _ => value.to_string(),
    }
}

/// Milliseconds as a mark of an axis: 0.1 ms, 100 ms, 10 s.
pub(crate) fn milliseconds(value: f64) -> String {
    if value < 1000.0 { format!("{value} ms") } else { format!("{} s", value / 1000.0) }
}

/// The chart of all series. `heavy` is a value of y that is always in sight, with a heavier line.
pub(crate) fn chart(
    title: &str,
    x_axis: &Axis<'_>,
    y_axis: &Axis<'_>,
    heavy: Option<f64>,
    series: &[Series],
) -> String {
    let points = || series.iter().flat_map(|series| series.points.iter().copied());
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (x_low, x_high) = range(&mut points().map(|point| point.0));
    let (y_low, y_high) = range(&mut points().map(|point| point.1).chain(heavy));
    let y_marks = y_axis.scale.marks(y_low, y_high);
    let share = |scale: Scale, value: f64, low: f64, high: f64| {
        (scale.place(value) - scale.place(low)) / (scale.place(high) - scale.place(low))
    };
    let x = |value: f64| LEFT + share(x_axis.scale, value, x_low, x_high) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| {
        let share = share(y_axis.scale, value, y_marks[0], y_marks[y_marks.len() - 1]);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"16\">{title}</text>\n"
    );
    let end = WIDTH - RIGHT;
    for &value in &y_marks {
        let (at, weight) = (y(value), if Some(value) == heavy { "2" } else { "0.5" });
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{end:.1}\" stroke=\"#888\" stroke-width=\"{weight}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            (y_axis.mark)(value)
        );
    }
    let mut marks: Vec<f64> = points().map(|point| point.0).collect();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    let mut next = f64::INFINITY;
    for value in marks.into_iter().rev() {
        // From the last one down: a mark that would touch the next is left out.
        let at = x(value);
        if next - at < MARK {
            continue;
        }
        next = at;
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1} {:.1}v5\" stroke=\"#888\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 18.0,
            (x_axis.mark)(value)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
         <text x=\"16\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {:.1})\">{}</text>",
        (LEFT + end) / 2.0,
        HEIGHT - 12.0,
        x_axis.name,
        HEIGHT / 2.0,
        HEIGHT / 2.0,
        y_axis.name
    );
    // Names stand where the lines end, the upper ones first, and none on another.
    let mut ends: Vec<(f64, f64, usize)> = Vec::new();
    for (at, one) in series.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let places: Vec<(f64, f64)> = one.points.iter().map(|&(px, py)| (x(px), y(py))).collect();
        let path: Vec<String> = places.iter().map(|(px, py)| format!("{px:.1} {py:.1}")).collect();
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join("L")
        );
        for (px, py) in &places {
            let _ = writeln!(svg, "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
        ends.extend(places.last().map(|&(px, py)| (py, px, at)));
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = f64::NEG_INFINITY;
    for (py, px, at) in ends {
        lowest = (py + 4.0).max(lowest + LINE);
        let (colour, name) = (COLOURS[at % COLOURS.len()], &series[at].name);
        // From the end of the line to its name, where that is not beside it.
        let _ = writeln!(
            svg,
            "<path d=\"M{px:.1} {py:.1}L{:.1} {:.1}\" stroke=\"{colour}\" stroke-width=\"0.7\" stroke-dasharray=\"2 3\"/>\
             <text x=\"{:.1}\" y=\"{lowest:.1}\" fill=\"{colour}\">{name}</text>",
            end + 14.0,
            lowest - 4.0,
            end + 18.0
        );
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
