#!/bin/sh
# What is in a table, for a person and for a script.
set -eu
voxsift info arc/participants.tsv
voxsift info arc/participants.tsv --json > facts.json
# a table as a spreadsheet may leave it: byte order mark, CRLF, semicolons, blanks, n/a
printf '\357\273\277participant_id; age ;sex\r\nsub-01; 61 ;F\r\nsub-02;n/a;M\r\n\r\n' > messy.csv
voxsift info messy.csv
