#!/bin/sh
# Makes the lab's pages and looks at them in a browser: charts, table, timelines and zoom, in light
# and dark, on a desk and on a phone. The pages come from a debug build, which measures nothing worth
# knowing: it is the pages that are looked at, not their figures.
set -eu
check=crates/drowse-lab/browser/check.py
lab=$CARGO_TARGET_DIR/drowse-lab
shots=$lab/shots

command -v python3 >/dev/null || { echo "no python3: apt-get install python3"; exit 77; }
python3 $check --ready

# Every workload, so that every kind of chart is there; contenders of every kind, one of which has
# reasons rather than figures; rounds enough to tell contenders apart; and hardly any time.
"$CARGO" run --quiet --package drowse-lab -- compare --full --threads 2 --rounds 3 --time 1ms \
    --contender serial --contender drowse --contender drowse-sleepy --contender rayon \
    --contender channel --out "$lab/browser"
python3 $check "$lab/browser/report.html" "$shots/report"

"$CARGO" run --quiet --package drowse-lab -- trace --workload ticks --out "$lab/browser"
python3 $check "$lab/browser/trace-ticks.html" "$shots/trace" --trace

echo "2 pages; screenshots in $shots"
