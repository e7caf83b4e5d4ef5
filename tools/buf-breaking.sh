#!/usr/bin/env bash
# Compares the proto with that of the last release, or of main where there is none: nothing that a client
# generated from it relies on may change. Before the first release, what is changed on purpose is written
# down in intended-breaks.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

release=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || true)
base=${release:-$(git rev-parse --verify --quiet origin/main ||
  git rev-parse --verify --quiet main ||
  git rev-parse HEAD)}
# On main itself, before the first release: with what was there before the last commit.
if [ "$(git rev-parse "$base^{commit}")" = "$(git rev-parse HEAD)" ]; then
  base=$(git rev-parse --verify --quiet HEAD^ || git rev-parse HEAD)
fi
intended=$(grep -v -e '^#' -e '^$' tools/intended-breaks.txt || true)
if [ -n "$release" ] && [ -n "$intended" ]; then
  echo "tools/intended-breaks.txt is for the time before the first release: $release is out, so empty it" >&2
  exit 1
fi

echo "comparing the proto with $base"
status=0
complaints=$(buf breaking --against "$(git rev-parse --path-format=absolute --git-common-dir)#ref=$base") || status=$?
# 100: it has complaints. Anything else is a failure of its own.
if [ "$status" -ne 100 ]; then
  printf '%s' "$complaints"
  exit "$status"
fi
status=0
while IFS= read -r complaint; do
  # Without the place: lines move.
  if grep --quiet --line-regexp --fixed-strings -e "$(sed -E 's/^[^:]*:[0-9]+:[0-9]+://' <<<"$complaint")" <<<"$intended"; then
    echo "intended: $complaint"
  else
    echo "$complaint"
    status=100
  fi
done <<<"$complaints"
exit "$status"
