"""In what form a file was handed in, told from its first bytes alone."""

import re
from typing import Literal

Form = Literal["bzip2", "xz", "zip", "tar", "yaml", ""]
"""What is taken off a file; "" for lines as they are."""

_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")
_REFUSED = (
    (b"PAR1", "a Parquet file: convert it to JSON lines, as with duckdb's COPY … TO 'audit.json'"),
    (b"Obj\x01", "an Avro file: convert it to JSON lines, as with avro-tools tojson"),
    (b"ORC", "an ORC file: convert it to JSON lines"),
    (b"\x04\x22\x4d\x18", "compressed with lz4: decompress it with lz4 -d"),
    (b"\xff\x06\x00\x00sNaPpY", "compressed with snappy: decompress it first"),
    (b"]\0\0", "compressed with lzma in its old form: decompress it with unlzma"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it and list its folder"),
    (b"Rar!", "a RAR archive: unpack it and list its folder"),
    (b"%PDF-", "a PDF: export the records as JSON or CSV"),
    (b"SQLite format 3\0", "an SQLite database: export the records as JSON lines"),
    (b"\xd0\xcf\x11\xe0", "an Office document: save the table as CSV"),
)
_KEYS = (
    *(b"annotations", b"apiVersion", b"auditID", b"AuditId", b"Category", b"eventId", b"events", b"ingestionTime"),
    *(b"insertId", b"items", b"kind", b"labels", b"level", b"logName", b"logStreamName", b"log_s", b"message"),
    *(b"metadata", b"protoPayload", b"TimeGenerated", b"TenantId", b"TableName", b"Annotations", b"_ResourceId"),
)
_YAML = re.compile(rb"\s*(?:#[^\n]*\n\s*)*(?:---[ \t]*\r?\n\s*)?(?:- )?(?:%s):(?: [^{\n]*)?\r?\n" % b"|".join(_KEYS))


def form(head: bytes) -> Form:
    """The form of a file that begins so. YAML is told by the keys that documents with records begin with."""
    if head.startswith(b"BZh") and head[4:10] in _BZIP2:
        return "bzip2"
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    if head.startswith(b"PK\x03\x04"):
        return "zip"
    if head[257:262] == b"ustar":
        return "tar"
    return "yaml" if _YAML.match(head.removeprefix(b"\xef\xbb\xbf")) else ""


def refusal(head: bytes) -> str:
    """What a file that begins so is and what to hand in instead; "" for one that may hold records."""
    return next((said for magic, said in _REFUSED if head.startswith(magic)), "")
