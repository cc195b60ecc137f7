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
