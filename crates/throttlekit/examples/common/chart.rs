//! A line chart as SVG.

use std::{error::Error, ops::Range, path::Path};

use plotters::{
    coord::Shift,
    prelude::{
        ChartBuilder, DrawingArea, IntoDrawingArea, LineSeries, PathElement, RGBColor, SVGBackend,
        SeriesLabelPosition, WHITE,
    },
};

/// A line of a chart.
pub(crate) struct Line<'a> {
    pub(crate) name: &'a str,
    pub(crate) points: Vec<(f64, f64)>,
}

/// What a chart is called and what its axes show.
pub(crate) struct Labels<'a> {
    pub(crate) title: &'a str,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
}

const SIZE: (u32, u32) = (960, 480);

/// Told apart also by those who see no red or green.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// Writes `lines` to `file`.
pub(crate) fn write(
    file: &Path,
    labels: &Labels<'_>,
    lines: &[Line<'_>],
) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    draw(&area, labels, lines).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(())
}

fn draw(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    labels: &Labels<'_>,
    lines: &[Line<'_>],
) -> Result<(), Box<dyn Error>> {
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .caption(labels.title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(72)
        .build_cartesian_2d(
            range(lines, |point| point.0),
            0.0..range(lines, |point| point.1).end,
        )?;
    chart
        .configure_mesh()
        .x_desc(labels.x)
        .y_desc(labels.y)
        .light_line_style(WHITE)
        .draw()?;
    for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), colour))?
            .label(line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE)
        .draw()?;
    area.present()?;
    Ok(())
}

/// From the least to the largest value; never empty, which a chart could not show, and with both ends near each other if there is no value.
fn range(lines: &[Line<'_>], of: impl Fn(&(f64, f64)) -> f64) -> Range<f64> {
    let values = || lines.iter().flat_map(|line| line.points.iter().map(&of));
    let (low, high) = (
        values().fold(f64::MAX, f64::min),
        values().fold(f64::MIN, f64::max),
    );
    if low < high {
        low..high
    } else if low == high {
        low..low.max(1.0) + 1.0
    } else {
        0.0..1.0
    }
}
