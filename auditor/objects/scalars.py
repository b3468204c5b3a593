"""When two scalar values are one to the API server: quantities, times, numbers written as text."""

import base64
import binascii
import json
import math
import re
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from auditor.model.resource import Json

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "P": Decimal(10) ** 15,
    "E": Decimal(10) ** 18,
    "Ki": Decimal(2) ** 10,
    "Mi": Decimal(2) ** 20,
    "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40,
    "Pi": Decimal(2) ** 50,
    "Ei": Decimal(2) ** 60,
}
_QUANTITY = re.compile(r"([+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40}))(?:([numkMGTPE]|[KMGTPE]i)?|[eE]([+-]?\d{1,2}))")


def quantity(value: Json) -> Decimal | None:
    """A Kubernetes quantity as a number, rounded up to 1e-9 as the API server does; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return _quantity(value if isinstance(value, str) else json.dumps(value))


@lru_cache(4096)
def _quantity(text: str) -> Decimal | None:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    try:
        number = Decimal(match[1]) * (Decimal(10) ** int(match[3]) if match[3] else _SUFFIXES[match[2] or ""])
    except InvalidOperation:
        return None
    nano = number.scaleb(9)
    return Decimal(math.ceil(nano) if number > 0 else math.floor(nano)).scaleb(-9).normalize()


def as_text(value: Json) -> str:
    """A scalar as a string field holds it: `8080` for 8080, `true` for true."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def canonical(letter: str, value: Json) -> Json:
    """The value by which two values of a field compare. `letter` is the field's type in the schema's code."""
    match letter:
        case "q":
            amount = quantity(value)
            return value if amount is None else f"{amount:f}"
        case "s" | "x":
            return as_text(value)
        case "t":
            return _moment(value)
        case "y":
            return _bytes(value)
        case _:
            return _number(value)


def same(letter: str, one: Json, other: Json) -> bool:
    """Whether two values of a field are one to the API server."""
    if type(one) is type(other) and one == other:
        return True
    if isinstance(one, bool) != isinstance(other, bool) and letter not in "sx":
        return False
    return canonical(letter, one) == canonical(letter, other)


def _number(value: Json) -> Json:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _moment(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return value
    return moment.timestamp() if moment.tzinfo else value


def _bytes(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64encode(base64.b64decode("".join(value.split()), validate=True)).decode()
    except (binascii.Error, ValueError):
        return value
