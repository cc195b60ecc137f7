# What the documents tell people to type works, and prints what they say that it prints; options that they
# name exist, and links lead somewhere. documents.py says how blocks are marked; documents.py --update
# rewrites excerpts of output.
documents() { "${PYTHON:-/usr/bin/python3}" "$1/tests/cli/documents.py" "${@:2}"; }
run documents "$top"
while read -r word name; do
    same "$name" "$word $(grep -F "$name" "$work/err" | head -n 3)" "ok "
done < <(grep -E '^(ok|FAIL) ' "$work/out")
same "README and examples were looked at" "$(grep -c README "$work/out")" 2
same "the exit code of all documents" "$code" 0

# The checker finds what is wrong.
mkdir -p tree/tests/cli tree/docs tree/examples
cp "$top/tests/cli/documents.py" tree/tests/cli/
cp -R "$top/docs/man" tree/docs/
page() { printf '%s\n' "$@" > tree/docs/page.md; }
fence='```'
finds() { # WHAT PART: the page is refused with PART
    run documents tree docs/page.md
    same "$1: exit code" "$code" 1
    holds "$1" "$2" "$work/err"
}
page "${fence}sh" "printf 'a 1.23\nb 17 in 0.2 s\n'" "$fence" '<!-- output: all -->' "${fence}text" 'a 1.24' 'b 17 in 9.9 s' "$fence"
works "rounding and seconds differ" documents tree docs/page.md
sed -i 's/^b 17/b 18/' tree/docs/page.md
finds "another whole number" "line 5: 'b 18 in 9.9 s', printed is 'b 17 in 0.2 s'"
run documents tree --update docs/page.md
works "excerpts that were rewritten" documents tree docs/page.md
page "${fence}sh" "echo a" "$fence" '<!-- output: all -->' "${fence}text" 'b' "$fence"
finds "another word" "'b', printed is 'a'"
page "${fence}sh" "echo a" "$fence" '<!-- output: /nowhere/ -->' "${fence}text" "$fence"
finds "an excerpt of nothing" "names no line of the output"
page "${fence}sh" "voxsift info nowhere.nii" "$fence"
finds "a command that fails" "exit 66"
page '<!-- exit: 66 -->' "${fence}sh" "voxsift info nowhere.nii" "$fence"
works "a failure that is stated" documents tree docs/page.md
page '<!-- exit: 65 -->' "${fence}sh" "voxsift info nowhere.nii" "$fence"
finds "another failure than stated" "exit 66, not 65"
page "It takes \`--nosuch\`."
finds "an option that does not exist" "no command has --nosuch"
page "${fence}console" "\$ voxsift info x --target y" "$fence"
finds "an option of another command" "'info' has no --target"
page "See [that](nowhere.md)."
finds "a link to no file" "the link nowhere.md leads nowhere"
page "# Here" "See [that](page.md#there), and [this](#here)."
finds "a link to no heading" "the link page.md#there leads to no heading"
page "$fence" "voxsift" "$fence"
finds "a block without a language" "a block of ''"
rm -rf tree
nothing_left "documents"
