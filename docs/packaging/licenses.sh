#!/bin/sh
# licenses.sh MAP FOLDER: the licences of all libraries of which the linker's MAP of a static program says that parts
# are in it. Debian's: a file for each package, and the texts that these refer to.
set -eu
map=$1 folder=$2
command -v dpkg-query > /dev/null || { echo "licenses.sh: the licences of libraries are Debian's files; dpkg is missing" >&2; exit 1; }

rm -rf "$folder"
mkdir -p "$folder/common"
libraries=$(awk '/^Archive member included/ { on = 1 } /^(Discarded|Memory|Allocating|There are)/ { on = 0 }
    on && /^\/.*\.a\(/ { sub(/\(.*/, ""); print } /^LOAD \/.*\.o$/ { print $2 }' "$map" |
    while read -r file; do readlink -f "$file"; done | grep -vF "$(cd "$(dirname "$map")/.." && pwd -P)/" | sort -u) # but for our own
{
    echo "# Libraries in the static program"
    echo
    echo "bin/voxsift contains parts of these libraries, as Debian packages them; the file of each package beside this"
    echo "one has its copyright and licence, and common/ the texts that these refer to. Sources of exactly these versions"
    echo "are at https://snapshot.debian.org. The source of voxsift is free (LICENSE): \`make static\` links it with changed"
    echo "versions of them, as the LGPL grants. GCC's libraries are under the GPL with the Runtime Library Exception."
    echo
    echo "| library | package | version | source |"
    echo "| --- | --- | --- | --- |"
} > "$folder/README.md"
for file in $libraries; do
    package=$(dpkg-query -S "$file" 2> /dev/null || dpkg-query -S "/usr$file") || { echo "licenses.sh: no package has '$file'" >&2; exit 1; }
    package=${package%%:*}
    cp "/usr/share/doc/$package/copyright" "$folder/$package.txt"
    dpkg-query -W -f "| ${file##*/} | $package | \${Version} | \${source:Package} \${source:Version} |\n" "$package"
done | sort -u >> "$folder/README.md"
# A licence may refer to another one of them.
for _ in 1 2; do
    grep -rhoE '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$folder" | sort -u | while read -r text; do
        [ -f "$text" ] && cp "$text" "$folder/common/${text##*/}"
    done || true
done
