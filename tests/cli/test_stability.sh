# Stability against numpy; then its mistakes.
run "$PYTHON" "$top/tests/evaluate/stability_agrees.py"
same "stability agrees with numpy" "$code$(cat "$work/out" "$work/err")" 0

st() { refuses "$1" "$2" voxsift stability c --target score -o x -q "${@:3}"; }
st 2 "lambda means something else in every half" --lambda 1
st 2 "'--lambda-ratio' must lie between 0 and 1 here" --lambda-ratio 2
st 2 "method 'fused' gives nearly all features a weight" --method fused --graph chain
st 2 "between 0.55 and 1, not '0.5'" --threshold 0.5
st 65 "has no column 'pairs'; did you mean 'pair'?" --group pairs
refuses 66 "no cohort 'nowhere': make one with 'voxsift cohort'" voxsift stability nowhere --target score -o x
[ -e x ] && fail "a refused run left its output" || pass
run voxsift stability c --target dx --pairs 3 --nlambda 5 -o x -q
same "in words" "$code" 0
holds "stable" "(selection frequency of at least 0.75)" "$work/out"
refuses 73 "it exists" voxsift stability c --target dx --pairs 3 --nlambda 5 -o x -q
rm -rf ./*
nothing_left "stability"

# The first iteration of fgm and mslr selects no more features than a half may.
run voxsift simulate lasso --target diagnosis --subjects 100 --features 60 --nonzero 0.02 --seed 3 -q -o few
for method in fgm mslr; do
    run voxsift stability few --target diagnosis --method $method --pairs 10 -q -o halves --force
    same "stability by $method" "$code" 0
    holds "the step of $method" "--per-iteration is" "$work/err"
    same "halves by $method are not empty" "$("$PYTHON" -c "
import json
print(json.load(open('halves/stability.json'))['mean_selected'] > 0)")" True
done
rm -rf few halves

# One is one: nouns and verbs behind counts.
works "one weight" voxsift simulate lasso --subjects 200 --features 30 --nonzero 0.03 --noise 0.3 --seed 2 -q -o single
works "its halves" voxsift stability single --target score --select-features 2 --pairs 2 -q -o alone
holds "one stable feature" "  1 stable feature (" "$work/out"
works "its fit" voxsift fit single --target score --lambda-ratio 0.9 -q -o fitted
holds "one has" "  1 of 30 features has a nonzero weight" "$work/out"
works "and info" voxsift info fitted
holds "says so" "1 of 30 features has a nonzero weight" "$work/out"
rm -rf single alone fitted
