#!/bin/sh
# What each room may include: the table of docs/layout.md. Argument: the top of the tree.
set -u
cd "$1" || exit 1

allowed() { # room
    case $1 in
        core) echo core ;;
        linalg) echo core linalg ;;
        image) echo core image ;;
        cohort) echo core image cohort ;;
        simulate) echo core image cohort simulate ;;
        graph) echo core linalg graph ;;
        design) echo core linalg graph design ;;
        loss) echo core loss ;;
        penalty) echo core linalg graph design penalty ;;
        solver) echo core linalg graph design loss penalty solver ;;
        verify) echo core linalg graph design loss penalty solver verify ;;
        model) echo core linalg cohort design loss penalty solver verify model ;;
        evaluate) echo core cohort design loss penalty solver model evaluate ;;
        report) echo core image cohort design loss penalty solver model report ;;
        *) echo "" ;;
    esac
}

# room of a public header: its name, but for those of core and evaluate
room_of() { # name.h
    case $1 in
        files.h | machine.h | text.h) echo core ;;
        compare.h) echo evaluate ;;
        *) echo "${1%.h}" ;;
    esac
}

# room of an include: "core/file.h" and "voxsift/core.h" both belong to core
check() { # file, room, include
    case $3 in
        voxsift/*.h) target=$(room_of "${3##*/}") ;;
        */*) target=${3%%/*} ;;
        *) target=$3 ;;
    esac
    if [ "$2" = cli ]; then
        case $3 in voxsift.h | voxsift/*.h | cli/*.h | build_facts.h) return 0 ;; esac
    elif [ "$2" = all ]; then # voxsift/internal/all.h
        case $3 in voxsift/*.h) return 0 ;; esac
    else
        for may in $(allowed "$2"); do
            [ "$target" = "$may" ] && return 0
        done
    fi
    echo "$1: room '$2' may not include \"$3\""
    return 1
}

bad=0
twice=$(find src -name "*.[ch]" | sed 's|.*/||' | sort | uniq -d)
[ -z "$twice" ] || { echo "names that two files of src have:" $twice; bad=1; }
for file in $(find src include/voxsift -name "*.[ch]"); do
    [ -f "$file" ] || continue
    case $file in
        include/voxsift/internal/*) room=$(room_of "${file##*/}") ;;
        include/*)
            room=$(room_of "${file##*/}")
            grep -l '#include "voxsift/internal/' "$file" | sed 's/$/: it is installed, internal headers are not/' |
                grep . && bad=1
            ;;
        *) room=${file#src/} room=${room%%/*} ;;
    esac
    lines=$(wc -l < "$file")
    [ "$lines" -le 600 ] || { echo "$file has $lines lines, 600 are allowed"; bad=1; }
    if [ "$room" != cli ] && [ "$room" != all ] && [ -z "$(allowed "$room")" ]; then
        echo "$file: there is no room '$room'"
        bad=1
    fi
    # with quotes, or with angles where the name is one of ours
    for include in $(sed -n -e 's/^ *# *include *"\([^"]*\)".*/\1/p' \
        -e 's/^ *# *include *<\(voxsift[^>]*\)>.*/\1/p' "$file"); do
        check "$file" "$room" "$include" || bad=1
    done
done
exit $bad
