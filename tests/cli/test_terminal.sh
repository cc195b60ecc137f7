# Numbers are rounded on a terminal, and nowhere else.
quiet() { voxsift "$@" -q > /dev/null 2>&1; }
quiet cohort "$top/examples/arc/participants.tsv" --image-column lesion --only wab_type=Broca,Anomic --mask-fraction 0.05 -o c
quiet fit c --target wab_type -o classes
quiet fit c --target wab_aq -o scores
run "$PYTHON" "$top/tests/cli/terminal_agree.py" c classes scores
same "tables on a terminal" "$code$(cat "$work/out")$(cat "$work/err")" 0
