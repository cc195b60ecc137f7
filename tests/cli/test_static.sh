# The static program, its archive and the Debian package: they hold what they must, need nothing else, and the program
# gives the same bits as the one that is linked as usual.
run flock "$BUILD/making" "$MAKE" --no-print-directory -C "$top" BUILD="$BUILD" dist deb
same "make dist deb" "$code$(cat "$work/err")" 0
version=$(voxsift version | sed -n 's/^voxsift //p')
name=voxsift-$version-linux-$(uname -m)
static=$BUILD/static/voxsift
run sh "$top/tests/gates/hardened.sh" "$static" static
same "the static program is hardened and needs no other file" "$code$(cat "$work/out")" 0
same "both say the same version" "$("$static" version)" "$(voxsift version)"

commands='^(lesion|regions|lasso|lasso-logistic|graphnet|fused-grid|fused-bp|skfs|fgm|fgm-gauss|mslr|check-grid|predict-lasso|cv-classes|permute|stability|page-lasso.html|overlap)$'
for threads in 1 2; do
    run env -C "$top" SAME_BITS=1 SAME_THREADS=$threads "$PYTHON" tests/same/same.py "$BUILD/voxsift" "$static" "$PWD/same" "$commands"
    same "the same bits, $threads threads" "$code$(grep DIFFERENT "$work/out")" 0
    holds "commands were compared" " outputs compared, 0 differ" "$work/out"
done
rm -rf same

# The archive: one folder, nobody's files, readable by all; every licence of what is linked; links that lead somewhere.
tar -tvzf "$BUILD/$name.tar.gz" > list
same "root's files, that others cannot write" "$(grep -vcE '^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|lrwxrwxrwx) 0/0 ' list)" 0
same "in one folder" "$(awk '{ print $6 }' list | grep -vc "^$name/")" 0
same "sorted" "$(awk '{ print $6 }' list)" "$(awk '{ print $6 }' list | LC_ALL=C sort)"
(cd "$BUILD" && sha256sum --quiet -c "$name.tar.gz.sha256") && pass || fail "the sum of the archive is another"
mkdir "un [packed] *" && tar -xzf "$BUILD/$name.tar.gz" -C "un [packed] *"
tree="$PWD/un [packed] */$name"
for file in README.md LICENSE NEWS.md examples/arc/participants.tsv docs/installing.md share/man/man1/voxsift.1 \
    share/bash-completion/completions/voxsift share/zsh/site-functions/_voxsift share/fish/vendor_completions.d/voxsift.fish \
    share/doc/voxsift/licenses/libopenblas-pthread-dev.txt share/doc/voxsift/licenses/common/LGPL-2.1; do
    [ -s "$tree/$file" ] && pass || fail "the archive has no $file"
done
for library in libopenblas libnifti2 libznz libamd libdeflate libnettle libz libgomp libc libgfortran; do
    grep -q "^| $library[-.a-z0-9]*\.a " "$tree/share/doc/voxsift/licenses/README.md" && pass || fail "no licence of $library"
done
works "links of the documents" sh "$top/tests/packages/links.sh" "$tree/share/doc/voxsift"
run env -C / "$tree/bin/voxsift" info schaefer100
holds "atlases are found in a folder of any name" "un [packed] */$name/share/voxsift" "$work/out"
ln -s "$tree/bin/voxsift" linked
run env -C / "$PWD/linked" info schaefer100
holds "and through a link" "un [packed] */$name/share/voxsift" "$work/out"
run "$PYTHON" "$top/tests/packages/recipes.py" "$top/docs/packaging" "$version" "voxsift-$version-linux-x86_64.tar.gz"
same "recipes" "$(cat "$work/out" "$work/err")" "recipes: right"
mkdir conda && cp "$BUILD/$name.tar.gz" conda
works "conda's build.sh" env -C conda PREFIX="$PWD/prefix" bash "$top/docs/packaging/conda/build.sh"
run prefix/bin/voxsift info schaefer200
holds "what it made" "prefix/share/voxsift/atlases" "$work/out"

# On a system with nothing in it, for a user who may write nowhere but into one folder.
mkdir bare out
if unshare -m true 2> /dev/null; then
    run unshare -m sh "$top/tests/packages/bare.sh" "$tree" "$PWD/bare" "$PWD/out"
    same "an empty system" "$code" 0
    holds "certificates hold there" "the certificate holds" "$work/out"
    [ -s out/age.html ] && pass || fail "no page was made" "$(cat "$work/err")"
else
    skip "static: no right to a mount namespace, so the archive was not tried on an empty system"
fi

# The package: installed and removed by dpkg in a folder, with a database of its own.
deb=$(ls -t "$BUILD"/voxsift_"$version"-*.deb | head -n 1)
mkdir -p system/var/lib/dpkg/info system/var/lib/dpkg/updates && touch system/var/lib/dpkg/status
package() { dpkg --root="$PWD/system" --log=/dev/null --force-depends --force-not-root --force-script-chrootless "$@"; }
run package -i "$deb"
same "dpkg -i" "$code" 0
run system/usr/bin/voxsift info schaefer100
holds "the package's program finds its atlases" "system/usr/share/voxsift/atlases" "$work/out"
for library in libamd2 libc6 libdeflate0 libgomp1 libnettle8 libnifti2-2 libopenblas0 zlib1g; do
    dpkg-deb -f "$deb" Depends | grep -q "\b$library\b" && pass || fail "the package does not depend on $library"
done
run package -P voxsift
same "dpkg -P" "$code" 0
same "nothing stays" "$(find system -path system/var -prune -o -type f -print)" ""
run lintian --allow-root --fail-on error,warning "$deb"
same "lintian" "$code$(cat "$work/out")" 0
chmod -R u+w . && rm -rf ./*
nothing_left "static"
