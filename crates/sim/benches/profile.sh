#!/usr/bin/env bash
# Where the instructions of a reference workload go, by room of the source: counted by callgrind, per call.
#
#   crates/sim/benches/profile.sh            all three: a, b and storm
#   crates/sim/benches/profile.sh storm      one of them
#
# Builds the bench with debug information in a folder of its own, and so takes as long as a release build does. What the
# standard library has of its own (bounds of slices, options, integers) is compiled into all of them and stands apart.
set -euo pipefail
cd "$(dirname "$0")"
calls=100000

binary=$(CARGO_PROFILE_BENCH_DEBUG=1 CARGO_TARGET_DIR=../../../target/profile cargo bench -p retrystorm-sim --bench reference \
  --no-run --message-format=json 2> /dev/null | grep -o '"executable":"[^"]*reference-[^"]*"' | cut -d'"' -f4)
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT

for workload in ${*:-a b storm}; do
  valgrind --tool=callgrind --callgrind-out-file="$counts" "$binary" --once "$workload" $calls > /dev/null 2>&1
  printf '%s, instructions per call\n' "$workload"
  callgrind_annotate --auto=no --threshold=100 "$counts" | awk -v calls=$calls '
    function room(path) {
      if (path ~ /crates\/seawall/) return "policy engine"
      if (path ~ /sim\/src\/(queue|event)/) return "events and their queue"
      if (path ~ /sim\/src\/arena/) return "finding tasks by id"
      if (path ~ /world\/(task|client)\.rs|sim\/src\/step/) return "programs and clients"
      if (path ~ /world\/(call|begin|attempt|answer|edge|site|hedge|failing)\.rs/) return "calls and attempts"
      if (path ~ /world\/(job|service|replica|balance|departure|door)\.rs|world\/behaviour/) return "services and jobs"
      if (path ~ /sim\/src\/metrics|world\/(measure|record)\.rs|hdrhistogram/) return "measuring"
      if (path ~ /sim\/src\/(rng|law|arrivals)|rand_|libm|world\/length/) return "draws and their logarithms"
      if (path ~ /sim\/src\/world/) return "the loop and its hash"
      if (path ~ /^\/rustc\//) return "standard library, within all of these"
      return "loading, and memory of the system"
    }
    /^ *[0-9,]+ \( *[0-9.]+%\)/ && !/PROGRAM TOTALS/ {
      count = $1; gsub(",", "", count)
      path = $0; sub(/^ *[0-9,]+ \( *[0-9.]+%\) */, "", path); sub(/ \[.*/, "", path)
      of[room(path)] += count; all += count
    }
    END {
      for (name in of) printf "%8.0f  %4.1f %%  %s\n", of[name] / calls, 100 * of[name] / all, name | "sort -rn"
      close("sort -rn")
      printf "%8.0f           in all\n\n", all / calls
    }'
done
