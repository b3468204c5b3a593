"""What people announced, from Slack and from timelines; a time without a zone only where the zone is configured."""

import hashlib
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from auditor.collectors.announcements import collect as announcements
from auditor.errors import ConfigError
from auditor.model.facts import Announcement, Batch
from tests.collectors.configured import CORPUS, collected, facts, last_marks, reasons

NO_ROW = "no row of a timeline: a row has a time and a text, in CSV, JSON or a Markdown list or table"
NO_ZONE = "a time without a zone, and the configuration names none for this source"


def slack(folder: Path, *messages: dict[str, Any]) -> None:
    channel = folder / "slack" / "inc-1"
    channel.mkdir(parents=True)
    members = [
        {"id": "U1", "name": "dave", "real_name": "Dave D", "profile": {"email": "dave@acme.example"}},
        {"id": "U2", "name": "erin", "profile": {"display_name": "erin.h"}},
    ]
    (folder / "slack" / "users.json").write_text(json.dumps(members))
    (folder / "slack" / "channels.json").write_text(json.dumps([{"id": "C1", "name": "inc-1"}]))
    (channel / "2026-11-30.json").write_text(json.dumps(list(messages)))


def timeline(folder: Path, name: str, content: str, zone: str = "") -> list[Batch]:
    (folder / name).write_text(content)
    return collected(announcements.collect, folder, announcements=name, zone=zone)


def told(batches: list[Batch]) -> list[tuple[datetime, str, str]]:
    return [(each.at, each.author, each.text) for each in facts(batches, Announcement)]


def at(hour: int, minute: int, second: int = 0) -> datetime:
    return datetime(2026, 11, 30, hour, minute, second, tzinfo=UTC)


def test_a_message_has_its_author_channel_and_place(tmp_path: Path) -> None:
    slack(tmp_path, {"type": "message", "user": "U1", "text": "web is frozen", "ts": "1796022034.395277"})
    batches = collected(announcements.collect, tmp_path)
    (message,) = facts(batches, Announcement)
    assert (message.author, message.author_email, message.channel) == ("Dave D", "dave@acme.example", "inc-1")
    assert message.at == datetime(2026, 11, 30, 7, 0, 34, 395277, tzinfo=UTC)
    assert message.origin.source == "slack/inc-1/2026-11-30.json"
    assert batches[0].mark.format == "slack"
    assert reasons(batches) == []


def test_markup_is_shown_as_people_see_it(tmp_path: Path) -> None:
    text = "<@U2> <#C1|inc-1> see <https://acme.example/x|the page> &amp; <!here>"
    slack(tmp_path, {"user": "U1", "text": text, "ts": "1796022034.1"})
    assert told(collected(announcements.collect, tmp_path))[0][2] == "@erin.h #inc-1 see the page & here"


def test_what_slack_writes_itself_is_no_announcement(tmp_path: Path) -> None:
    slack(tmp_path, {"subtype": "channel_join", "user": "U1", "text": "joined", "ts": "1796022034.1"})
    batches = collected(announcements.collect, tmp_path)
    assert facts(batches, Announcement) == []
    assert batches[0].mark.reads == 4


def test_a_bot_speaks_through_its_attachments(tmp_path: Path) -> None:
    bot = {"subtype": "bot_message", "username": "pager", "text": "", "attachments": [{"fallback": "web is down"}]}
    slack(tmp_path, bot | {"ts": "1796022034.1"})
    assert told(collected(announcements.collect, tmp_path))[0][1:] == ("pager", "web is down")


def test_a_bot_speaks_through_its_blocks(tmp_path: Path) -> None:
    line = {"type": "rich_text_section", "elements": [{"type": "text", "text": "dave froze "}, {"text": "web"}]}
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "INC-1"}, "fields": [{"text": "sev 2"}]},
        {"type": "rich_text", "elements": [line]},
    ]
    slack(tmp_path, {"subtype": "bot_message", "username": "inc", "text": "", "blocks": blocks, "ts": "1796022034.1"})
    assert told(collected(announcements.collect, tmp_path))[0][1:] == ("inc", "INC-1\nsev 2\ndave froze web")


