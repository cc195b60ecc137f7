# What the documents tell people to type works, and prints what they say that it prints; options that they
# name exist, and links lead somewhere. documents.py says how blocks are marked; documents.py --update
# rewrites excerpts of output.
documents() { "${PYTHON:-/usr/bin/python3}" "$top/tests/cli/documents.py" "$@"; }
run documents
while read -r word name; do
    same "$name" "$word $(grep -F "$name" "$work/err" | head -n 3)" "ok "
done < <(grep -E '^(ok|FAIL) ' "$work/out")
same "documents were checked" "$(grep -c README "$work/out")" 2
same "the exit code of all documents" "$code" 0
nothing_left "documents"
