//! What if every question is dear?
//!
//! **Promise.** A [`Bottom`] answers whatever the source would that it was made from, as far as it was demanded, and asks it
//! once.
//!
//! **Essence.** The groups of all attributes at level 0 are asked for, with everything that will be demanded. Every other
//! grouping generalizes that one, so its groups are merged from those ([`FrequencySet::roll_up`]).
//!
//! **Cost.** One question, whose answer is kept: at most a group for every record. From there on an answer is linear in those
//! groups; some of their measures are copied where a question demands fewer.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::source::counted;
use crate::frequency::{FrequencySet, FrequencySource, KeyLayout, Method, Scratch};
use crate::group::Demand;
use crate::lattice::Grouping;

/// All groups of a source at the bottom, as a source of its own. For databases that are far away.
#[derive(Debug)]
pub struct Bottom {
    set: FrequencySet,
    n_rows: u64,
}

impl Bottom {
    /// Asks `source` for all groups at level 0, with everything that will be demanded: that of the policies to be searched
    /// ([`Policy::demand`](crate::privacy::Policy::demand)), [united](Demand::union).
    pub fn new(source: &dyn FrequencySource, demand: &Demand) -> Result<Self> {
        let bottom = Grouping::of_levels(&vec![0; source.layout().heights().len()]);
        Ok(Bottom { set: counted(source, &bottom, demand, Method::Auto)?, n_rows: source.n_rows() })
    }
}

impl FrequencySource for Bottom {
    fn layout(&self) -> &Arc<KeyLayout> {
        &self.set.layout
    }

    fn n_rows(&self) -> u64 {
        self.n_rows
    }

    fn count(&self, grouping: &Grouping, demand: &Demand, _: Method) -> Result<FrequencySet> {
        if self.set.measures.are_what(demand) {
            return Ok(self.set.roll_up(grouping, &mut Scratch::default()));
        }
        let measures = self.set.measures.only(demand).ok_or_else(|| {
            Error::new(ErrorKind::Internal, "a policy demands what was not asked of the source at the bottom")
        })?;
        let set = FrequencySet { measures, ..self.set.clone() };
        Ok(set.roll_up(grouping, &mut Scratch::default()))
    }
}
