# Several kernels at once, against numpy.
run "$PYTHON" "$top/tests/model/mkl_agrees.py"
same "kernels of groups agree with numpy" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
nothing_left "mkl"
