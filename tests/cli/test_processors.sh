# Other types of processor round differently: what is selected is the same, and certificates hold.
run "$PYTHON" "$top/tests/evaluate/processors_agree.py"
if [ "$code" -eq 77 ]; then
    skip "processors: $(cat "$work/out")"
else
    same "kernels of several processors agree" "$code$(cat "$work/out" "$work/err")" 0
fi
run voxsift version
holds "version names the type" "processor " "$work/out"
rm -rf ./*
nothing_left "processors"
