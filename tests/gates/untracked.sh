#!/bin/sh
# What git sees of the work tree: files it neither tracks nor ignores, and changes to those it tracks.
# untracked.sh LIST writes that down; untracked.sh NOW BEFORE fails when it is no longer the same.
# Outside a checkout there is nothing to compare.
set -u
git rev-parse HEAD > /dev/null 2>&1 || exit 0
{ git ls-files --others --exclude-standard; git diff HEAD; } > "$1"
[ $# -eq 2 ] || exit 0
cmp -s "$1" "$2" || { echo "the tests changed the work tree:"; diff "$2" "$1"; exit 1; }
