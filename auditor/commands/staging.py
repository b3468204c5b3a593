"""`auditor staging`: what one environment has and the other lacks, and why."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from auditor.commands import QUESTIONS, Command
from auditor.console import options

if TYPE_CHECKING:
    from auditor.model.resource import Json, JsonObject
    from auditor.model.staging import StagingPair

CSV_COLUMNS = (
    "pair.staging", "pair.production", "cluster", "object.kind", "object.namespace", "object.name", "path", "staging",
    "production", "cause", "because", "advice", "commit", "changes",
)  # fmt: skip


def staging(
    config: options.ConfigOption = None,
    store: options.StoreOption = None,
    as_of: options.AsOfOption = None,
    form: options.TabularFormatOption = options.TabularFormat.TABLE,
    output: options.OutputOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """Where staging and production differ, and what explains it."""
    from auditor.console import wire
    from auditor.console.answer import say_csv, say_json
    from auditor.console.computed import computed
    from auditor.console.tables import check, put_table

    check(form, output)
    with computed(config, store, quiet, as_of) as answers:
        pairs = answers.store.results.staging()
        if form is options.TabularFormat.TABLE:
            show_staging(pairs, answers.times(answers.query()))
        elif form is options.TabularFormat.CSV:
            say_csv(CSV_COLUMNS, _rows(map(wire.pair, pairs)))
        elif form is options.TabularFormat.JSON:
            say_json("auditor/staging/1", wire.as_of(answers.overview.as_of), "pairs", map(wire.pair, pairs))
        else:
            put_table(form, "staging", CSV_COLUMNS, _rows(map(wire.pair, pairs)), output)


def show_staging(pairs: "Iterable[StagingPair]", times: str) -> None:
    """Each pair with its differences, deliberate ones last."""
    from rich.padding import Padding
    from rich.text import Text

    from auditor.console.answer import console, tally, text
    from auditor.console.change_list import value_words
    from auditor.objects.paths import text as path_text

    out, count = console(), 0
    for pair in pairs:
        out.print(Text.assemble(text(f"{pair.staging} and {pair.production}", "bold"), "  ", text(pair.paired_by)))
        for one in pair.differences:
            worst = one.causes[0] if one.causes else "unexplained"
            style = "dim" if worst == "overlay" else "yellow"
            values = f"staging {value_words(one.staging)}, production {value_words(one.production)}"
            where = f"{one.object.kind} {one.object.name} {path_text(one.path)}".rstrip()
            out.print(Padding(Text.assemble(text(where), ": ", text(values)), (0, 0, 0, 2)))
            out.print(Padding(Text.assemble(text(worst, style), ": ", text(one.because)), (0, 0, 0, 4)))
        out.print()
        count += 1
    out.print(text(tally(count, "pair of environments", "pairs of environments", times), "dim"))


def _rows(pairs: "Iterable[JsonObject]") -> "Iterator[JsonObject]":
    """One row a difference."""
    for pair in pairs:
        differences = pair["differences"]
        ends: Json = {"staging": pair["staging"], "production": pair["production"]}
        for difference in differences if isinstance(differences, list) else ():
            if isinstance(difference, dict):
                yield {"pair": ends, **difference}


COMMAND = Command("staging", staging, QUESTIONS, 12, "auditor staging --format csv")
