//! Which groups are there, and how many rows has each?
//!
//! Many small hash tables, each with its share of the keys: the rows of a part are dealt out to the tables first, so that each table is
//! in the processor's cache while its rows come, and threads take tables. How many tables there are is fixed; so is the number of
//! a group, whatever the threads. It depends on the hash: nobody may rest on the order of groups.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use crate::hash::{self, Salt};

/// How many tables there are.
const SHARDS: usize = 64;

/// No group.
pub(super) const NONE: u32 = u32::MAX;

/// Groups by their keys.
#[derive(Default)]
pub(super) struct Index {
    shards: Vec<Shard>,
}

/// The groups of one table.
#[derive(Default)]
struct Shard {
    places: hash::Map<u64, u32>,
    sizes: Vec<u32>,
}

/// Where the groups of each table start, if all are numbered without gaps.
pub(super) struct Starts([u32; SHARDS]);

impl Starts {
    /// The number of a group that was found.
    pub(super) fn number(&self, group: u32) -> usize {
        (self.0[group as usize % SHARDS] + group / SHARDS as u32) as usize
    }
}

impl Index {
    /// Adds rows with these keys.
    pub(super) fn add(&mut self, keys: &[u64]) {
        self.shards.resize_with(SHARDS, Shard::default);
        let dealt = deal(keys);
        self.shards.par_iter_mut().zip(&dealt).for_each(|(shard, rows)| {
            for &row in rows {
                let next = shard.sizes.len() as u32;
                let place = *shard.places.entry(keys[row as usize]).or_insert(next);
                if place == next {
                    shard.sizes.push(0);
                }
                shard.sizes[place as usize] += 1;
            }
        });
    }

    /// The group of each row, or [`NONE`].
    pub(super) fn find(&self, keys: &[u64]) -> Vec<u32> {
        let groups: Vec<AtomicU32> = keys.iter().map(|_| AtomicU32::new(NONE)).collect();
        let dealt = deal(keys);
        self.shards.par_iter().zip(&dealt).enumerate().for_each(|(at, (shard, rows))| {
            for &row in rows {
                if let Some(place) = shard.places.get(&keys[row as usize]) {
                    // Every row is in one table only: nobody else writes there.
                    groups[row as usize].store(place * SHARDS as u32 + at as u32, Relaxed);
                }
            }
        });
        groups.into_iter().map(AtomicU32::into_inner).collect()
    }

    /// How many rows each group has, in the order of their numbers.
    pub(super) fn sizes(&self) -> impl Iterator<Item = u32> {
        self.shards.iter().flat_map(|shard| shard.sizes.iter().copied())
    }

    pub(super) fn starts(&self) -> Starts {
        let mut starts = [0; SHARDS];
        let mut next = 0;
        for (start, shard) in starts.iter_mut().zip(&self.shards) {
            *start = next;
            next += shard.sizes.len() as u32;
        }
        Starts(starts)
    }
}

/// The rows of each table, in order.
fn deal(keys: &[u64]) -> Vec<Vec<u32>> {
    let mut dealt: Vec<Vec<u32>> =
        (0..SHARDS).map(|_| Vec::with_capacity(keys.len() / SHARDS + keys.len() / (8 * SHARDS))).collect();
    let salt = Salt::drawn();
    for (row, &key) in keys.iter().enumerate() {
        dealt[salt.hash(key) as usize % SHARDS].push(row as u32);
    }
    dealt
}
