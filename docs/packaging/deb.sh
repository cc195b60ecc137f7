#!/bin/sh
# deb.sh TREE PACKAGE VERSION EPOCH: what was installed into TREE with PREFIX=/usr becomes a Debian package, the same
# bytes for one revision and one set of libraries. Who distributes it sets DEBFULLNAME and DEBEMAIL.
set -eu
tree=$1 package=$2 version=$3 epoch=$4
maintainer="${DEBFULLNAME:-the voxsift authors} <${DEBEMAIL:-voxsift@example.org}>"
doc=$tree/usr/share/doc/voxsift
top=$(cd "$(dirname "$0")/../.." && pwd)
export SOURCE_DATE_EPOCH="$epoch"

paragraphs() { # a licence as a field: a blank before each line, a point for empty ones
    sed 's/^[[:space:]]*$/./; s/^/ /' "$1"
}

copyright() {
    printf '%s\n' 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/' 'Upstream-Name: voxsift' \
        '' 'Files: *' "Copyright: $(sed -n 's/^Copyright (c) //p' "$top/LICENSE")" 'License: BSD-3-clause'
    sed '1,/^Copyright/d; 1,/./{/^$/d}' "$top/LICENSE" > "$tree.text"
    paragraphs "$tree.text"
    for atlas in icbm152:LICENSE-ICBM152.txt:MNI schaefer2018:LICENSE-Schaefer2018.md:Expat; do
        folder=${atlas%%:*} file=${atlas#*:} name=${atlas##*:}
        file=$top/atlases/$folder/${file%:*}
        # Copyright ends where permission begins.
        tr '\n' ' ' < "$file" | sed 's/  */ /g; s/ *Permission /\nPermission /; s/ $/\n/' > "$tree.text"
        printf '\n%s\n' "Files: usr/share/voxsift/atlases/$folder/*"
        sed -n '1s/^Copyright (C) /Copyright: /Ip' "$tree.text"
        echo "License: $name"
        sed 1d "$tree.text" | fold -s -w 100 | sed 's/ *$//' > "$tree.lines"
        paragraphs "$tree.lines"
    done
    printf '%s\n' '' 'Files: usr/share/doc/voxsift/examples/arc/*' \
        'Copyright: none claimed: the contributors of OpenNeuro ds004884, which examples/arc/README.md cites' \
        'License: CC0-1.0' " On Debian, the text is in /usr/share/common-licenses/CC0-1.0."
}

control() { # what dpkg-shlibdeps says of the program
    printf '%s\n' 'Package: voxsift' "Version: $version" "Architecture: $(dpkg --print-architecture)" \
        "Maintainer: $maintainer" \
        "Installed-Size: $(du -k --apparent-size -s "$tree/usr" | cut -f 1)" \
        "Depends: $depends" \
        'Section: science' 'Priority: optional' \
        'Description: sparse prediction from brain images, with certificates' \
        ' voxsift finds the few voxels, regions and pairs of features that predict a' \
        ' diagnosis or a score in a cohort of PET or MRI volumes. It reads NIfTI images' \
        ' and tables, fits the lasso, graph-net, the fused lasso and kernel methods,' \
        ' proves by duality gaps how near each answer is to the best one, and says by' \
        ' nested cross-validation, permutations and stability how far to trust it.' \
        ' .' \
        ' This package has the program, atlases, manual pages, documents and examples.'
}

rm -f "$doc/LICENSE" # stands in the file copyright
copyright > "$doc/copyright"
rm -f "$tree.text" "$tree.lines"
gzip -9n < "$top/NEWS.md" > "$doc/changelog.gz" && rm "$doc/NEWS.md"
ln -s changelog.gz "$doc/NEWS.md.gz"
{
    printf 'voxsift (%s) unstable; urgency=medium\n\n  * Package of voxsift %s; NEWS.md.gz says what is new.\n\n' "$version" "${version%-*}"
    printf ' -- %s  %s\n' "$maintainer" "$(date -u -R -d "@$epoch")"
} | gzip -9n > "$doc/changelog.Debian.gz"
gzip -9n "$tree"/usr/share/man/man1/*.1
strip --strip-unneeded -R .comment -R .note "$tree/usr/bin/voxsift"

mkdir -p "$tree/usr/share/lintian/overrides"
printf '%s\n' '# Not made for upload to Debian, where a bug report asks for a new package.' \
    'voxsift: initial-upload-closes-no-bugs' > "$tree/usr/share/lintian/overrides/voxsift"

mkdir -p "$tree/DEBIAN" "$tree.source/debian"
printf 'Source: voxsift\n' > "$tree.source/debian/control"
depends=$(cd "$tree.source" && dpkg-shlibdeps -O -e "$tree/usr/bin/voxsift" 2> warnings | sed -n 's/^shlibs:Depends=//p')
grep -v 'should already be installed in their package' "$tree.source/warnings" >&2 || true
rm -r "$tree.source"
[ -n "$depends" ] || { echo "deb.sh: what the program depends on is not known" >&2; exit 1; }

control > "$tree/DEBIAN/control"
chmod -R u=rwX,go=rX "$tree"
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
find "$tree" -print0 | xargs -0 touch -h -d "@$epoch"
dpkg-deb --root-owner-group -Zxz -b "$tree" "$package" > /dev/null
