#!/usr/bin/env python3
"""Generate the Lands End-like table of gen_landsend.py as Parquet, a hundred million rows in minutes.

Columns, values, hierarchies, frequencies and dependencies are gen_landsend.py's own (its first rows walk once over every value,
too); only the random numbers behind them are numpy's, a million at a time. Row groups are drawn independently of each other, so
that a table of fewer rows is the beginning of one with more. Memory: one row group.

usage: gen_landsend_parquet.py --rows N --out FILE [--seed S] [--hierarchies DIR]
Needs numpy and pyarrow; bench/large.py installs them and calls this.
"""
import argparse
import random
from itertools import accumulate

import numpy
import pyarrow
import pyarrow.parquet

import gen_landsend as landsend

ROW_GROUP = 1 << 20


class Model:
    """What a row is drawn from: the values of each column, and how likely they are."""

    def __init__(self, seed):
        rng = random.Random(seed)
        zips, zip_weight = landsend.make_zips(rng)
        days, day_weight = landsend.make_dates(rng)
        styles, popularity, female, options, costs = landsend.make_styles(rng)
        self.parts = (zips, days, styles, options, costs)
        # A pair is a style at one of its prices; the pairs of a style stand side by side, its full price first.
        pairs = [(style, price) for style, prices in enumerate(options) for price in prices]
        self.first_pair = numpy.array([0, *accumulate(len(prices) for prices in options)][:-1])
        self.n_prices = numpy.array([len(prices) for prices in options])
        self.style_of = numpy.array([style for style, _ in pairs], dtype=numpy.int32)
        prices, self.price_of = numpy.unique([price for _, price in pairs], return_inverse=True)
        unique_costs, self.cost_of = numpy.unique(costs, return_inverse=True)
        self.female = numpy.array(female)
        self.express = numpy.array([0.22 if day.month == 12 else 0.08 for day in days])
        self.zip_until, self.day_until, self.style_until = map(until, (zip_weight, day_weight, popularity))
        # The same shuffles in the same order as gen_landsend.py.
        zip_walk = list(range(len(zips)))
        rng.shuffle(zip_walk)
        pair_walk = list(range(len(pairs)))
        rng.shuffle(pair_walk)
        self.zip_walk, self.day_walk, self.pair_walk = numpy.array(zip_walk), numpy.arange(len(days)), numpy.array(pair_walk)
        self.labels = {
            "zipcode": zips,
            "order_date": [day.isoformat() for day in days],
            "gender": ["F", "M"],
            "style": styles,
            "price": [f"{price:04}" for price in prices],
            "quantity": ["1"],
            "cost": [f"{cost:04}" for cost in unique_costs],
            "shipment": ["Express", "Standard"],
        }

    def rows(self, start, count, rng):
        """Codes of some rows, by column."""
        zips = walked(start, draw(rng, count, self.zip_until), self.zip_walk)
        days = walked(start, draw(rng, count, self.day_until), self.day_walk)
        styles = draw(rng, count, self.style_until)
        # Seven of ten pay the full price; the others one of the lower ones, if there are any.
        n_lower = self.n_prices[styles] - 1
        lower = 1 + (rng.random(count) * n_lower).astype(numpy.int64)
        lower[(n_lower == 0) | (rng.random(count) < 0.7)] = 0
        pairs = walked(start, self.first_pair[styles] + lower, self.pair_walk)
        styles = self.style_of[pairs]
        return {
            "zipcode": zips,
            "order_date": days,
            "gender": rng.random(count) >= self.female[styles],
            "style": styles,
            "price": self.price_of[pairs],
            "quantity": numpy.zeros(count),
            "cost": self.cost_of[styles],
            "shipment": rng.random(count) >= self.express[days],
        }


def until(weights):
    """The shares of all values up to each, the last exactly 1."""
    sums = numpy.cumsum(weights)
    return sums / sums[-1]


def draw(rng, count, until_):
    return numpy.searchsorted(until_, rng.random(count), side="right")


def walked(start, codes, walk):
    """The first rows of the table take their values from a walk over all of them."""
    n_walked = min(max(len(walk) - start, 0), len(codes))
    codes[:n_walked] = walk[start : start + n_walked]
    return codes


def main():
    arguments = argparse.ArgumentParser(description="The Lands End-like table as Parquet.")
    arguments.add_argument("--rows", type=int, required=True)
    arguments.add_argument("--out", required=True)
    arguments.add_argument("--seed", type=int, default=2005)
    arguments.add_argument("--hierarchies", help="write the hierarchy files into this folder")
    arguments = arguments.parse_args()
    model = Model(arguments.seed)
    if arguments.hierarchies:
        landsend.write_hierarchies(arguments.hierarchies, *model.parts)
    labels = {name: pyarrow.array(values) for name, values in model.labels.items()}
    schema = pyarrow.schema([(name, pyarrow.dictionary(pyarrow.int32(), pyarrow.string())) for name in labels])
    # Without Arrow's schema in the file, columns are plain strings to every reader, as other programs write them.
    with pyarrow.parquet.ParquetWriter(arguments.out, schema, compression="snappy", store_schema=False) as writer:
        for at, start in enumerate(range(0, arguments.rows, ROW_GROUP)):
            # The whole group is drawn even if only some of it is written: fewer rows are the beginning of more.
            codes = model.rows(start, ROW_GROUP, numpy.random.default_rng([arguments.seed, at]))
            count = min(ROW_GROUP, arguments.rows - start)
            columns = [
                pyarrow.DictionaryArray.from_arrays(codes[name][:count].astype(numpy.int32), labels[name]) for name in labels
            ]
            writer.write_table(pyarrow.Table.from_arrays(columns, schema=schema), row_group_size=ROW_GROUP)


if __name__ == "__main__":
    main()
