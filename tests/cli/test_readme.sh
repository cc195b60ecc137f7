# What the README and docs tell people to type works: the lines of their ```sh blocks are run in a
# copy of the examples, top to bottom. Blocks that build or install are other tests' business.
for page in README.md examples/README.md docs/selection.md; do
    mkdir copy && cp -R "$top/examples" copy/ && cd copy || return
    sed -n '/^```sh$/,/^```$/p' "$top/$page" | grep -v '^```' | grep -vE '^(make|sudo|git|apt) ?' > lines
    run bash -eux lines
    same "$page: $(grep '^+' "$work/err" | tail -n 1)" "$code" 0
    same "$page has lines to run" "$([ -s lines ] && echo yes)" yes
    cd .. && rm -rf copy
done
nothing_left "readme"
