#!/usr/bin/env bash
# Compares the proto with that of the last release, or of main where there is none: nothing that a client
# generated from it relies on may change.
set -euo pipefail
cd "$(dirname "$0")/.."

base=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null ||
  git rev-parse --verify --quiet origin/main ||
  git rev-parse --verify --quiet main ||
  git rev-parse HEAD)
# On main itself, before the first release: with what was there before the last commit.
if [ "$(git rev-parse "$base^{commit}")" = "$(git rev-parse HEAD)" ]; then
  base=$(git rev-parse --verify --quiet HEAD^ || git rev-parse HEAD)
fi
echo "comparing the proto with $base"
exec buf breaking --against "$(git rev-parse --path-format=absolute --git-common-dir)#ref=$base"
