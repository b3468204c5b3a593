"""Which names stand for credentials, and which values beside such a name are none.

A name is judged by its words (`DB_PASSWORD`, `dbPassword` and `db-password` are the same three): it must hold a word
for a credential, and not end in one that makes it something about a credential (`tokenExpirationSeconds`,
`secretName`, `PASSWORD_FILE`).
"""

import re
from functools import lru_cache
from itertools import pairwise

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_ALWAYS = frozenset(
    """password passwords passwd pwd passphrase passphrases passcode token secret credential credentials creds apikey
    apikeys accesskey secretkey privatekey clientsecret accesstoken authtoken refreshtoken htpasswd
    dockerconfigjson dockercfg pgpass pgpassword webhooksecret""".split()  # noqa: SIM905
)
"""Words that make a credential wherever they stand in a name."""

_ENDS = ("password", "passwd", "apikey", "secretkey", "privatekey", "accesstoken")
"""Ends of a word that do so too, as in `MYSQLPASSWORD`."""

_LAST = frozenset({"pass", "pw", "auth", "authorization", "bearer", "cookie"})
"""Words that do so only as the last one: `DB_PASS`, and not `passThrough` or `rbac.authorization.k8s.io`."""

_KEYS = frozenset(
    """api access secret private encryption encrypt signing auth account shared master session service license crypto
    hmac jwt ssh deploy storage admin app webhook cipher aes rsa client storageaccount integration ingest
    subscription token""".split()  # noqa: SIM905
)
"""Words that make a credential of a following `key`."""

_ABOUT = frozenset(
    """seconds second minutes minute hours hour days ms millis ttl name names namespace namespaces ref refs reference
    from file files filename path paths dir directory url urls uri endpoint endpoints host port length len size policy
    policies type types kind id ids enabled enable disabled disable required optional class store count max min
    maximum minimum limit limits quota rotation rotate mode method algorithm alg header field fieldname prefix suffix
    issuer issuers audience audiences expiry expires expiration duration timeout interval age period lifetime version
    provider format location mount mounts mountpath volume volumes source sources scope scopes selector template
    templates manager operator controller service generator reader review reviews request requests projection budget
    bucket keyref property validation validator verifier rules rule strength reset change changed changes exists
    mapping map set sets management sync syncer engine injector agent driver server binding bindings checksum
    only domain domains tag tags label labels annotation annotations status state created updated at by
    role""".split()  # noqa: SIM905
)
"""Last words that make a name one *about* a credential."""

_NOT_CREDENTIALS = frozenset(
    {("pull", "secret"), ("tls", "secret"), ("ca", "secret"), ("cert", "secret"), ("proxy", "pass"), ("csrf", "cookie")}
)

_REFERENCE = re.compile(
    r"\$\(.*\)|\$\{.*\}|\$[A-Za-z_][\w.:\-]*|\{\{.*\}\}|<[\w .\-]+>|[*+x•]+|\[redacted.*\]", re.DOTALL
)
_FILE_PATH = re.compile(r"/[\w.\-]+(?:/[\w.\-]+)+/?")
_NO_VALUE = frozenset({"", "null", "none", "nil", "true", "false", "~", "|", ">", "|-", ">-", "{}", "[]", "redacted"})


@lru_cache(8192)
def names_credential(name: str) -> bool:
    """Whether a field, variable, parameter or key of this name holds a credential as its value.

    Of a name with slashes the last part counts, as the others say whose name it is.
    """
    words = [word.lower() for word in _WORDS.findall(name[-256:].rpartition("/")[2])]
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    if not words or "existing" in words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if (before, last) in _NOT_CREDENTIALS:
        return False
    if last in ("key", "keys"):
        return before in _KEYS
    if (before, last) in (("key", "data"), ("secret", "id")):
        return True
    if last in _ABOUT:
        return False
    return last in _LAST or not _ALWAYS.isdisjoint(words) or _holds_key(words) or any(map(_ends, words))


def _ends(word: str) -> bool:
    return word.endswith(_ENDS)


def _holds_key(words: list[str]) -> bool:
    """Whether `api key` and the like stand inside the name: `API_KEY_PROD`, `SECRET_KEY_BASE`."""
    return any(word in _KEYS and following == "key" for word, following in pairwise(words))


def is_plain_value(value: str) -> bool:
    """Whether a value beside a credential's name is no secret itself: empty, a switch, a reference, a file's path."""
    text = value.strip()
    return text.lower() in _NO_VALUE or bool(_REFERENCE.fullmatch(text) or _FILE_PATH.fullmatch(text))


_HARMLESS = re.compile(
    r"(?i)true|false|on|off|yes|no|null|trace|debug|info|warn(?:ing)?|error|fatal|[a-z]{1,8}|\d{1,6}"
    r"|\d{1,6}(?:ms|s|m|h|d|Ki|Mi|Gi|%)|https?://[\w.\-]+(?::\d+)?(?:/[\w.\-]*)*|[a-z][a-z\-]*(?:\.[a-z\-]+)+(?::\d+)?"
)


def is_scheme_name(name: str, value: str) -> bool:
    """Whether `auth` and the like only say by what scheme: `auth: basic`."""
    return name.lower().endswith("auth") and is_harmless(value)


def is_harmless(value: str) -> bool:
    """Whether a value says by itself that it is no secret, where its name is not known: `debug`, `30s`, a host."""
    return bool(_HARMLESS.fullmatch(value)) or is_plain_value(value)
