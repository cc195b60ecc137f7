#!/bin/sh
# Each gate must be able to fail: an offence is planted in a copy of the tree, and the gate must
# see it. BUILD is the build directory.
set -u
top=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 passed=0

plant() { # a fresh copy of what the gates read
    rm -rf "$work/tree"
    mkdir "$work/tree"
    cp -R Makefile include src tests docs .clang-format .clang-tidy "$work/tree"
    mkdir "$work/tree/examples" "$work/tree/atlases"
    cp examples/*.c examples/*.sh "$work/tree/examples"
    cp atlases/README.md "$work/tree/atlases"
    cd "$work/tree" || exit 1
}

sees() { # what, command...
    what=$1
    shift
    if "$@" > "$work/log" 2>&1; then
        echo "FAIL the gate did not see: $what"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
    cd "$top" || exit 1
}

clean() { # what, command...: the same gate on the clean tree, so that it fails for its reason only
    what=$1
    shift
    if ! "$@" > "$work/log" 2>&1; then
        echo "FAIL the clean tree does not pass: $what"
        sed 's/^/     /' "$work/log"
        failed=$((failed + 1))
    fi
    cd "$top" || exit 1
}

make='make --no-print-directory BUILD=build'

plant; clean "layers" $make layers
plant; printf '#include "cohort/x.h"\n' >> src/core/alloc.c; sees "core including cohort" $make layers
plant; printf '#include "core/utf8.h"\n' >> src/cli/help.c; sees "cli including a private header" $make layers
plant; mkdir src/attic; echo 'int x;' > src/attic/a.c; sees "a room that is not in the table" $make layers

plant; printf '#include <voxsift/cohort.h>\n' >> src/core/alloc.c; sees "core including cohort by angles" $make layers
plant; mkdir src/core/deep; echo '#include "cli/cli.h"' > src/core/deep/a.c; sees "an include in a deeper folder" $make layers
plant; yes '/* */' | head -n 600 >> src/core/error.c; sees "a file of over 600 lines" $make layers

plant; mkdir -p src/solver/saif && cp src/core/error.c src/solver/saif; sees "a file name that stands twice" $make layers

plant; mv src/core/top.c src/core/best.c; sees "a file of docs/layout.md that is not there" $make layers
plant; echo 'See tests/nowhere/a.sh.' >> docs/layout.md; sees "a path of docs/layout.md that is not there" $make layers

words() { sh tests/gates/words.sh . "$BUILD/voxsift"; }
plant; clean "words" words
plant; echo '/* Computed anew. */' >> src/core/error.c; sees "a retired word" words
plant; echo 'int vxs_units_count(void);' >> src/design/design.c; sees "a retired name" words
plant; echo '/* likewise */' >> include/voxsift/graph.h; sees "a retired word in a header" words
plant; echo '/* the centre */' >> src/report/charts.c; sees "British spelling" words
plant; rm -r src/linalg; sees "a room of the list that is not there" words

ban() { # program, flags: compiled as an object of the library
    plant
    mkdir -p objects/core
    printf '%s\n' "$1" > planted.c
    shift
    gcc -w -O0 "$@" -c planted.c -o objects/core/planted.o
}
plant; clean "bans" sh tests/gates/bans.sh "$BUILD/obj/src"
ban 'void *malloc(unsigned long); void *vxs_f(void) { return (malloc)(3); }'
sees "a malloc of its own" sh tests/gates/bans.sh objects
ban '#include <stdio.h>
void vxs_f(void) { fprintf(stderr, "//"); }'
sees "a library that prints" sh tests/gates/bans.sh objects
ban '#include <stdlib.h>
void vxs_f(void) { exit(3); }'
sees "a library that exits" sh tests/gates/bans.sh objects
ban '#include <stdlib.h>
int vxs_f(const char *s) { return atoi(s); }'
sees "atoi" sh tests/gates/bans.sh objects

ban '#include <stdio.h>
void vxs_f(const char *s, int n) { printf("%s %d", s, n); }' -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
sees "a library that prints by a checked call" sh tests/gates/bans.sh objects
mkdir_room() { mkdir -p objects/solver && mv objects/core/planted.o objects/solver; }
ban '#include <stdio.h>
void *vxs_f(const char *s) { return fopen(s, "rb"); }'
mkdir_room; sees "a file that is opened past vxs_file_open" sh tests/gates/bans.sh objects
ban '#include <stdio.h>
int vxs_f(const char *s) { return rename(s, "x"); }'
mkdir_room; sees "a file that is renamed past vxs_output" sh tests/gates/bans.sh objects

vectors() { # attribute, name: a sum of products, compiled for wider vectors
    plant
    mkdir -p objects/core
    printf '__attribute__((%s)) double %s(double a, const double *b) { return a + b[0] * b[1]; }\n' "$1" "$2" |
        gcc -w -O2 -std=c11 ${3-} -x c -c - -o objects/core/f.o
}
if [ "$(uname -m)" = x86_64 ]; then
    plant; clean "vectors" sh tests/gates/vectors.sh "$BUILD/obj/src"
    vectors 'target("avx2")' f_avx2; clean "vectors in their place" sh tests/gates/vectors.sh objects
    vectors 'target("avx2")' f; sees "wider vectors without a choice" sh tests/gates/vectors.sh objects
    vectors 'target("avx2,fma")' f_avx2 -ffp-contract=fast; sees "a fused product" sh tests/gates/vectors.sh objects
fi

rooms() { # two objects, of which core calls cohort
    plant
    mkdir -p objects/core objects/cohort
    echo 'int vxs_g(void); int vxs_f(void) { return vxs_g(); }' | gcc -w -x c -c - -o objects/core/f.o
    echo 'int vxs_g(void) { return 1; }' | gcc -w -x c -c - -o objects/cohort/g.o
}
rooms; clean "rooms" sh tests/gates/rooms.sh objects cohort core
rooms; sees "core calling cohort" sh tests/gates/rooms.sh objects core cohort

plant; clean "format" $make format-check
plant; echo 'int   vxs_x ;' >> src/core/error.c; sees "bad formatting" $make format-check

plant
{
    echo 'int vxs_long(int a);'
    echo 'int vxs_long(int a)'
    echo '{'
    for i in $(seq 70); do echo "    a += $i;"; done
    echo '    return a;'
    echo '}'
} >> src/core/error.c
sees "a function of 70 lines" $make lint OWN_C=src/core/error.c
plant
{
    echo 'int vxs_deep(int a);'
    echo 'int vxs_deep(int a)'
    echo '{'
    for i in 1 2 3 4 5 6 7; do echo "if (a > $i) {"; done
    echo 'a++;'
    for i in 1 2 3 4 5 6 7; do echo '} else { a--; }'; done
    echo 'return a;'
    echo '}'
} >> src/core/error.c
sees "a function too complex to follow" $make lint OWN_C=src/core/error.c
plant; clean "lint" $make lint OWN_C=src/core/error.c

plant; clean "headers" $make headers
plant; sed -i 's/#include "voxsift.core.h"//' include/voxsift/graph.h; sees "a header that needs another" $make headers
plant; echo 'int vxs_f(int new);' >> include/voxsift/solver.h
sees "a header that is not C++" $make headers
plant; yes '/* */' | head -n 400 >> include/voxsift/solver.h; sees "a header that grew too long" $make headers

plant; echo 'int stray;' > src/core/stray.c; gcc -c src/core/stray.c -o stray.o
sees "a symbol without prefix" sh tests/gates/symbols.sh stray.o
plant; sees "an archive that is not there" sh tests/gates/symbols.sh nowhere.a
clean "symbols" sh tests/gates/symbols.sh "$BUILD/library.a"

exports() { sh tests/gates/exports.sh include "$BUILD/libvoxsift.a" "$BUILD/libvoxsift.so"; }
plant; clean "exports" exports
plant; sed -i '/^void vxs_model_release/d' include/voxsift/model.h; sees "a private symbol that is exported" exports
plant; sed -i '/visibility pop/i int vxs_f(int a);' include/voxsift/model.h
sees "a public function that is not exported" exports
plant; sed -i '/visibility pop/i extern const int vxs_numbers[];' include/voxsift/model.h
sees "a public variable that is not exported" exports
plant; sh tests/gates/exports.sh include "$BUILD/library.a" "$BUILD/libvoxsift.so" > /dev/null && echo seen > missed
sees "an archive with its private symbols" test -e missed
plant; sed -i 's|"voxsift/core.h"|"voxsift/internal/core.h"|' include/voxsift/graph.h
sees "a public header that includes an internal one" $make layers

hard='-O2 -w -fstack-protector-strong -fPIE -pie -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack'
program() { # flags that take something back: a program that has all else
    plant
    printf '%s\n' '#include <stdio.h>' '#include <string.h>' 'int main(int n, char **v) { char b[64];' \
        'snprintf(b, sizeof(b), "%s", v[n - 1]); memcpy(b, v[0], strlen(v[0])); return puts(b); }' > planted.c
    gcc $hard "$@" -o planted planted.c
}
plant; clean "hardened" sh tests/gates/hardened.sh "$BUILD/voxsift"
program; clean "hardened" sh tests/gates/hardened.sh planted
program; sees "a static program that needs libraries" sh tests/gates/hardened.sh planted static
program -fno-pie -no-pie; sees "a program at a fixed place" sh tests/gates/hardened.sh planted
program -Wl,-z,norelro; sees "relocations that stay writable" sh tests/gates/hardened.sh planted
program -Wl,-z,lazy; sees "lazy binding" sh tests/gates/hardened.sh planted
program -Wl,-z,execstack; sees "an executable stack" sh tests/gates/hardened.sh planted
program -fno-stack-protector; sees "no stack protector" sh tests/gates/hardened.sh planted
program -U_FORTIFY_SOURCE; sees "no checked calls" sh tests/gates/hardened.sh planted
plant; sees "a program that is not there" sh tests/gates/hardened.sh nowhere

plant; echo 'int vxs_f(int a) { int b; return a; }' >> src/core/error.c; sees "a warning" $make warnings OWN_C=src/core/error.c
plant; clean "warnings" $make warnings OWN_C=src/core/error.c
plant; clean "manual pages" sh tests/gates/manpages.sh "$BUILD/voxsift" docs/man
plant; echo '.\" x' >> docs/man/voxsift.1
sees "a manual page that is out of date" sh tests/gates/manpages.sh "$BUILD/voxsift" docs/man
plant; rm docs/man/voxsift-info.1
sees "a manual page that is missing" sh tests/gates/manpages.sh "$BUILD/voxsift" docs/man

plant; clean "words of help" sh tests/gates/help_words.sh "$BUILD/voxsift"
talking() { # a program whose help has this phrase as well
    printf '#!/bin/sh\n"%s" "$@"\n[ "$1" != methods ] || echo '"'"' "help": "%s",'"'"'\n' "$BUILD/voxsift" "$1" > talking
    chmod +x talking
}
plant; talking "$(seq -s ' ' 26)"; sees "help of 26 words" sh tests/gates/help_words.sh ./talking
plant; talking "a phrase."; sees "help with a full stop" sh tests/gates/help_words.sh ./talking
plant; talking "voxels that tell classes apart"; sees "voxels that tell" sh tests/gates/help_words.sh ./talking
plant; sees "no help at all" sh tests/gates/help_words.sh true

fresh() { # a checkout, with its state written down
    plant
    git init -q . && git add -A && git -c user.name=t -c user.email=t@t commit -qm t
    sh tests/gates/untracked.sh "$work/before"
}
fresh; clean "untracked" sh tests/gates/untracked.sh "$work/after" "$work/before"
fresh; touch left-over
sees "a file left behind" sh tests/gates/untracked.sh "$work/after" "$work/before"
fresh; echo x >> docs/layout.md
sees "a tracked file that was changed" sh tests/gates/untracked.sh "$work/after" "$work/before"

echo "gates: $passed offences seen"
[ "$failed" -eq 0 ]
