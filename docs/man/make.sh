#!/bin/sh
# Writes the manual pages: make.sh VOXSIFT DIR. One page a command, from the program's own tables.
set -eu
"$1" help --man > "$2/voxsift.1"
for name in $("$1" help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
    "$1" help --man "$name" > "$2/voxsift-$name.1"
done
