"""The prefilter may be wrong on one side only: what it lets pass, the full look must leave as it is."""

import json
import re
from collections.abc import Callable

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from auditor.objects.redaction import Redactor
from auditor.objects.suspicion import is_suspicious

REDACTOR = Redactor(b"k" * 32)

NAMES = st.sampled_from(
    """password DB_PASSWORD dbPass pass pw dbPw passwd PWD passphrase token API_TOKEN secret clientSecret secretKey
    secretName secretKeyRef tokenExpirationSeconds serviceAccountToken apiKey api_key API-KEY apikey private_key cred
    credentials AWS_SECRET_ACCESS_KEY SESSION_KEY client-key-data auth authorization cookie bearer htpasswd kubeconfig
    .dockerconfigjson name key value kind data stringData path command args labels annotations image replicas password1
    TOKEN_TTL existingSecret secret_id op webhookSecret storageAccountKey rsaKey GITHUB_AUTH""".split()  # noqa: SIM905
)
TEXTS = st.one_of(
    st.sampled_from(
        [
            "hunter2",
            "Secret",
            "PodExecOptions",
            "ConfigMap",
            "debug",
            "/data/password",
            "/spec/env/0/value",
            "postgres://a:b@c/d",
            "https:\\/\\/a:b@c",
            "Bearer abcdEFGH1234",
            "Basic dXNlcjpwYXNz",
            "--password",
            "-u admin:pw123",
            "--user admin:pw123",
            "AKIAIOSFODNN7EXAMPLE",
            "ASIAIOSFODNN7EXAMPLE",
            "AIzaSyA0123456789012345678901234567890",
            "ghp_0123456789abcdefghij",
            "github_pat_0123456789abcdefghij",
            "glpat-0123456789abcdefghij",
            "xoxb-0123456789",
            "xapp-0123456789",
            "eyJhbGciOi.eyJzdWIiOi.x",
            "sk_live_0123456789abcdef",
            "sk-0123456789abcdefghij0123",
            "SG.0123456789abcdefgh.0123456789abcdefgh",
            "npm_0123456789abcdefghij0123456789abcdef",
            "pypi-0123456789abcdefghij",
            "hvs.0123456789abcdefghij",
            "dckr_pat_0123456789abcdefghij",
            "dop_v1_0123456789abcdef0123456789abcdef0123",
            "AGE-SECRET-KEY-0123456789ABCDEFGHIJ",
            "shpat_0123456789abcdef",
            "glsa_0123456789abcdef",
            "ya29.0123456789abcdefgh",
            "hooks.slack.com/services/T00000/B00000",
            "-----BEGIN EC PRIVATE KEY-----\nabc",
            "password=x y",
            "the pw is abc",
            "a\npassword: abc\n",
            '{"password":"x"}',
            '[{"name":"DB_PASS","value":"x"}]',
            "kind: Secret\ndata:\n  a: b",
            "- name: PASS\n  value: x",
            "password is x",
            "<b>password: x</b>",
            "a =>password=x",
            "\u201cpassword=x\u201d",
            "\u00e9password=x",
            "curl \\\n-u admin:pw123",
            "curl \\\n\t--user admin:pw123",
            "Basic\tdXNlcjpwYXNz",
            "hvs.0123.456789abcdefghij",
            "api key",
            "private-key (old)",
            '"password": trueX\n',
            'a: 1\n"password": null, x\n',
            '{"password": true,\n"token": falseX}',
        ]
    ),
    st.text("pasword=: \"'\\/.-_keytoncrdubhi@<>&\n\t\u00e9\u201c", max_size=24),
    st.lists(
        st.sampled_from(
            [
                "password",
                "api",
                "key",
                "-u",
                "--user",
                "a:b",
                "true",
                "null",
                "X",
                *[":", "=", '"', "'", "<", ">", "&", "\n", "\t", "/", ",", "{", "}"],
            ]
        ),
        max_size=9,
    ).map("".join),
)
DOCUMENTS = st.recursive(
    st.one_of(TEXTS, NAMES, st.integers(0, 99999), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(NAMES, TEXTS), inner, max_size=3)),
    max_leaves=8,
)


def as_python(document: object) -> str:
    return json.dumps(document)


def as_json_c(document: object) -> str:
    return json.dumps(document, ensure_ascii=False).replace("/", "\\/")


