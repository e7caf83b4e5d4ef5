#!/usr/bin/env bash
# Compares the proto files with the recorded contract in tools/contract-base.binpb. Fails if a change would break generated clients.
# Before the first release, tools/intended-breaks.txt lists the breaking changes that are intended.
#
#     tools/buf-breaking.sh            compares the proto files with the contract
#     tools/buf-breaking.sh --record   compares, records the proto files as the new contract, and empties intended-breaks.txt
#
# `npm version` runs the script with --record.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/node_modules/.bin:$PATH
base=tools/contract-base.binpb
list=tools/intended-breaks.txt

intended=$(grep -v -e '^#' -e '^$' "$list" || true)
release=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)
if [ -n "$release" ] && [ -n "$intended" ]; then
  echo "$list is for the time before the first release: $release is out, so empty it" >&2
  exit 1
fi

status=0
complaints=$(buf breaking proto --against "$base") || status=$?
# Exit code 100 means that buf found breaking changes. Any other code means that buf itself failed.
if [ "$status" -ne 0 ] && [ "$status" -ne 100 ]; then
  printf '%s' "$complaints"
  exit "$status"
fi
if [ "$status" -eq 100 ] && [ -z "$complaints" ]; then
  echo "buf breaking failed without a complaint" >&2
  exit 100
fi
status=0
while IFS= read -r complaint; do
  # Compare the messages of buf without line numbers, because line numbers change often.
  if [ -z "$complaint" ]; then
    continue
  elif grep --quiet --line-regexp --fixed-strings -e "$(sed -E 's/^[^:]*:[0-9]+:[0-9]+://' <<<"$complaint")" <<<"$intended"; then
    echo "intended: $complaint"
  else
    echo "$complaint"
    status=100
  fi
done <<<"$complaints"

if [ "${1:-}" = --record ] && [ "$status" -eq 0 ]; then
  buf build proto --exclude-source-info -o "$base"
  sed -i -e '/^# [0-9]/d' -e '/^[^#]/d' -e '/^$/d' "$list"
  echo "recorded: $base"
fi
exit "$status"
