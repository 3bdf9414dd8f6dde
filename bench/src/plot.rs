//! Line charts as SVG, in as few strokes as possible: both axes logarithmic, one line a series.

use std::fmt::Write;

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
const COLOURS: [&str; 8] =
    ["#1b6ca8", "#d1495b", "#2e8b57", "#8a5a00", "#6b4fa0", "#00798c", "#b5651d", "#444444"];

/// The chart of all series, with a heavier line at y = 1.
pub(crate) fn log_log(title: &str, x_axis: &str, y_axis: &str, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|series| series.points.iter().copied());
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (x_low, x_high) = range(&mut points().map(|point| point.0));
    let (y_low, y_high) = range(&mut points().map(|point| point.1).chain([1.0]));
    let decades = |low: f64, high: f64| (low.log10().floor() as i32, high.log10().ceil() as i32);
    let (y_first, y_last) = decades(y_low, y_high);
    let x = |value: f64| {
        let share = (value / x_low).log10() / (x_high / x_low).log10();
        LEFT + share * (WIDTH - LEFT - RIGHT)
    };
    let y = |value: f64| {
        let share = (value.log10() - f64::from(y_first)) / f64::from(y_last - y_first);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"16\">{title}</text>\n"
    );
    let end = WIDTH - RIGHT;
    for decade in y_first..=y_last {
        let value = 10_f64.powi(decade);
        let (at, weight) = (y(value), if decade == 0 { "2" } else { "0.5" });
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
    for (at, one) in series.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let path: Vec<String> =
            one.points.iter().map(|&(px, py)| format!("{:.1} {:.1}", x(px), y(py))).collect();
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join("L")
        );
        if let Some(&(px, py)) = one.points.last() {
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
                x(px) + 8.0,
                y(py) + 4.0,
                one.name
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}
