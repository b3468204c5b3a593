"""Each format: safe with hostile records, complete, and the same bytes for the same records."""

import csv
import io
import json
import os
import re
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from auditor import registry
from auditor.errors import RenderError
from reports import render
from reports.formats import pdf_file
from reports.formats.csv_rows import cell
from reports.formats.html_page import breakable
from reports.formats.markdown_text import LIMIT
from tests.reports.cases import empty, generated
from tests.reports.incident import incident
from tests.reports.rendering import BERLIN, HOSTILE, document, laid_out, rendered, renderer, report, weasyprint

REPORTS = ("drift", "postmortem", "register", "staging")
VOID = {"br", "col", "meta", "wbr", "path", "circle", "rect"}


class Reader(HTMLParser):
    """Tags, attributes and ids of a page; complains of what is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.append((name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def test_the_reports_and_formats_are_these() -> None:
    assert tuple(one.name for one in registry.reports()) == REPORTS
    assert " ".join(one.name for one in registry.renderers()) == "csv html json markdown parquet pdf xlsx"


def test_a_format_that_a_report_has_not_is_an_error() -> None:
    only_html = replace(report("postmortem"), formats=("html",))
    with pytest.raises(RenderError, match="no format pdf"):
        render(only_html, renderer("pdf"), empty(), BERLIN)


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("make", [incident, empty, lambda: generated(60, 3, HOSTILE)])
def test_a_page_is_well_formed_and_all_its_links_lead_somewhere(name: str, make) -> None:
    page = read(rendered(name, "html", make()))
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert page.tags.count("h1") == 1


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_loads_nothing_and_runs_nothing(name: str) -> None:
    text = rendered(name, "html", generated(60, 3, HOSTILE))
    page = read(text)
    assert not {"script", "img", "iframe", "link", "object", "embed", "form", "base", "a:xlink"} & set(page.tags)
    assert all(link.startswith("#") for link in page.links)
    assert not [
        value for key, value in page.attributes if key.startswith("on") or key in ("src", "action", "formaction")
    ]
    assert "url(" not in text
    assert "@import" not in text


@pytest.mark.parametrize("form", ["html", "markdown", "csv", "json"])
@pytest.mark.parametrize("name", REPORTS)
def test_no_control_or_direction_mark_reaches_a_file(name: str, form: str) -> None:
    text = rendered(name, form, generated(60, 3, HOSTILE), replace(BERLIN, title=HOSTILE))
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b-\u200f]", text)


def test_a_half_surrogate_in_a_record_is_shown_and_breaks_no_format() -> None:
    case = generated(3, hostile="\ud83d")
    for form in ("html", "markdown", "csv", "json"):
        assert render(report("register"), renderer(form), case, BERLIN)
    assert "\\u{d83d}" in rendered("postmortem", "html", case).replace("<wbr>", "")


def test_long_words_can_break_and_short_ones_stay_whole() -> None:
    assert str(breakable("shop-prod/web")) == "shop-prod/web"
    assert str(breakable("spec.template.spec.containers[name=web].image", True)).count("<wbr>") == 5
    assert "<wbr>" in str(breakable("W" * 60))
    assert str(breakable("<b>&")) == "&lt;b&gt;&amp;"


def test_a_name_from_right_to_left_leaves_the_number_beside_it_in_its_place() -> None:
    assert breakable("שרה כהן 31, dave 6") == "<bdi>שרה כהן</bdi> 31, dave 6"
    assert breakable("خدمة-الدفع", path=True) == "<bdi>خدمة-الدفع</bdi>"
    assert breakable("<שרה>") == "&lt;<bdi>שרה</bdi>&gt;"


def test_the_marks_have_words_for_those_who_do_not_see_them() -> None:
    text = rendered("postmortem", "html", incident())
    assert 'aria-label="change 8, not in git, the next sync undoes it"' in text
    for picture in re.findall(r"<svg class=\"fig.*?</svg>", text, re.S):
        assert "<title" in picture
        assert "<desc" in picture
    assert text.count("<table") == text.count("<caption")


@pytest.mark.parametrize("make", [incident, lambda: generated(400, 5, HOSTILE), empty])
@pytest.mark.parametrize("name", REPORTS)
def test_markdown_fits_a_comment_and_keeps_page_one(name: str, make) -> None:
    text = rendered(name, "markdown", make())
    assert len(text) <= LIMIT
    assert "**Gaps in the records**" in text


def test_markdown_sets_a_path_between_spaces_and_no_table_without_rows() -> None:
    assert " `whole object` " in rendered("register", "markdown", incident())
    for name in REPORTS:
        text = rendered(name, "markdown", incident())
        assert not re.search(r"[^\s|>]`(spec|data|whole object)|`  \|", text)
    assert "What happens next" not in rendered("register", "markdown", incident())


def test_a_page_names_the_fonts_of_chinese_and_japanese_where_a_machine_has_them() -> None:
    page = rendered("postmortem", "html", incident())
    stacks = re.findall(r"(?:--serif|--sans|--mono|font-family=\"|  font): ?([^;\n>]*)", page)
    assert len(stacks) >= 4
    for stack in stacks:
        assert stack.index("CJK") > stack.index("Liberation")


def test_on_a_phone_what_scrolls_says_so() -> None:
    page = rendered("postmortem", "html", incident())
    narrow = page[page.index("max-width: 44rem") :]
    assert "scrolls sideways" in narrow[: narrow.index("</style>")]


def test_markdown_names_what_it_leaves_out() -> None:
    assert "Left out" in rendered("postmortem", "markdown", generated(400, 5))


def test_markdown_holds_no_markup_link_or_mention_of_a_record() -> None:
    text = outside_code(rendered("postmortem", "markdown", generated(40, 3, HOSTILE)))
    assert not re.search(r"(?<!\\)<(?!!-- -->|br>|/?sub>)", text)
    assert "](" not in text.replace("\\](", "")
    assert "://" not in text
    assert not re.search(r"(?<![\w.>])@team", text)


def test_markdown_tables_keep_their_columns() -> None:
    text = outside_code(rendered("register", "markdown", generated(20, 3, HOSTILE))).replace("\\|", "")
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({line.count("|") for line in block.splitlines()}) == 1


def outside_code(text: str) -> str:
    """Markdown without its code spans; an escaped backtick begins none."""
    return re.sub(r"(?<!\\)`[^`\n]*`", "", text)


@pytest.mark.parametrize("text", ["=2+2", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "  =cmd"])
def test_a_spreadsheet_runs_nothing(text: str) -> None:
    assert cell(text).startswith("'")


def test_csv_has_a_blank_for_what_is_not_known_and_numbers_as_they_are() -> None:
    assert cell(None) == ""
    assert cell(-5) == "-5"
    assert cell(True) == "true"
    rows = list(csv.DictReader(io.StringIO(rendered("register", "csv", incident()))))
    assert len(rows) == 20 + 32
    secret = rows[0]
    assert (secret["application"], secret["name"], secret["commit"]) == ("", "db-credentials", "")


def test_json_has_a_schema_and_nulls_for_what_is_not_known() -> None:
    answer = json.loads(rendered("register", "json", incident()))
    assert answer["schema"] == "auditor/register/1"
    assert answer["entries"][0]["application"] is None
    account = answer["reconciliation"]
    assert sum(number for name, number in account.items() if name != "records") == account["records"]
    counts = json.loads(rendered("postmortem", "json", incident()))["counts"]
    assert counts == {
        "changes": 20,
        "unproven": 0,
        "in_git": 3,
        "next_sync_undoes": 2,
        "stand": 7,
        "put_back": 8,
        "untraced": 0,
        "undeterminable": 0,
    }


@pytest.mark.parametrize("form", ["html", "markdown", "csv", "json"])
@pytest.mark.parametrize("name", REPORTS)
def test_the_same_records_give_the_same_bytes(name: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = rendered(name, form, incident())
    monkeypatch.setenv("TZ", "Pacific/Chatham")
    time.tzset()
    try:
        assert rendered(name, form, incident()) == first
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_same_records_give_the_same_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    weasyprint()
    case = generated(3)
    first = render(report("postmortem"), renderer("pdf"), case, BERLIN)
    monkeypatch.setattr(time, "time", lambda: 4e9)
    assert render(report("postmortem"), renderer("pdf"), case, BERLIN) == first
    assert first.startswith(b"%PDF-")
    assert "SOURCE_DATE_EPOCH" not in os.environ


def test_a_pdf_has_bookmarks_contents_and_no_row_off_the_page() -> None:
    told = laid_out(document("postmortem", incident()))
    titles = [title for title, *_ in told.make_bookmark_tree()[0][2]]
    assert titles[0] == "Timeline"
    assert {"Changes", "Break-glass checklist", "Evidence"} <= set(titles)
    assert len(told.pages) > 8


def test_action_items_that_fit_a_page_stand_on_one() -> None:
    pages = laid_out(document("postmortem", incident())).pages
    on = {name: place for place, page in enumerate(pages) for name in page.anchors if name.startswith("do-")}
    assert len(on) > 3
    assert len(set(on.values())) == 1


def test_without_pango_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "weasyprint" or name.startswith("weasyprint."):
                raise OSError("cannot load library 'libpango-1.0-0'")

    for name in [name for name in sys.modules if name.split(".")[0] == "weasyprint"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(RenderError, match="Pango") as raised:
        pdf_file.pdf("<p>")
    assert "apt-get install" in raised.value.hint


def test_a_pdf_fetches_nothing() -> None:
    library = weasyprint()
    with pytest.raises(ValueError, match="loads nothing"):
        pdf_file._refuse("https://e.vil/x.png")
    assert library


def test_importing_the_reports_loads_no_heavy_library() -> None:
    import subprocess

    code = "import sys; from auditor import registry; registry.reports(); registry.renderers(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"weasyprint", "jinja2", "openpyxl", "pandas", "pyarrow", "sqlmodel"} & set(loaded)
