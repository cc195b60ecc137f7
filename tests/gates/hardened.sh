#!/bin/sh
# The program is built to make the misuse of a bug hard: seen in what was linked, not in flags that
# somebody meant to give. Arguments: the program, and perhaps the word static: then it must need no other file.
set -u
bad=0
all=$(readelf -W -h -l -d --syms "$1") || { echo "readelf cannot read '$1'"; exit 1; }

needs() { # file, pattern, what
    printf '%s\n' "$all" | grep -qE "$2" || { echo "$1: not hardened, no $3"; bad=1; }
}
lacks() { # file, pattern, what
    ! printf '%s\n' "$all" | grep -qE "$2" || { echo "$1: not hardened, $3"; bad=1; }
}
needs "$1" '^ *Type: *DYN' "position independence (-fPIE -pie)"
if [ "${2:-}" = static ]; then
    lacks "$1" '^ *INTERP|\(NEEDED\)' "it needs other files (-static-pie)"
else
    needs "$1" '^ *INTERP' "position independence of a program"
fi
needs "$1" '^ *GNU_RELRO' "read-only relocations (-z relro)"
needs "$1" '\((FLAGS|FLAGS_1|BIND_NOW)\).*(BIND_NOW|NOW)' "immediate binding (-z now)"
needs "$1" '^ *GNU_STACK .* RW ' "stack that is not executable"
lacks "$1" '^ *LOAD .* RWE ' "a segment is writable and executable"
needs "$1" '__stack_chk_fail' "stack protector (-fstack-protector-strong)"
needs "$1" '__(snprintf|vsnprintf|fprintf|memcpy|memset|strncpy)_chk' "checked calls (-D_FORTIFY_SOURCE=2)"
exit $bad
