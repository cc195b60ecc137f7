# Installed under a prefix with a blank in it, everything works from there; uninstall takes it all.
root="$PWD/a root"
install_to() { flock "$BUILD/making" "$MAKE" --no-print-directory -C "$top" BUILD="$BUILD" DESTDIR="$root" PREFIX=/opt/v "$1"; }
run install_to install
same "make install" "$code" 0
same "it runs from there" "$("$root/opt/v/bin/voxsift" version | head -n 1)" "$(voxsift version | head -n 1)"
for file in bin/voxsift lib/libvoxsift.a lib/libvoxsift.so lib/libvoxsift.so.0 lib/pkgconfig/voxsift.pc include/voxsift.h \
    include/voxsift/core.h share/man/man1/voxsift.1 share/man/man1/voxsift-info.1 \
    share/bash-completion/completions/voxsift share/zsh/site-functions/_voxsift \
    share/fish/vendor_completions.d/voxsift.fish share/doc/voxsift/LICENSE share/doc/voxsift/docs/installing.md \
    share/doc/voxsift/docs/figures/report.png share/doc/voxsift/examples/arc/participants.tsv; do
    [ -s "$root/opt/v/$file" ] && pass || fail "$file is not installed"
done
same "every document is installed" "$(ls "$root/opt/v/share/doc/voxsift/docs")" \
    "$(cd "$top/docs" && ls -d -- *.* figures packaging)"
same "and every example" "$(cd "$root/opt/v/share/doc/voxsift" && find examples -type f | sort)" \
    "$(cd "$top" && { git ls-files examples 2> /dev/null | grep . || find examples -type f; } | sort)"
works "their links lead somewhere" sh "$top/tests/packages/links.sh" "$root/opt/v/share/doc/voxsift"
(cd "$root/opt/v/share/doc/voxsift" && run "$root/opt/v/bin/voxsift" info examples/arc/participants.tsv)
holds "the commands of README run there" "participants.tsv" "$work/out"
run man -M "$root/opt/v/share/man" voxsift-simulate
holds "man finds the page" "simulate a cohort with known truth" "$work/out"
(cd "$work" && run "$root/opt/v/bin/voxsift" info schaefer200)
holds "its atlases are found by name" "an atlas of  200 labels" "$work/out"
export PKG_CONFIG_PATH="$root/opt/v/lib/pkgconfig"
same "pkg-config knows the version" "$(pkg-config --modversion voxsift)" \
    "$(voxsift version | sed -n 's/^voxsift //p')"
sed -i "s#^prefix=#prefix=$root#" "$PKG_CONFIG_PATH/voxsift.pc" # where it would be without DESTDIR
[ ! -e "$root/opt/v/include/voxsift/internal" ] && pass || fail "internal headers are installed"
# A function of its own that has the name of a private one is no collision.
cp "$top/examples/read_table.c" own.c
printf '%s\n' 'void *vxs_alloc(void);' 'void *vxs_alloc(void) { return 0; }' >> own.c
builds() { # what, libraries as pkg-config has them...
    rm -f read_table
    run sh -c "gcc -std=c11 -Wall -Werror own.c -o read_table $(pkg-config --cflags voxsift) $2"
    same "a program of somebody else's builds: $1" "$code$(cat "$work/err")" 0
    works "and runs: $1" ./read_table "$top/examples/arc/participants.tsv" wab_aq
    same "and is right: $1" "$(cat "$work/out")" "wab_aq: 114 values, mean 67.50"
}
for example in "$top"/examples/*.c; do
    run sh -c "gcc -std=c11 -Wall -Werror '$example' -o example $(pkg-config --cflags --libs voxsift) -lm"
    same "$(basename "$example") builds with what is installed" "$code$(cat "$work/err")" 0
done
export LD_LIBRARY_PATH="$root/opt/v/lib"
builds "shared" "$(pkg-config --libs voxsift)"
same "it has the shared library's name" "$(readelf -d read_table | grep -c 'NEEDED.*\[libvoxsift.so.0\]')" 1
same "and needs no other library of ours" "$(readelf -d read_table | grep -c 'NEEDED.*\(openblas\|nifti\)')" 0
unset LD_LIBRARY_PATH
builds "static" "$(pkg-config --static --libs voxsift | sed 's/-lvoxsift/-l:libvoxsift.a/')"
run install_to uninstall
same "make uninstall" "$code" 0
same "nothing stays" "$(find "$root" -type f)" ""
unset PKG_CONFIG_PATH
rm -rf "$root" read_table example own.c
nothing_left "install"
