# Images as nibabel and other tools make them.
run "$PYTHON" "$top/tests/image/nibabel_agrees.py"
same "info agrees with nibabel" "$code$(cat "$work/out" "$work/err")" 0
rm -f ./*

# the hand-made files, where the material for tests stands beside the project
derived=$top/../shared/data/nifti/derived
if [ -d "$derived" ]; then
    run "$PYTHON" "$top/tests/image/expect.py" "$derived"
    same "all of EXPECT.tsv agrees" "$code $(cat "$work/out" "$work/err")" "0 117 files agree"
    for file in $(find "$derived/.." -type f ! -path '*/derived/*'); do
        run voxsift info -q "$file"
        case $code in 0 | 65 | 66) pass ;; *) fail "$file" "exit $code" "$(cat "$work/err")" ;; esac
    done
else
    skip "no hand-made images beside the project; nibabel's alone were tried"
fi
nothing_left "images"
