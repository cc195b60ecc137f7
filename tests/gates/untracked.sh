#!/bin/sh
# Files that git neither tracks nor ignores: untracked.sh LIST writes them; untracked.sh NOW BEFORE
# fails when there are more than before. Outside a checkout there is nothing to compare.
set -u
git ls-files --others --exclude-standard > "$1" 2> /dev/null || exit 0
[ $# -eq 2 ] || exit 0
new=$(comm -13 "$2" "$1")
[ -z "$new" ] || { echo "the tests left files behind:" $new; exit 1; }