def test_an_edited_message_says_since_when_it_says_so(tmp_path: Path) -> None:
    slack(tmp_path, {"user": "U1", "text": "web", "ts": "1796022034.1", "edited": {"user": "U1", "ts": "1796022600.0"}})
    (message,) = facts(collected(announcements.collect, tmp_path), Announcement)
    assert (message.at.minute, message.text) == (0, "web (edited 07:10 UTC)")


@pytest.mark.parametrize("subtype", ["message_changed", "message_deleted"])
def test_what_was_said_before_an_edit_or_a_deletion_was_said(tmp_path: Path, subtype: str) -> None:
    before = {"user": "U1", "text": "web is frozen", "ts": "1796022034.1"}
    slack(tmp_path, {"subtype": subtype, "ts": "1796022900.1", "text": "", "previous_message": before})
    (message,) = facts(collected(announcements.collect, tmp_path), Announcement)
    assert (message.at.minute, message.author, message.text) == (0, "Dave D", "web is frozen")


def test_a_csv_timeline_is_read_with_its_quotes(tmp_path: Path) -> None:
    content = (
        'Time (UTC),Who,What,App\n2026-11-30 07:00,dave@acme.example,"off,\nfor now",web\n2026-11-30T08:00+01:00,,on,\n'
    )
    batches = timeline(tmp_path, "t.csv", content)
    assert told(batches) == [(at(7, 0), "dave@acme.example", "web: off,\nfor now"), (at(7, 0), "", "on")]
    first = facts(batches, Announcement)[0]
    assert first.author_email == "dave@acme.example"
    assert content.encode()[first.origin.offset :].startswith(b"2026-11-30 07:00,dave")


def test_a_semicolon_csv_with_date_and_time_apart(tmp_path: Path) -> None:
    batches = timeline(tmp_path, "t.csv", "date;time;who;note\n2026-11-30;07:00;dave;off\n", zone="Europe/Berlin")
    assert told(batches) == [(at(6, 0), "dave", "off")]


def test_a_time_without_a_zone_is_skipped_and_counted(tmp_path: Path) -> None:
    batches = timeline(tmp_path, "t.csv", "time,text\n2026-11-30 07:00,a\n2026-11-30 07:01,b\n")
    assert reasons(batches) == [f"{NO_ZONE} (2 times, here first)"]
    assert batches[0].mark.undecodable == 2


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("2026-11-30 07:00 CET", "the zone CET is not known"),
        ("30/11/2026 07:00Z", "not a time: '30/11/2026 07:00Z'"),
        ("2026-10-25 02:30", "a time that the clocks of its zone showed twice or never"),
        ("2026-03-29 02:30", "a time that the clocks of its zone showed twice or never"),
        ("2026-13-01 07:00Z", "not a time: '2026-13-01 07:00Z'"),
        ("07:00Z", "a time without a date"),
        ("0001-01-01 00:00 +05:00", "a time that no clock can have shown"),
        ("9999-12-31 23:59", "a time that no clock can have shown"),
    ],
)
def test_a_time_that_cannot_be_told_is_not_guessed(tmp_path: Path, written: str, reason: str) -> None:
    assert reasons(timeline(tmp_path, "t.csv", f"time,text\n{written},a\n", zone="Europe/Berlin")) == [reason]


def test_json_rows_are_read_inside_and_outside_a_wrapper(tmp_path: Path) -> None:
    row = {"at": "2026-11-30T07:00:00Z", "author": "dave", "message": "off", "apps": ["web", "api"]}
    assert told(timeline(tmp_path, "a.json", json.dumps({"timeline": [row]}))) == [(at(7, 0), "dave", "web, api: off")]
    assert told(timeline(tmp_path, "b.json", json.dumps([row, row]))) == [(at(7, 0), "dave", "web, api: off")] * 2


