#!/usr/bin/env bash
# Runs the command-line tests, those named or all, JOBS (2) at a time. BUILD is the build directory.
set -u
top=$(pwd)
export PATH="$BUILD:$PATH" LC_ALL=C.UTF-8 PYTHONPATH="$top/tests" PYTHONDONTWRITEBYTECODE=1
unset VOXSIFT_NTHREADS OMP_NUM_THREADS MAKEFLAGS MFLAGS ${!SLURM_*}
work=$(mktemp -d)
trap 'chmod -R u+rwx "$work" 2> /dev/null; rm -rf "$work"' EXIT

# --one FILE RESULT: one test in a fresh directory; RESULT gets the numbers that passed and failed
if [ "${1-}" = --one ]; then
    current=$2 result=$3
    . tests/cli/lib.sh
    mkdir "$work/here"
    cd "$work/here" || exit 1
    . "$current"
    echo "$passed $failed" > "$result"
    exit 0
fi

# Long files first, so that none of them runs alone at the end.
tests=("$@")
[ $# -gt 0 ] || tests=("$top"/tests/cli/test_*.sh)
: > "$BUILD/skipped"
ls -S "${tests[@]}" | while read -r file; do
    printf '%s\0%s\0' "$file" "$work/$(basename "$file")"
done | xargs -0 -P "${JOBS:-2}" -n 2 bash -c \
    'bash tests/cli/run.sh --one "$1" "$2.result" < /dev/null > "$2.log" 2>&1 || echo "0 1" > "$2.result"; cat "$2.log" >&2' run
count=0 passed=0 failed=0
for result in "$work"/*.result; do
    read -r good bad < "$result" && passed=$((passed + good)) failed=$((failed + bad)) count=$((count + 1))
done
[ "$count" -eq "${#tests[@]}" ] || { echo "a command-line test did not end" >&2; failed=$((failed + 1)); }
echo "command line: $passed passed, $failed failed"
sed 's/^/SKIPPED /' "$BUILD/skipped" >&2
[ "$failed" -eq 0 ]
