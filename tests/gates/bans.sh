#!/bin/sh
# Calls that have a place of their own or none at all. Argument: the top of the tree.
set -u
cd "$1" || exit 1
bad=0

banned() { # why, pattern of names, files
    why=$1 names=$2
    shift 2
    # comments and strings are not calls
    for file in "$@"; do
        sed -e 's|//.*||' -e 's|"[^"]*"||g' -e 's|^ *[/ ]\*.*||' "$file" |
            grep -nE "(^|[^A-Za-z0-9_>.])($names) *\(" | sed "s|^|$file:|; s|\$|   <- $why|" | grep . && bad=1
    done
}

others=$(ls src/*/*.c | grep -v '^src/core/alloc.c$')
library=$(ls src/*/*.c | grep -v '^src/cli/')
banned "memory comes from vxs_alloc, vxs_resize, vxs_format" 'malloc|calloc|realloc|strdup|strndup|asprintf|alloca' $others
banned "the library neither prints nor exits" 'printf|puts|putchar|perror|exit|_exit|abort|assert' $library
banned "use vxs_parse_whole, vxs_parse_real, snprintf, vxs_random" \
    'atoi|atol|atof|strcpy|strcat|sprintf|vsprintf|gets|strtok|rand|srand|random|drand48|system|popen' src/*/*.c
exit $bad
