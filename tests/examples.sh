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
echo "examples: $count passed, 0 failed"
