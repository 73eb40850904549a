#!/bin/sh
# Searches all states of a Promela model: spin.sh SOURCES PLACE MODEL [-DDEFINITION...]
# In a place of its own: spin writes to where it is called.
set -eu
sources=$1 place=$2 model=$3
shift 3

rm -rf "$place"
mkdir -p "$place"
cp "$sources"/*.pml "$sources"/*.inc "$place"
cd "$place"
spin "$@" -a "$model.pml"
# To optimise takes longer than it saves. A search may take 2000 MB and follow 100000 steps.
gcc -O0 -w -DSAFETY -DNOCLAIM -DMEMLIM=2000 -o pan pan.c
./pan -m100000 -w22
