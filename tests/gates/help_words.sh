#!/bin/sh
# Help of an option is a phrase: at most 25 words, no full stop, no words that the field does not use of it.
# Descriptions of commands, methods and topics: the words alone. Argument: voxsift.
set -u
found=$(mktemp)
trap 'rm -f "$found"' EXIT
for command in $("$1" help | sed '/^Help$/,$d' | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
    "$1" describe --boutiques "$command" | sed "s/^/$command: /"
done > "$found" || exit 1
"$1" methods --json | sed 's/"help"/"description"/; s/^/methods: /' >> "$found" || exit 1
sed -n 's/^\([a-z-]*\): .*"description": "\(\([^"\\]\|\\.\)*\)".*/\1: \2/p' "$found" | sort -u | awk '
    { phrases++ }
    NF > 26 { print "more than 25 words: " $0; bad = 1 }
    /\.$/ { print "a full stop: " $0; bad = 1 }
    /[^a-z](tells?|says?|wants?|speaks?|asks?|dealt|whoever|kept back|learned anew|neighbor|penalis|standardis)([^a-z]|$)/ {
        print "not a word of the field: " $0; bad = 1
    }
    END { if (phrases < 100) { print "only " phrases " phrases were found"; bad = 1 } exit bad }' || exit 1

for command in $("$1" help | sed '/^Help$/,$d' | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
    "$1" help --man "$command" | sed -n '/^\.SH DESCRIPTION/,/^\.SH [^D]/p' | sed "s/^/$command: /"
done > "$found" || exit 1
for page in $("$1" help | sed -n 's/^  voxsift help \([a-z]*\)  .*/\1/p') lasso graphnet fused skfs fgm mslr; do
    "$1" help "$page" | sed "s/^/$page: /"
done >> "$found" || exit 1
awk '
    { lines++ }
    /[^a-z](tells?|wants?|wanted|speaks?|dealt|whoever|kept back|learned anew|learned|told|neighbour|penalis|standardis|change places|hangs? together|stands? in|asked for|what was done)([^a-z]|$)/ {
        print "not a word of the field: " $0; bad = 1
    }
    END { if (lines < 100) { print "only " lines " lines were found"; bad = 1 } exit bad }' "$found"
