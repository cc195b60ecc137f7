# The columns of tables that commands write are those that the documents name.
run "$PYTHON" "$top/tests/cli/columns_agree.py"
same "columns agree with the documents" "$code$(cat "$work/out")" 0

# Missing cells are counted by subjects and features, and the first three are named; refused subjects have none replaced.
printf 'participant_id\ta\tb\tc\ns1\t1\tn/a\t3\ns2\t2\t5\t1\ns3\t\tn/a\t2\ns4\t5\t2\tn/a\ns5\t4\t1\t6\n' > gaps.tsv
run voxsift cohort --feature-table gaps.tsv --nan zero -o gaps
same "missing cells" "$code" 0
holds "are counted and named" "0 replaces 4 values that are missing or beyond float32, in 3 subjects and 3 features: 's3/a', 's1/b', 's3/b', ..." "$work/err"
run voxsift cohort --feature-table gaps.tsv --nan error -o none
same "with --nan error they are refused" "$code" 65
if grep -q "0 replaces" "$work/err"; then fail "and nothing is replaced" "$(cat "$work/err")"; else pass; fi
run voxsift cohort --feature-table gaps.tsv --nan error --drop-bad -o few
same "or left out with their subjects" "$code" 0
if grep -q "0 replaces" "$work/err"; then fail "and nothing is replaced in others" "$(cat "$work/err")"; else pass; fi
rm -rf gaps gaps.tsv few
