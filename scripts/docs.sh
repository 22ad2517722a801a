#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the documentation site from README.md, docs/ and the other Markdown files:
#   scripts/docs.sh           writes build/site/site; open its index.html in a browser
#   scripts/docs.sh --serve   shows it at http://localhost:8000
#   scripts/docs.sh --check   builds it, installs nothing; where mkdocs and its theme are missing,
#                             only checks that the navigation has each page, and exits with 77
#   scripts/docs.sh --install only installs them
# REPOSITORY=URL names the repository that the pages link to (default: origin, where it is a URL).
# mkdocs, its theme, and what draws diagrams and plots come from PyPI, into build/site/python, in the versions of
# docs/site/requirements.txt. A warning of mkdocs is an error. The site asks no other server for anything.
set -eu
cd "$(dirname "$0")/.."
folder=build/site
python=$folder/python/bin/python3
requirements=docs/site/requirements.txt

has_all() { "$1" -c 'import material, matplotlib, mermaidx, mkdocs, sys; sys.exit(mkdocs.__version__ < "1.6")' 2>/dev/null; }

case ${1:-} in
  '' | --serve | --install) ;;
  --check)
    has_all "$python" || python=python3
    if ! has_all "$python"; then
      python3 docs/site/assemble.py --check
      echo "SKIPPED: mkdocs, its theme material, matplotlib or mermaidx is missing; scripts/docs.sh installs them"
      exit 77
    fi
    ;;
  *)
    sed -n '3,10p' "$0" >&2
    exit 2
    ;;
esac

if [ "${1:-}" != --check ] && ! has_all "$python"; then
  python3 -m venv "$folder/python" || {
    echo "docs.sh: python3 -m venv failed; on Debian and Ubuntu install python3-venv" >&2
    exit 1
  }
  "$python" -m pip install --quiet --disable-pip-version-check --timeout 15 --retries 1 -r "$requirements"
fi
[ "${1:-}" != --install ] || exit 0

mkdir -p "$folder"
"$python" docs/site/assemble.py "$folder"
# The theme's word on the next major version of mkdocs is for its own developers.
export NO_MKDOCS_2_WARNING=1
if [ "${1:-}" = --serve ]; then
  exec "$python" -m mkdocs serve --strict --config-file "$folder/mkdocs.yml"
fi
"$python" -m mkdocs --quiet build --strict --config-file "$folder/mkdocs.yml"
echo "docs: $folder/site/index.html, $(find "$folder/site" -name '*.html' | wc -l) pages"