def test_a_markdown_page_has_tables_and_lists(tmp_path: Path) -> None:
    page = (
        "# Incident of 2026-11-30\n\nAll times are UTC\n\n"
        "- 07:01 @dave: web is frozen\n"
        "* **07:02:03 Z** web: restarted\n"
        "- 2026-11-30T07:03Z **Erin Holt** — looks good\n\n"
        "| when | who | note |\n|---|---|---|\n| 07:09 | carol | a \\| b |\n"
    )
    assert told(timeline(tmp_path, "t.md", page)) == [
        (at(7, 1), "dave", "web is frozen"),
        (at(7, 2, 3), "", "web: restarted"),
        (at(7, 3), "Erin Holt", "looks good"),
        (at(7, 9), "carol", "a | b"),
    ]


def test_a_page_without_a_timeline_is_foreign(tmp_path: Path) -> None:
    batches = timeline(tmp_path, "t.md", "# Read me\n\nNothing happened.\n")
    assert reasons(batches) == [NO_ROW]


@pytest.mark.parametrize(
    "exported",
    [
        {"type": "post", "post": {"user": "dave", "message": "frozen", "create_at": 1796022034395}},
        {"value": [{"createdDateTime": "2026-11-30T07:00:34Z", "body": {"content": "<p>frozen</p>"}}]},
        {"log_entries": [{"created_at": "2026-11-30T07:00:34Z", "summary": "frozen", "agent": {"summary": "Dave"}}]},
        {"incident": {"title": "web is down", "created_at": "2026-11-30T07:00:34Z"}},
        {"data": [{"note": "frozen", "owner": "dave@acme.example", "createdAt": "2026-11-30T07:00:34Z"}]},
        {"issues": [{"key": "OPS-1", "fields": {"summary": "frozen", "created": "2026-11-30T07:00:34.000+0000"}}]},
    ],
)
def test_exports_of_other_tools_are_told_of_and_not_guessed(exported: dict[str, Any], tmp_path: Path) -> None:
    batches = timeline(tmp_path, "x.json", json.dumps(exported))
    assert told(batches) == []
    assert reasons(batches) == ["neither a message of Slack nor a row with a time and a text"]


@pytest.mark.parametrize("content", ["BEGIN:VCALENDAR\nDTSTART:20261130T070000Z\n", "<html>07:00 dave</html>", ""])
def test_a_file_that_is_no_timeline_says_what_one_is(content: str, tmp_path: Path) -> None:
    assert reasons(timeline(tmp_path, "x.txt", content)) == [NO_ROW]


def test_answers_of_slacks_own_api_are_read_with_their_members(tmp_path: Path) -> None:
    (tmp_path / "slack").mkdir()
    members = [{"id": "U1", "name": "dave", "profile": {"real_name": "Dave D", "email": "dave@acme.example"}}]
    said = {"type": "message", "user": "U1", "text": "web is frozen", "ts": "1796022034.395277"}
    (tmp_path / "slack" / "inc-1.json").write_text(json.dumps({"ok": True, "messages": [said], "has_more": False}))
    (tmp_path / "slack" / "users.json").write_text(json.dumps({"ok": True, "members": members}))
    (message,) = facts(collected(announcements.collect, tmp_path, announcements="slack"), Announcement)
    assert (message.author, message.author_email, message.channel) == ("Dave D", "dave@acme.example", "inc-1")


def test_a_table_may_have_a_title_above_its_header(tmp_path: Path) -> None:
    content = "Incident 42\n\ntime,who,text\n2026-11-30T07:00:34Z,dave,web is frozen\n"
    batches = timeline(tmp_path, "t.csv", content)
    assert told(batches) == [(at(7, 0, 34), "dave", "web is frozen")]
    (message,) = facts(batches, Announcement)
    row = content.encode()[message.origin.offset : message.origin.offset + message.origin.length]
    assert row == b"2026-11-30T07:00:34Z,dave,web is frozen\n"


