#!/bin/sh
# Every public and internal header compiles alone, as C11 and C++17, with both compilers. Argument: the folder.
set -u
bad=0
flags="-Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -I$1"
for header in "$1"/voxsift.h "$1"/voxsift/*.h "$1"/voxsift/internal/*.h; do
    name=${header#"$1"/}
    for compiler in "gcc -std=c11 -x c" "clang -std=c11 -x c" "g++ -std=c++17 -x c++" \
        "clang++ -std=c++17 -x c++"; do
        # twice, so that a missing guard shows
        printf '#include "%s"\n#include "%s"\nint main(void) { return 0; }\n' "$name" "$name" |
            $compiler $flags - || { echo "$name does not compile alone with $compiler"; bad=1; }
    done
    lines=$(wc -l < "$header")
    [ "$lines" -le 400 ] || { echo "$header has $lines lines, 400 are allowed"; bad=1; }
done
exit $bad
