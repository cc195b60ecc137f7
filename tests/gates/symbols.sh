#!/bin/sh
# Every symbol that other programs could collide with starts with vxs_. Arguments: objects, archives.
set -u
defined=$(nm -g --defined-only "$@") || { echo "nm cannot read what it was given"; exit 1; }
found=$(printf '%s\n' "$defined" |
    awk 'NF == 3 && $2 ~ /[A-Z]/ && $3 !~ /^vxs_/ && $3 !~ /^__(asan|odr_asan|tsan|ubsan)/ { print $3 }')
[ -z "$found" ] || { echo "symbols without the prefix vxs_:" $found; exit 1; }
