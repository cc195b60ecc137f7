#!/bin/sh
# Our own code runs on any x86-64: wider vectors stand in functions that are chosen at run time, whose names end in
# _avx2 or _avx512, and there is no fused multiplication, whose bits are others. Argument: the folder with objects.
set -u
[ "$(uname -m)" = x86_64 ] || exit 0
found=$(find "$1" -name '*.o')
[ -n "$found" ] || { echo "vectors: no objects in '$1'"; exit 1; }
printf '%s\n' "$found" | xargs objdump -d --no-show-raw-insn | awk '
    / file format / { object = $1 }
    /^[0-9a-f]+ <.*>:$/ { name = $2; wide = name ~ /_avx(2|512)[.>]/ }
    $2 ~ /^v[a-z]/ && (!wide || $2 ~ /^vf(n?m(add|sub)|maddsub|msubadd)/) && !((object, name) in told) {
        told[object, name] = bad = 1
        print object " " name " has " $2 (wide ? ", a fused product" : " outside functions for wider vectors")
    }
    END { exit bad }'
