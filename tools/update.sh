#!/usr/bin/env bash
# Renews all generated files of the repository: `npm run update`. Look at the difference before you commit it.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "${CI:-}" ]; then
  echo "npm run update writes what CI compares: run it where you edit, not in CI" >&2
  exit 1
fi

# gen/, docs/metrics.md, the dashboard and the chart's copy of haproxy.cfg.
npm run --silent generate
# The snapshots of summary texts in a test.
npx vitest run --project unit --update --reporter=dot test/chess/score.test.ts
# Answers in README.md, docs/ and docs/examples, and then the OpenAPI document, which has the examples.
node tools/write-shown-answers.ts
npm run --silent generate
node tools/settings-page.ts
node tools/version-server-json.ts
node tools/manual.ts
# /llms.txt is not a file: the service creates it from gen/openapi.json for each request.

node tools/screenshots.ts --docs
git status --short
