#!/bin/sh
# Every link of the documents in FOLDER to a file beside them leads to one; to sources, which are not installed, where
# the documents are about the sources themselves. links.sh FOLDER
set -eu
cd "$1"
bad=0
for page in *.md docs/*.md examples/*.md; do
    for link in $(sed -n 's/[^]]*\](\([^)#: ]*\)[)#]/\n\1\n/gp' "$page" | grep -E '^[A-Za-z0-9._/-]+$'); do
        [ -e "$(dirname "$page")/$link" ] || { echo "$page: no '$link'"; bad=1; }
    done
done
exit $bad
