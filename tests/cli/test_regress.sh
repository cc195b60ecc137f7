# Confounds that are taken out of features, against numpy.
run "$PYTHON" "$top/tests/model/regress_agrees.py"
same "regressed features agree with numpy" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
nothing_left "regress"
