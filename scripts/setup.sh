#!/usr/bin/env bash
# Makes a virtual environment from the lock, and whatever the machine lacks for PDFs and for rendering.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 venv=$2

say() { echo "setup: $*" >&2; }

debian_packages() { # NAME... : installs them where this is Debian and we may; else says what is wanted
    if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        say "installing $*"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
    else
        say "this machine lacks $*; install them by its package manager (on Debian: sudo apt-get install $*)"
        return 1
    fi
}

if [ -z "$python" ]; then
    say "Python 3.11 or newer is needed; name one by: make PYTHON=/path/to/python3 …"
    exit 1
fi

if ! command -v git >/dev/null; then
    debian_packages git
fi

say "making $venv, once: some minutes, as packages are downloaded"
if [ ! -x "$venv/bin/python" ]; then
    "$python" -c 'import ensurepip' 2>/dev/null || debian_packages python3-venv
    "$python" -m venv "$venv"
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .

# WeasyPrint sets PDFs with Pango; pdftotext and pdftoppm read them in the tests.
wanted=()
"$venv/bin/python" - <<'PYTHON' || wanted+=(libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0)
import ctypes.util, sys
sys.exit(not all(map(ctypes.util.find_library, ("pango-1.0", "pangoft2-1.0", "harfbuzz"))))
PYTHON
fonts=$(find /usr/share/fonts /usr/local/share/fonts -name 'LiberationS*' -o -name 'DejaVuSansCondensed*' 2>/dev/null || true)
case "$fonts" in *Liberation*) ;; *) wanted+=(fonts-liberation) ;; esac
case "$fonts" in *Condensed*) ;; *) wanted+=(fonts-dejavu-core fonts-dejavu-extra) ;; esac
command -v pdftotext >/dev/null || wanted+=(poppler-utils)
if [ ${#wanted[@]} -gt 0 ]; then
    debian_packages "${wanted[@]}" || say "going on without: PDFs may not be made"
fi

"$venv/bin/python" scripts/tools.py .tools/bin
