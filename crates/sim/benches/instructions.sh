#!/usr/bin/env bash
# Instructions per call of each reference workload, counted by callgrind and held against instructions.txt.
#
#   crates/sim/benches/instructions.sh            compare; fails when one has grown by more than the tolerance
#   crates/sim/benches/instructions.sh --write    take the figures of today
#
# Unlike time, the count is the same on a busy machine, so this can be a check: about half a minute beside the build.
# Without valgrind there is nothing to compare, which is said and is no failure. Two lengths of run are subtracted, so
# that loading the scenario does not count. Another compiler gives other figures: write them anew with it.
set -euo pipefail
cd "$(dirname "$0")"
figures=instructions.txt
tolerance=3 # per cent

if ! command -v valgrind > /dev/null; then
  echo "valgrind is not installed: instructions are not counted"
  exit
fi

binary=$(cargo bench -p retrystorm-sim --bench reference --no-run --message-format=json 2> /dev/null |
  grep -o '"executable":"[^"]*reference-[^"]*"' | cut -d'"' -f4)

count() { # workload, calls
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" --once "$1" "$2" 2>&1 > /dev/null |
    sed -n 's/.*Collected : //p'
}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
for workload in a-hand a b-hand b storm; do
  echo "$workload $((($(count $workload 150000) - $(count $workload 50000)) / 100000))" >> "$new"
done

if [ "${1:-}" = --write ]; then
  cp "$new" "$figures"
  cat "$figures"
  exit
fi
grown=0
while read -r workload now; do
  was=$(sed -n "s/^$workload //p" "$figures")
  printf '%-7s %6d instructions per call, %6d committed\n' "$workload" "$now" "$was"
  if [ $((now * 100)) -gt $((was * (100 + tolerance))) ]; then
    echo "        grown by more than $tolerance %"
    grown=1
  elif [ $((now * (100 + tolerance))) -lt $((was * 100)) ]; then
    echo "        shrunk by more than $tolerance %: renew the figures"
  fi
done < "$new"
exit $grown
