#!/bin/sh
# Retired words (spec: one word of the field for one thing) and British spellings in sources, headers,
# documents and help. Arguments: the tree, the program whose help is read (may be absent).
set -u
cd "$1" || exit 1
program=${2:-}

# Rooms and headers whose vocabulary is done; add a room here once it passes.
ROOMS='model evaluate report solver verify linalg loss penalty graph design image core cohort simulate cli'
HEADERS='model solver verify internal/model internal/solver internal/evaluate internal/compare internal/report core cohort design graph image loss penalty internal/cohort internal/core internal/design internal/files
    internal/graph internal/image internal/loss internal/machine internal/penalty internal/simulate internal/text'
# Documents whose vocabulary is done.
DOCS='docs/glossary.md'

# word (extended regular expression, whole words) <TAB> instead, and why
retired="anew	again, refit, or recompute
whoever	name the caller, reader or user
nobody	no process, no user
somebody	another process, another user
likewise	repeat the noun
(kept|keep|keeps) back	held out, test
learned anew	refit
wants?	expects, requires; objects want nothing
wanted	required, requested, target
wishes	violation, correlation
tells	shows, returns
asks	requests, requires
speaks?	the subject is a person
hub	scan batcher
scan_hub	scan batcher
units_of_groups	blocks_of_groups
vxs_(units|hub|map|terms|talk)	vxs_blocks, vxs_scan_batcher, vxs_feature_map, vxs_analysis, vxs_console
vxs_(units|hub|talk)_[a-z_]+	vxs_blocks, vxs_scan_batcher, vxs_console
free_count	covariate count q
settled?	refresh, recompute
take_room	allocate
make_room	allocate
go_on	extrapolate, continue
hangs? (apart|together)	connected component
hung together	connected component
stands? alone	is unpaired, is isolated
lies? beside	name the relation"
british='[a-z]*(centre[ds]?|neighbour(s|ing|hood|hoods)?|colour(s|ed|ing)?|behaviour|millimetres?|micrometres?|grey|labelled|modelling|artefacts?|per cent)
[a-z]*(standard|normal|minim|maxim|optim|penal|summar|recogn|organ|general|regular|random|parametr|serial|linear|initial)is(e|ed|es|er|ing|ation)'
# Allowed all the same: what others named, and citations.
allowed='BLAS|vxs_never|"centre"|"randomise"'

files=''
for room in $ROOMS; do
    [ -d "src/$room" ] || { echo "no room src/$room; is the list of tests/gates/words.sh out of date?"; exit 1; }
    files="$files $(find "src/$room" -name '*.[ch]' | sort)"
done
for header in $HEADERS; do files="$files include/voxsift/$header.h"; done
for page in $DOCS; do [ -f "$page" ] && files="$files $page"; done
spelled="$(find src include -name '*.[ch]' | sort) $files"
bad=0

report() { # lines, what to say instead
    [ -z "$1" ] && return
    printf '%s\n' "$1" | sed "s|\$| <- $2|"
    bad=1
}

tab=$(printf '\t')
printf '%s\n' "$retired" > "${TMPDIR:-/tmp}/words.$$"
while IFS="$tab" read -r word instead; do
    report "$(grep -nwiE -- "$word" $files /dev/null | grep -vE "$allowed")" "$instead"
done < "${TMPDIR:-/tmp}/words.$$"
rm -f "${TMPDIR:-/tmp}/words.$$"
for pattern in $(printf '%s\n' "$british" | tr ' ' '~'); do
    pattern=$(printf '%s' "$pattern" | tr '~' ' ')
    report "$(grep -nwiE -- "$pattern" $spelled /dev/null | grep -vE "$allowed")" 'American spelling'
    [ -n "$program" ] && report "$("$program" --help | grep -nwiE -- "$pattern")" 'American spelling, in help'
done
exit $bad
