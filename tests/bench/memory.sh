#!/bin/sh
# A matrix four times as large as the memory that a fit may use, in a control group: slower, but the same
# weights. Arguments: BUILD FOLDER. Says so when this machine lets nobody make control groups.
set -eu
voxsift=$1/voxsift folder=$2
group=/sys/fs/cgroup/memory/voxsift-bench limit=320000000
mkdir -p "$folder"
[ -f "$folder/wide/cohort.json" ] ||
    "$voxsift" simulate lasso --subjects 400 --features 800000 --nonzero 0.001 -o "$folder/wide" -q > "$folder/log"
size=$(stat -c %s "$folder/wide/features.npy")
fit() { # output
    "$voxsift" fit "$folder/wide" --target score --nthreads 1 -o "$folder/$1" --force -q --json |
        sed -n 's/^ *"\(passes\|seconds\|gap\)": \(.*\),/\1 \2/p' | tr '\n' ' '
}
echo "  free: $(fit free)"
if ! mkdir -p "$group" 2> /dev/null || ! echo $limit > "$group/memory.limit_in_bytes" 2> /dev/null; then
    echo "  not limited: control groups cannot be made here"
    exit 0
fi
echo "  features.npy has $size bytes, the limit is $limit: $(
    echo $$ > "$group/cgroup.procs"
    sync "$folder/wide/features.npy"
    dd if="$folder/wide/features.npy" iflag=nocache count=0 2> /dev/null # what is cached is not in the group
    fit limited
)"
cmp "$folder/free/weights.tsv" "$folder/limited/weights.tsv" && echo "  the same weights"
rmdir "$group" 2> /dev/null || true
