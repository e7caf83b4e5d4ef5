#!/usr/bin/env bash
# Renews all generated files of the repository: `npm run update`. Review the changes before you commit them.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "${CI:-}" ]; then
  echo "npm run update writes what CI compares: run it where you edit, not in CI" >&2
  exit 1
fi

# Generates gen/, docs/metrics.md, docs/errors.md, the dashboard and the copy of haproxy.cfg in the Helm chart.
npm run --silent generate
# Updates the summary texts that test/chess/score.test.ts expects.
npx vitest run --project unit --update --reporter=dot test/chess/score.test.ts
# Updates the answers in README.md, docs/ and docs/examples. The OpenAPI document contains these answers, so generate it again.
node tools/write-shown-answers.ts
npm run --silent generate
node tools/settings-page.ts
node tools/version-server-json.ts
node tools/manual.ts
node tools/screenshots.ts --docs
git status --short
