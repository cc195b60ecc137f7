#!/bin/sh
# The manual pages are what the program's tables say. Arguments: voxsift, the folder of the pages.
set -u
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
sh "$2/make.sh" "$1" "$fresh"
diff -r -u --exclude=make.sh "$2" "$fresh" && exit 0
echo "the manual pages are out of date: run 'make docs' and commit"
exit 1
