#!/usr/bin/env bash
# The checks of `npm run check` that run no tests: format, lint, types, proto rules, breaking changes, generated code, licences.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/node_modules/.bin:$PATH

biome format .
biome lint --error-on-warnings .
tsc
tsc -p web
buf lint
buf format proto --diff --exit-code
tools/buf-breaking.sh
npm run generate
git diff --exit-code -- gen
new=$(git status --porcelain -- gen)
[ -z "$new" ] || { echo "not committed: $new" >&2; exit 1; }
REDOCLY_SUPPRESS_UPDATE_NOTICE=true redocly lint gen/openapi.json
npm run --silent licences