def as_go(document: object) -> str:
    """As the API server writes it: no `<`, `>` and `&`."""
    return re.sub("[<>&]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(document, ensure_ascii=False))


def as_dotnet(document: object) -> str:
    """Upper case hexadecimal, and quotes and control characters as numbers."""
    text = re.sub("[<>&+']", lambda found: f"\\u{ord(found[0]):04X}", json.dumps(document))
    return re.sub(
        r'\\([nt"\\])', lambda found: {"n": "\\u000A", "t": "\\u0009", '"': "\\u0022"}.get(found[1], found[0]), text
    )


def as_people(document: object) -> str:
    """With white space wherever it may stand."""
    return json.dumps(document, ensure_ascii=False, indent="\t", separators=("\r\n,", "\n:\n"))


def as_nested(document: object) -> str:
    """As the annotation that `kubectl apply` leaves."""
    return json.dumps({"annotations": {"last-applied": as_go(document)}})


@settings(max_examples=2500, deadline=None)
@given(DOCUMENTS, st.sampled_from([as_python, as_json_c, as_go, as_dotnet, as_people, as_nested]))
@example({"kind": "ConfigMap", "metadata": {"labels": {"owner": "helm"}}, "data": {"release": "SDRzSUFB"}}, as_people)
@example({"command": ["psql", "x1"], "kind": "PodExecOptions"}, as_people)
@example({"path": "AGE-SECRET-KEY-0123456789ABCDEFGHIJ"}, as_go)
def test_what_passes_the_prefilter_has_no_secret(document: object, written: Callable[[object], str]) -> None:
    raw = written(document).encode(errors="replace")
    if not is_suspicious(raw):
        decoded = orjson.loads(raw)
        assert REDACTOR._walk(decoded, (), 0) is decoded


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_redacting_is_stable(document: object) -> None:
    once = REDACTOR.body(orjson.dumps(document))
    assert REDACTOR.body(once) == once


def test_deep_bodies_are_suspicious_and_wide_ones_are_not() -> None:
    assert is_suspicious(b"[" * 200 + b"]" * 200)
    assert not is_suspicious(b'{"a":[' + b",".join([b'{"b":[{}]}'] * 1000) + b"]}")


@pytest.mark.parametrize(
    "raw",
    [
        r'{"data":{"motd":"\u003cb\u003epassword: hunter2Zq9x"}}',
        r'{"data":{"motd":"\u003Ctoken\u003Ehunter2Zq9x"}}',
        r'{"data":{"motd":"login =\u003epassword=hunter2Zq9x"}}',
        r'{"data":{"motd":"\u201cpassword=hunter2Zq9x\u201d"}}',
        r'{"data":{"motd":"a: b\u000apassword: hunter2Zq9x"}}',
        '{"data":{"motd":"caf\u00e9.password=hunter2Zq9x"}}',
        r'{"data":{"run":"curl \\\n-u admin:hunter2Zq9x https://x"}}',
        r'{"data":{"run":"curl \\\n\t--user admin:hunter2Zq9x https://x"}}',
        r'[{"op":"replace","path":"\/spec\/containers\/0\/env\/0\/value","value":"hunter2Zq9x"}]',
        r'[{"op":"replace","path":"/spec/containers/0/env/12345/value","value":"hunter2Zq9x"}]',
        '{"data":{"path":"password=hunter2Zq9x"}}',
        r'{"data":{"a.yaml":"\"password\": truehunter2Zq9x\n"}}',
        r'{"data":{"a.yaml":"x: 1\n\"password\": null, hunter2Zq9x\n"}}',
        '{"kind":"ConfigMap","metadata":{"labels":{"owner"\n:\n"helm"}},"data":{"release":"hunter2Zq9x"}}',
        '{"spec":{"api key":"hunter2Zq9x"}}',
    ],
)
def test_no_way_of_writing_json_hides_a_secret_from_the_prefilter(raw: str) -> None:
    redacted = REDACTOR.body(raw.encode())
    assert b"hunter2Zq9x" not in redacted
    assert b"[redacted:" in redacted


@pytest.mark.parametrize(
    "raw",
    [
        '{"projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}]}}',
        '{"spec":{"automountServiceAccountToken":false,"secretName":"db"}}',
        r'{"annotations":{"last":"{\"spec\":{\"automountServiceAccountToken\":false,\"a\":1}}"}}',
        r'{"command":["sh","-c","a \u0026\u0026 b \u003e c"]}',
    ],
)
def test_usual_bodies_are_not_decoded(raw: str) -> None:
    assert not is_suspicious(raw.encode())
