#!/usr/bin/env bash
# Renews everything in the repository that is made from something else: `npm run update`. Look at the difference before you commit it.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "${CI:-}" ]; then
  echo "npm run update writes what CI compares: run it where you edit, not in CI" >&2
  exit 1
fi

# gen/, docs/metrics.md, the dashboard and the chart's copy of haproxy.cfg.
npm run --silent generate
# Sentences of summaries, which a test keeps as a snapshot.
npx vitest run --project unit --update --reporter=dot test/chess/score.test.ts
# Answers in README.md, docs/ and docs/examples, and then the OpenAPI document, which has the examples.
node tools/write-shown-answers.ts
npm run --silent generate
node tools/settings-page.ts
node tools/version-server-json.ts
node tools/manual.ts
# Nothing else is kept: a service makes /llms.txt from gen/openapi.json when it is asked.

node tools/screenshots.ts --docs
git status --short
