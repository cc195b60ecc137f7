#!/bin/sh
# Calls that have a place of their own or none at all, seen by what the objects ask the linker for, so
# that no spelling hides them. Argument: the folder with the objects of src.
set -u
bad=0

banned() { # why, pattern of names, objects
    why=$1 names=$2
    shift 2
    asks=$(nm -A -u "$@") || { echo "an object cannot be read"; bad=1; }
    # __printf_chk and __open_2 are printf and open, as -D_FORTIFY_SOURCE has them
    found=$(printf '%s\n' "$asks" | sed -E 's/: *U __(.*)_(chk|2)$/: U \1/' |
        awk -v names="^($names)$" -v why="$why" '$NF ~ names {
            sub(/:$/, "", $1); calls[$1] = calls[$1] $NF " " }
            END { for (object in calls) print object " calls " calls[object] "<- " why }')
    [ -z "$found" ] || { echo "$found"; bad=1; }
}

library=$(find "$1" -name '*.o' ! -path '*/cli/*')
all=$(find "$1" -name '*.o')
others=$(find "$1" -name '*.o' ! -path '*/core/alloc.o')
rooms=$(find "$1" -name '*.o' ! -path '*/cli/*' ! -path '*/core/*')
[ -n "$library" ] || { echo "no objects in $1"; exit 1; }
banned "memory comes from vxs_alloc, vxs_resize, vxs_format" \
    'malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|memalign|strdup|strndup|v?asprintf|getline' $others
banned "the library neither prints nor exits" \
    'stdout|stderr|printf|vprintf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|abort|__assert_fail' $library
banned "use vxs_parse_whole, vxs_parse_real, snprintf, vxs_random" \
    'atoi|atol|atoll|atof|strcpy|strcat|sprintf|vsprintf|gets|strtok|rand|srand|random|drand48|system|popen' $all
banned "files are read by vxs_file_open, which notes them, and written by vxs_output and vxs_page" \
    '(f|fre)open(64)?|open(at)?(64)?|creat(64)?|rename(at|at2)?|truncate(64)?' $rooms
exit $bad
