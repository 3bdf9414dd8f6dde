"""Numbers, exactly as somebody wrote them."""

from __future__ import annotations

import datetime
import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Union

from .errors import InputError

#: A number: whole, a float (its shortest decimal: 0.29 is 29/100), exact, or text such as "29%" or "29/100".
Number = Union[int, float, Fraction, Decimal, str]


def exact(name: str, value: Number) -> int | str:
    """A threshold: whole, or text that says the same exactly."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        raise InputError(f"`{name}` is a truth value, not a number")
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InputError(f"`{name}` is not a finite number")
        return format(value, "f")
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, numbers.Real):
        number = float(value)
        if not math.isfinite(number):
            raise InputError(f"`{name}` is not a finite number")
        return format(Decimal(repr(number)), "f")
    raise InputError(
        f"`{name}` is no number", "give an int, a float, a Fraction, a Decimal, or text such as 29% or 29/100"
    )


def suppression(value: Number) -> int | str:
    """How many rows may be left out: a count, or a share as a percentage."""
    said = exact("suppression", value)
    if isinstance(said, int) or isinstance(value, str):
        return said
    share = Fraction(said) * 100
    if share.denominator == 1:
        return f"{share.numerator}%"
    digits = Decimal(share.numerator) / Decimal(share.denominator)
    if Fraction(digits) != share:
        raise InputError("`suppression` is a share that is no decimal percentage", 'write it as "0.5%"')
    return f"{digits:f}%"


def bound(name: str, value: object) -> int | float | str:
    """A number or a day in a hierarchy."""
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if isinstance(value, numbers.Real) and not isinstance(value, (numbers.Rational, bool)):
        return float(value)
    if isinstance(value, (int, float, Fraction, Decimal, str)) or isinstance(value, numbers.Integral):
        return exact(name, value)  # type: ignore[arg-type]
    raise InputError(f"`{name}` is no number and no day")
