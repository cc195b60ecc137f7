#!/bin/sh
# What the libraries export is what the public headers declare, no more and no less. Arguments: the folder of headers,
# the static library, the shared one.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Functions by what the compiler read, variables by what the preprocessor leaves of our headers.
printf '#include "voxsift.h"\n' > "$work/all.c"
gcc -std=c11 -fsyntax-only -aux-info "$work/functions" -I"$1" "$work/all.c" || exit 1
gcc -std=c11 -E -P -I"$1" "$work/all.c" > "$work/text" || exit 1
{
    sed -n 's|^/\* '"$1"'/[^ ]* \*/ extern [^(]*[ *]\(vxs_[a-z0-9_]*\) (.*|\1|p' "$work/functions"
    grep '^extern [^(]*;' "$work/text" | grep -o 'vxs_[a-z0-9_]*\(\[\]\)*[,;]' | tr -d '[],;'
} | sort > "$work/public"

bad=0
compare() { # the library, what it exports
    [ -s "$2" ] || { echo "$1 exports nothing"; bad=1; }
    for name in $(comm -13 "$work/public" "$2"); do
        echo "$1 exports $name, which no public header declares"
        bad=1
    done
    for name in $(comm -23 "$work/public" "$2"); do
        echo "$1 does not export $name, which a public header declares"
        bad=1
    done
}
nm -g --defined-only "$2" | awk 'NF == 3 && $3 !~ /^(__odr_asan|\.gomp)/ { print $3 }' | sort > "$work/static"
nm -D --defined-only "$3" | awk 'NF == 3 && $2 != "A" && $3 !~ /^(__odr_asan|\.gomp)/ { sub(/@.*/, "", $3); print $3 }' | sort > "$work/shared"
compare "$2" "$work/static"
compare "$3" "$work/shared"
exit $bad
