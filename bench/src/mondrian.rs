//! Mondrian on Adult and Lands End, as ratios to one hash group-by of all rows at level 0; and the numbers that
//! `bench/mondrian.py` compares with those of anonypy.
//!
//! *mixed*: age (price, cost) as numbers, all other columns by hierarchies. *ordered*: all columns ordered, categories as
//! their hierarchies list them; that is nearest to what anonypy does.

use std::sync::Arc;
use std::time::Duration;

use incog_core::algorithm::{CutChoice, Cuts, Extent, Gain, MondrianOptions, mondrian};
use incog_core::frequency::{FrequencySource, Method, Rows};
use incog_core::group::Demand;
use incog_core::hierarchy::spec::{Decimal, IntervalKind};
use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::judge::Problem;
use incog_core::lattice::Grouping;
use incog_core::metric::{self, Costs, Statistics};
use incog_core::privacy::Policy;
use incog_core::recoding::{Domain, Domains, Order};
use incog_core::registry::find;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Progress, Result};

use crate::dataset::Dataset;
use crate::{Arguments, say, time};

/// Which attributes are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ordered {
    Numbers,
    All,
}

pub(crate) fn suite(arguments: &Arguments) -> Result<()> {
    for data in [Dataset::adult()?, Dataset::landsend(arguments.landsend_rows)?] {
        let attributes = Attributes::new(data.attributes[..8].to_vec())?;
        let rows = Rows::new(&data.table, &attributes)?;
        let grouping = Grouping::of_levels(&[0; 8]);
        let base = || rows.count(&grouping, &Demand::default(), Method::Hash);
        let base = fastest(arguments.rounds, || time(base));
        let coding = fastest(arguments.rounds, || time(|| code_again(&data, &attributes)));
        let coded = data.table.n_rows() * 8 * size_of::<u32>();
        say(&format!("\n### {}, 8 quasi-identifiers, k = 10: Mondrian\n", data.name));
        say(&format!(
            "base {:.3} ms; coding {:.3} ms; the coded table has {:.1} MiB\n",
            1000.0 * base.as_secs_f64(),
            1000.0 * coding.as_secs_f64(),
            coded as f64 / f64::from(1 << 20)
        ));
        say("| columns | cuts | choice | sides | ms | times base | loss | groups | rows a group |");
        say("|---|---|---|---|---|---|---|---|---|");
        for (ordered, cuts, choice, extent) in [
            (Ordered::Numbers, Cuts::Strict, CutChoice::Median, Extent::Covering),
            (Ordered::Numbers, Cuts::Relaxed, CutChoice::Median, Extent::Covering),
            (Ordered::Numbers, Cuts::Relaxed, CutChoice::Median, Extent::Tight),
            (Ordered::Numbers, Cuts::Strict, CutChoice::Best(Gain::Loss), Extent::Tight),
            (Ordered::All, Cuts::Strict, CutChoice::Median, Extent::Tight),
            (Ordered::All, Cuts::Relaxed, CutChoice::Median, Extent::Tight),
            (Ordered::All, Cuts::Strict, CutChoice::Best(Gain::Loss), Extent::Tight),
        ] {
            let policy = Policy::k_anonymity(10)?;
            let problem = Problem { source: &rows, policy: &policy };
            let domains = domains(&data, &attributes, ordered)?;
            let options =
                || MondrianOptions { domains: domains.clone(), cuts, choice, extent, weights: Vec::new() };
            let run = || mondrian(problem, &attributes, options(), &Progress::new());
            let found = run()?.ok_or_else(|| Error::input("nothing satisfies the policy"))?;
            let took = fastest(arguments.rounds, || time(run));
            let costs = Costs::new(problem, &attributes)?.with_domains(&domains);
            let statistics = Statistics::of_boxes(&found.recoding, &attributes);
            let score = |name: &str| {
                find(metric::ALL, name).map_or(f64::NAN, |entry| entry.item.score(&costs, &statistics))
            };
            say(&format!(
                "| {ordered:?} | {cuts:?} | {choice:?} | {extent:?} | {:.2} | {:.1} | {:.5} | {} | {:.1} |",
                1000.0 * took.as_secs_f64(),
                took.as_secs_f64() / base.as_secs_f64(),
                score("loss"),
                found.recoding.n_boxes(),
                score("average-group-size"),
            ));
        }
        say(&format!("\npeak memory so far: {}", crate::dataset::peak_memory()));
        if arguments.only == "adult" {
            break;
        }
    }
    Ok(())
}

/// What comes before a search, from cells as text: dictionaries, packed rows and ordered domains. Hierarchies are bound already.
fn code_again(data: &Dataset, attributes: &Attributes) -> Result<(Table, Rows, Domains)> {
    let columns = data.table.columns()[..attributes.len()].iter().map(|column| {
        let cells = (0..data.table.n_rows()).map(|row_idx| column.cell(row_idx));
        Column::from_cells(column.name(), Role::QuasiIdentifier, cells)
    });
    let table = Table::new(columns.collect::<Result<_>>()?)?;
    let rows = Rows::new(&table, attributes)?;
    Ok((table, rows, domains(data, attributes, Ordered::All)?))
}

fn fastest(rounds: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..rounds.max(1)).map(|_| run()).min().unwrap_or_default()
}

/// Numbers with a step of 1; categories in the order of their hierarchies.
pub(crate) fn domains(data: &Dataset, attributes: &Attributes, ordered: Ordered) -> Result<Domains> {
    let domain = |attribute: &Attribute| {
        let column = data.table.column(attribute.name()).ok_or_else(|| Error::input("no such column"))?;
        let grid = Order::Grid { kind: IntervalKind::Numbers, step: Some(Decimal::whole(1)), bounds: None };
        let is_number = ["age", "price", "cost"].contains(&attribute.name());
        let categories = || attribute.hierarchy().labels(0).values().map(str::to_owned).collect();
        let order = match (is_number, ordered) {
            (true, _) => grid,
            (false, Ordered::Numbers) => return Ok(None),
            (false, Ordered::All) => Order::Categories(categories()),
        };
        Ok(Some(Arc::new(Domain::new(column, &order)?)))
    };
    attributes.iter().map(domain).collect()
}
