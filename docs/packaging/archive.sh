#!/bin/sh
# archive.sh PROGRAM TREE ARCHIVE EPOCH: the installed TREE of the static PROGRAM, with the licences of the libraries in
# it, becomes an archive: the same bytes whoever makes it, wherever and whenever.
set -eu
program=$1 tree=$2 archive=$3 epoch=$4
here=$(dirname "$0")

strip "$tree/bin/voxsift"
sh "$here/licenses.sh" "$program.map" "$tree/share/doc/voxsift/licenses"
for name in README.md LICENSE NEWS.md docs examples; do
    ln -s "share/doc/voxsift/$name" "$tree/$name"
done
chmod -R u=rwX,go=rX "$tree"
tar -c --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C "$(dirname "$tree")" \
    "$(basename "$tree")" | gzip -n > "$archive.new"
mv "$archive.new" "$archive"
(cd "$(dirname "$archive")" && sha256sum "$(basename "$archive")" > "$(basename "$archive").sha256")
