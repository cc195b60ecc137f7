# The columns of tables that commands write are those that the documents name.
run "$PYTHON" "$top/tests/cli/columns_agree.py"
same "columns agree with the documents" "$code$(cat "$work/out")" 0
