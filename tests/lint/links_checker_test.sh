#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/check_links.py finds what it is there for, and nothing else.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python=python3
python3 -c 'import markdown_it' 2>/dev/null || [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3

cat >"$place/other.md" <<'END'
# A title: with `code`, and signs

## Twice

## Twice
END
cat >"$place/good.md" <<'END'
[file](other.md), [title](other.md#a-title-with-code-and-signs), [second](other.md#twice-1), [here](#own)

## Own

[elsewhere](https://example.com/nothing#here), `[no](link.md)`, ![picture](other.md)
END
cat >"$place/bad.md" <<'END'
[gone](missing.md)

| table | [no heading](other.md#thrice) |
| --- | --- |
| ![no picture](missing.png) | [not here](#nowhere) |
END

status=0
"$python" "$root/scripts/check_links.py" "$place/good.md" || status=$?
[ "$status" -ne 77 ] || exit 77
[ "$status" -eq 0 ]
said=$("$python" "$root/scripts/check_links.py" "$place/bad.md") && exit 1
echo "$said"
for what in 'bad.md:1: missing.md: there is no' 'bad.md:3: other.md#thrice: .* has no heading' \
  'missing.png: there is no' '#nowhere: .* has no heading' '4 links, 4 problems'; do
  echo "$said" | grep -q "$what"
done