@pytest.mark.parametrize("line", ["- 07:00 **dave**: web is frozen", "- **07:00** **dave:** web is frozen"])
def test_a_bold_name_behind_the_time_is_the_author(line: str, tmp_path: Path) -> None:
    batches = timeline(tmp_path, "t.md", f"# 2026-11-30\nAll times are UTC\n{line}\n")
    assert told(batches) == [(at(7, 0), "dave", "web is frozen")]


def test_an_archive_without_anything_to_read_says_so(tmp_path: Path) -> None:
    zipped(tmp_path, {"word/document.xml": "<w/>"})
    batches = collected(announcements.collect, tmp_path, announcements="export.zip")
    assert reasons(batches) == ["an archive without any JSON, CSV, Markdown or text file"]


def zipped(folder: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(folder / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def test_a_zipped_slack_export_is_read_like_an_unpacked_one(tmp_path: Path) -> None:
    said = [{"user": "U1", "text": "web is frozen", "ts": "1796022034.395277"}]
    members = [{"id": "U1", "name": "dave", "real_name": "Dave D", "profile": {"email": "dave@acme.example"}}]
    zipped(tmp_path, {"inc-1/2026-11-30.json": json.dumps(said), "users.json": json.dumps(members), "a.png": "x"})
    (message,) = facts(collected(announcements.collect, tmp_path, announcements="export.zip"), Announcement)
    assert (message.author, message.author_email, message.channel) == ("Dave D", "dave@acme.example", "inc-1")
    place, raw = message.origin, (tmp_path / "export.zip").read_bytes()
    assert hashlib.sha256(raw[place.offset : place.offset + place.length]).hexdigest() == place.sha256
    assert b"inc-1/2026-11-30.json" in raw[place.offset : place.offset + place.length]


def test_a_zip_bomb_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcements, "MAX_FILE", 1 << 20)
    zipped(tmp_path, {"bomb.json": " " * (3 << 20), "t.csv": "time,text\n2026-11-30T07:00Z,on\n"})
    batches = collected(announcements.collect, tmp_path, announcements="export.zip")
    assert reasons(batches) == ["bomb.json is larger than 1 MiB"]
    assert [each.text for each in facts(batches, Announcement)] == ["on"]


def test_a_broken_zip_says_so(tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(b"PK\x03\x04rest")
    [reason] = reasons(collected(announcements.collect, tmp_path, announcements="export.zip"))
    assert reason.startswith("not a whole zip archive")


def test_an_unchanged_source_gives_nothing_and_a_changed_one_all(tmp_path: Path) -> None:
    first = timeline(tmp_path, "t.csv", "time,text\n2026-11-30 07:00Z,a\n")
    given: dict[str, Any] = {"announcements": "t.csv", "marks": last_marks(first)}
    assert collected(announcements.collect, tmp_path, **given) == []
    (tmp_path / "t.csv").write_text("time,text\n2026-11-30 07:00Z,a\n2026-11-30 07:01Z,b\n")
    assert len(told(collected(announcements.collect, tmp_path, **given))) == 2


def test_a_missing_source_has_a_problem(tmp_path: Path) -> None:
    (batch,) = collected(announcements.collect, tmp_path)
    assert batch.mark.problem == "slack/ does not exist."


def test_a_zone_that_is_none_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Mars/Base"):
        timeline(tmp_path, "t.csv", "time,text\n", zone="Mars/Base")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not there")
def test_the_recorded_channels_are_read() -> None:
    batches = collected(announcements.collect, CORPUS / "incident-a")
    assert [author for _, author, _ in told(batches)] == ["Dave", "Dave", "Dave", "Alice"]
    assert reasons(batches) == []
