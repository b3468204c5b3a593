"""The prefilter may be wrong on one side only: what it lets pass, the full look must leave as it is."""

import json

import orjson
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
        ]
    ),
    st.text("pasword=: \"'\\/.-_keytoncrdubhi@", max_size=24),
)
DOCUMENTS = st.recursive(
    st.one_of(TEXTS, NAMES, st.integers(0, 99999), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(NAMES, TEXTS), inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=1500, deadline=None)
@given(DOCUMENTS, st.sampled_from([None, 1]), st.booleans())
@example({"kind": "ConfigMap", "metadata": {"labels": {"owner": "helm"}}, "data": {"release": "SDRzSUFB"}}, None, True)
@example({"command": ["psql", "x1"], "kind": "PodExecOptions"}, 1, True)
@example({"path": "AGE-SECRET-KEY-0123456789ABCDEFGHIJ"}, None, False)
def test_what_passes_the_prefilter_has_no_secret(document: object, indent: int | None, ascii_only: bool) -> None:
    raw = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode(errors="replace")
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
