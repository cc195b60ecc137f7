#!/usr/bin/env bash
# Runs the command-line tests: every test_*.sh in a fresh directory. BUILD is the build directory.
set -u
top=$(pwd)
export PATH="$BUILD:$PATH" LC_ALL=C.UTF-8 PYTHONPATH="$top/tests" PYTHONDONTWRITEBYTECODE=1
unset VOXSIFT_NTHREADS OMP_NUM_THREADS ${!SLURM_*}
work=$(mktemp -d)
trap 'chmod -R u+rwx "$work" 2> /dev/null; rm -rf "$work"' EXIT
. tests/cli/lib.sh
: > "$BUILD/skipped"
for current in "${@:-"$top"/tests/cli/test_*.sh}"; do
    for file in $current; do
        current=$file
        mkdir "$work/here"
        cd "$work/here" || exit 1
        . "$file"
        cd "$top" || exit 1
        rm -rf "$work/here"
    done
done
echo "command line: $passed passed, $failed failed"
sed 's/^/SKIPPED /' "$BUILD/skipped" >&2
[ "$failed" -eq 0 ]
