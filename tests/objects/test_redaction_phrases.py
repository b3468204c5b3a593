"""Secrets that no `=` or `:` announces, manifests inside texts, and values that YAML writes elsewhere."""

import json

import pytest

from auditor.objects.redaction import Redactor

REDACTOR = Redactor(b"k" * 32)
PLAIN = "hunter42Zq9x"
MANIFEST = json.dumps({"kind": "Secret", "stringData": {"foo": PLAIN}})

TEXTS = [
    f"kind: Secret # of the shop\nstringData:\n  foo: {PLAIN}\n",
    f"kind: Secret\nstringData: # plain\n  foo: {PLAIN}\n",
    f'kind: Secret\n"stringData":\n  foo: {PLAIN}\n',
    f"kind: Secret\nstringData: {{foo: {PLAIN}}}\n",
    f"{{apiVersion: v1, kind: Secret, stringData: {{foo: {PLAIN}}}}}",
    f"applied {MANIFEST}",
    f"\ufeff{MANIFEST}",
    f"{MANIFEST}\n{MANIFEST}",
    f"applied {json.dumps(MANIFEST)}",
    f"db:\n  password:\n    {PLAIN}\n",
    f"db:\n  password: # below\n    '{PLAIN}'\n  port: 1\n",
    f"db:\n  password: &shared {PLAIN}\n",
    f'password = """{PLAIN}"""\n',
    f"password = '''\n{PLAIN}'''\n",
    f"MYSQLPASSWORD={PLAIN}",
    f"dbpassword: {PLAIN}",
    f"CREATE USER a IDENTIFIED BY '{PLAIN}';",
    f"create user 'a'@'%' identified by '{PLAIN}';",
    f"ALTER ROLE a WITH ENCRYPTED PASSWORD '{PLAIN}';",
    f"define('DB_PASSWORD', '{PLAIN}');",
    f"os.getenv('DB_PASSWORD', '{PLAIN}')",
    f"machine x login u password {PLAIN}\n",
    f"port 1\nrequirepass {PLAIN}\n",
    f"redis-cli -h cache -a {PLAIN} ping",
    f"mysql -u${{USER}} -p{PLAIN} shop",
    f"sshpass -p {PLAIN} ssh host",
    f"root:{PLAIN}@tcp(db:3306)/shop",
    f"root:ab/{PLAIN}@unix(/run/db)/shop",
    f"postgres://u:ab/{PLAIN}@db/shop",
    f"see https://a.blob.core.windows.net/c?sv=1&sig={PLAIN} there",
    f"https://b.s3.amazonaws.com/x?X-Amz-Date=1&X-Amz-Signature={PLAIN}",
    f"shop-prod pass {PLAIN}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_secret_leaves_a_text_and_a_body_that_holds_it(text: str) -> None:
    redacted = REDACTOR.text(text)
    assert PLAIN not in redacted
    assert "[redacted:" in redacted
    assert REDACTOR.text(redacted) == redacted
    for ascii_only in (False, True):
        body = json.dumps({"data": {"text": text}}, ensure_ascii=ascii_only).replace("&", "\\u0026")
        assert PLAIN not in REDACTOR.body(body.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "password:\n  secretKeyRef:\n    name: db\n",
        "password:\n  enabled: true\n",
        "password:\nport: 1\n",
        "token:\n  {{ .Values.token }}\n",
        "http://registry.acme.example:5000/web/app@sha256:0123456789abcdef",
        "https://[::1]:8080/a@b",
        "oci://ghcr.io/acme/shop:1.2.3@sha256:0123456789abcdef",
        "mkdir -p /var/lib/mysql",
        "mysql-proxy restarted -p",
        "objects identified by 'app' label, set 'replicas' with 'kubectl'",
        "all tests pass OAuth2Client checks",
        "we pass shop-prod2 to the next shift",
        "pass /healthz 200",
        "design=1 config=2",
        "kind: ConfigMap\ndata: {a: b}\n",
        "getenv('DB_HOST', 'db.shop')",
        "requirepass is not set",
    ],
)
def test_what_only_reads_alike_stays(text: str) -> None:
    assert REDACTOR.text(text) == text
    body = json.dumps({"data": {"text": text}}).encode()
    assert REDACTOR.body(body) == body


@pytest.mark.parametrize(
    "body",
    [
        f'"{PLAIN}"',
        f'{{"foo":{{"data":{{"z":"{PLAIN}"}}}}}}',
        f'{{"data":{{"a":"{PLAIN}"}}}}',
        f'[{{"op":"replace","path":"","value":{{"data":{{"a":"{PLAIN}"}}}}}}]',
    ],
)
@pytest.mark.parametrize("resource", ["secrets", "Secrets"])
def test_a_body_of_a_secret_is_hidden_in_whatever_shape(body: str, resource: str) -> None:
    assert PLAIN not in REDACTOR.body(body.encode(), resource).decode()


def test_the_password_among_the_arguments_of_a_database_client_is_hidden() -> None:
    redacted = REDACTOR.body(json.dumps({"command": ["/usr/bin/mysql", "-uroot", f"-p{PLAIN}", "shop"]}).encode())
    assert json.loads(redacted)["command"][0::3] == ["/usr/bin/mysql", "shop"]
    assert PLAIN not in redacted.decode()


def test_hostile_phrases_take_linear_time() -> None:
    for piece in ("mysql ", "redis-cli ", "login x ", "kind: Secret data: {", "a:", "://u:a/", "&sig=", "password:\n "):
        REDACTOR.text(piece * (200_000 // len(piece)))
