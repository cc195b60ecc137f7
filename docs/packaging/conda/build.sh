#!/bin/bash
# Puts the files of the archive below PREFIX. conda-build has the archive, or has unpacked it, in the current folder.
set -eu
if ls voxsift-*.tar.gz > /dev/null 2>&1; then
    tar -xzf voxsift-*.tar.gz --strip-components=1
fi
mkdir -p "$PREFIX/bin"
cp bin/voxsift "$PREFIX/bin/voxsift"
cp -R share "$PREFIX/"
