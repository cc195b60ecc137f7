# make same: a program is the same as itself, and a changed digit, key, file or number on the terminal is seen.
other=$PWD/other

# The program as it is, but for what $1 does to its output OUT and the files it has written.
other_is() {
    printf '#!/bin/sh\n"%s/voxsift" "$@" > OUT; code=$?\n%s\ncat OUT; rm OUT\nexit $code\n' "$BUILD" "$1" > "$other"
    chmod +x "$other"
}
compare() { run env -C "$top" "$@" "$PYTHON" tests/same/same.py "$BUILD/voxsift" "$other" "$PWD/same" '^lasso-(json|dpp)$'; }

other_is ''
compare
same "a program is the same as itself" "$code$(cat "$work/out")" "0same: 5 commands, 40 outputs compared, 0 differ, 0 as they are meant to"
first=$(git -C "$top" log --format=%H -1 2> /dev/null)

other_is "[ ! -f lasso-dpp/weights.tsv ] || sed -i '2s/1/2/' lasso-dpp/weights.tsv"
compare SAME_BITS=1
same "a digit of a table" "$code" 1
holds "a digit of a table" "DIFFERENT lasso-dpp/weights.tsv: line 2" "$work/out"

other_is "[ ! -f lasso-dpp/model.json ] || sed -i 's/\"lambda_max\"/\"largest\"/' lasso-dpp/model.json"
compare SAME_BITS=1
same "a key" "$code" 1
holds "a key" "DIFFERENT lasso-dpp/model.json: line" "$work/out"

other_is "rm -f lasso-dpp/weights.tsv"
compare SAME_BITS=1
same "a file" "$code" 1
holds "a file" "DIFFERENT lasso-dpp/weights.tsv: only there before" "$work/out"

# Of what is said in other words since, the numbers are compared.
other_is "sed -i 's/nonzero weight/weight that is not zero/' OUT"
compare
same "other words" "$code" 0
if [ -n "$first" ]; then
    compare SAME_BASE="$first"
    same "other words where BASE has the words of now" "$code" 1
else
    skip "same: no revisions here"
fi
other_is "sed -i 's/ 9 of 400/ 19 of 400/' OUT"
compare
same "another number" "$code" 1
holds "another number" "DIFFERENT lasso-dpp.out: in other words, without the numbers 9" "$work/out"
rm -rf ./*
nothing_left "same"
