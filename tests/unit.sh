#!/bin/sh
# Runs the unit tests and clears the directory they wrote to, which must be empty by then.
set -u
mkdir -p "$VXS_TEST_DIR"
"$@"
code=$?
if [ -n "$(ls -A "$VXS_TEST_DIR")" ]; then
    echo "the unit tests left files in $VXS_TEST_DIR:" >&2
    ls -A "$VXS_TEST_DIR" >&2
    rm -rf "$VXS_TEST_DIR"
    exit 1
fi
rmdir "$VXS_TEST_DIR"
exit $code
