#!/usr/bin/env bash
# Runs every example in a directory of its own. BUILD is the build directory.
set -eu
top=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
for script in examples/*.sh; do
    mkdir "$work/copy" && cp -R examples atlases "$work/copy"
    (cd "$work/copy/examples" && PATH="$BUILD:$PATH" BUILD="$BUILD" sh "$(basename "$script")") > "$work/log" 2>&1 ||
        { echo "FAIL $script"; cat "$work/log"; exit 1; }
    rm -rf "$work/copy"
    count=$((count + 1))
done
# Programs on the library, against the command line.
says() { # what it must say, program, arguments...
    pattern=$1
    shift
    "$BUILD/examples/$@" > log 2>&1 && grep -q "$pattern" log || { echo "FAIL examples/$1.c"; cat log; exit 1; }
    count=$((count + 1))
}
mkdir "$work/programs" && cp -R examples/arc "$work/programs" && cd "$work/programs"
PATH="$BUILD:$PATH"
voxsift cohort arc/participants.tsv --image-column t1w --smooth 8 -o t1w -q > /dev/null
voxsift fit t1w --target age_at_stroke --lambda-ratio 0.2 -o model -q > /dev/null
features=$(($(wc -l < model/weights.tsv) - 1))
says '^wab_aq: 114 values, mean 67.50$' read_table arc/participants.tsv wab_aq
says "^$features of 27575 voxels, gap .*: confirmed\$" fit_map t1w age_at_stroke map.nii.gz
voxsift info map.nii.gz | grep -q '39 x 47 x 39 voxels' || { echo "FAIL examples/fit_map.c: its map"; exit 1; }
says ': confirmed$' own_loss t1w age_at_stroke
echo "examples: $count passed, 0 failed"
