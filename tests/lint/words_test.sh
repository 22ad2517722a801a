#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/check_words.py finds retired words in names, comments and file names, and nothing else.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cat >"$place/good.h" <<'END'
// The slots of a team, discarded; nobody tells or hears it. A doorbell rings: None is a value of Python, for every rank.
int slots_discarded, doorbell, slot_lottery, Pilots, relies;
END
status=0
python3 "$root/scripts/check_words.py" "$place" || status=$?
[ "$status" -eq 0 ]

cat >"$place/bad.h" <<'END'
struct Courier {};
enum { kCourierSlots };
void ask_courier(), openDoors();
// Null when there is
// none. It waits for
/// ever.
const char* text = "Lies elsewhere";  // COURIERS
END
echo '# what comes first' >"$place/courier_test.py"
said=$(python3 "$root/scripts/check_words.py" "$place") && exit 1
echo "$said"
for what in "bad.h:1: 'Courier'" "bad.h:2: 'kCourierSlots'" "bad.h:3: 'ask_courier'" "bad.h:3: 'openDoors'" "bad.h:4: 'is // none'" \
  "bad.h:5: 'for /// ever'" "bad.h:7: 'Lies'" "bad.h:7: 'COURIERS'" "courier_test.py:1: 'what comes'" \
  "courier_test.py (its name):1: 'courier_test'" '3 files, 10 retired words'; do
  echo "$said" | grep -q "$what" || {
    echo "missing: $what"
    exit 1
  }
done
