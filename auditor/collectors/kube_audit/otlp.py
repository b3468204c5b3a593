"""Values of OpenTelemetry's logs in JSON: https://opentelemetry.io/docs/specs/otlp/ has AnyValue and KeyValue."""

from typing import Any

import msgspec
from msgspec import Raw

_DEEPEST = 100


def plain(pairs: Raw) -> bytes:
    """A list of KeyValue as the object that it stands for; b"" for anything else."""
    value = msgspec.json.decode(pairs)
    is_pairs = isinstance(value, list) and value and all(isinstance(item, dict) and "key" in item for item in value)
    return msgspec.json.encode(_object(value, 0)) if is_pairs else b""


def _object(pairs: Any, depth: int) -> dict[str, Any]:
    kept = [pair for pair in pairs if isinstance(pair, dict) and isinstance(pair.get("key"), str)]
    return {pair["key"]: _value(pair.get("value"), depth + 1) for pair in kept}


def _value(any_value: Any, depth: int) -> Any:
    if not isinstance(any_value, dict) or not any_value or depth > _DEEPEST:
        return None
    kind, value = next(iter(any_value.items()))
    if kind == "intValue" and isinstance(value, str) and value.lstrip("-").isdecimal():
        return int(value[:20])
    if kind not in ("kvlistValue", "arrayValue"):
        return value
    inner = value.get("values") if isinstance(value, dict) else None
    items = inner if isinstance(inner, list) else []
    return _object(items, depth) if kind == "kvlistValue" else [_value(item, depth + 1) for item in items]
