# All classes at once against numpy; then its mistakes.
run "$PYTHON" "$top/tests/model/multinomial_agrees.py"
same "the multinomial loss agrees with numpy" "$code$(cat "$work/out" "$work/err")" 0

# what multinomial_agrees.py made: the cohort c
refuses 2 "method 'lasso' fits each class against the rest; '--loss multinomial' goes with '--method fused'" \
    voxsift fit c --target dx --loss multinomial -o x
refuses 2 "method 'skfs' fits each class against the rest" voxsift fit c --target dx --method skfs --loss multinomial -o x
refuses 2 "'--solver saif' has neither all classes at once" \
    voxsift fit c --target dx --method fused --graph chain --solver saif --loss multinomial -o x
refuses 65 "as classes at most 64 are taken" voxsift fit c --target age --method fused --loss multinomial -o x
[ -e x ] && fail "a refused fit left its output" || pass
rm -rf ./*
nothing_left "multinomial"

# two classes are one output, whatever --loss says
run voxsift simulate lasso --subjects 60 --features 30 --target diagnosis -q -o two
run voxsift fit two --target diagnosis --method fused --graph chain --loss multinomial -q -o two-model
same "multinomial loss of two classes is logistic loss" "$code" 0
run voxsift check-model two-model two
same "and certified" "$code" 0
