#!/bin/sh
# No room calls a room to its right, whatever its headers say: by what objects define and ask for.
# Arguments: the folder with the objects of src, the rooms from left to right.
set -u
cd "$1" || exit 1
shift
find . -name '*.o' -exec nm -A {} + | awk '{
    object = $1; sub(/:.*/, "", object); room = substr(object, 3); sub(/\/.*/, "", room)
    kind = $(NF - 1); sub(/.*:/, "", kind)
    if (kind ~ /^[TDRBC]$/) print "has", $NF, room, object
    if (kind == "U") print "uses", $NF, room, object }' | awk -v rooms="$*" '
    BEGIN { count = split(rooms, name, " "); for (k = 1; k <= count; k++) rank[name[k]] = k }
    $1 == "has" && $2 ~ /^vxs_/ { home[$2] = $3 }
    $1 == "uses" { user[++uses] = $2 " " $3 " " $4 }
    END {
        bad = uses == 0
        for (k = 1; k <= uses; k++) {
            split(user[k], word, " ")
            if (word[1] in home && rank[home[word[1]]] > rank[word[2]]) {
                print word[3] ": room " word[2] " calls " word[1] " of room " home[word[1]]
                bad = 1
            }
        }
        exit bad
    }'
