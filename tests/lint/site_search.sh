#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The documentation site answers a search when a browser opens it from a file, without a web server, and without asking
# another server. lint.site has built it.
set -eu
site=$(cd "$(dirname "$0")/../.." && pwd)/build/site/site
skip() {
  echo "SKIPPED: $*"
  exit 77
}
[ -e "$site/index.html" ] || skip "no site in $site; scripts/docs.sh builds it"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no chromium"

profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
page=$profile/page.html
# Names resolve to nothing, so that a page that needs another server shows it. Root needs --no-sandbox.
timeout 100 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$profile" --virtual-time-budget=30000 \
  --host-resolver-rules='MAP * ~NOTFOUND' --dump-dom "file://$site/index.html?q=shmem_long_put" >"$page" 2>"$profile/log" || {
  tail -n 20 "$profile/log"
  skip "$browser does not run here"
}
if ! grep -q 'href="file://[^"]*/docs/functions/shmem_put\.html?h=shmem_long_put' "$page"; then
  echo "the search for shmem_long_put does not find the page of shmem_put:"
  grep -o 'md-search-result__meta">[^<]*' "$page" || echo "no result"
  exit 1
fi
if grep -oE '(src|href)="https?://[^"]*\.(js|css)"' "$page"; then
  echo "the page asks the servers above"
  exit 1
fi
