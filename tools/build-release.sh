#!/usr/bin/env bash
# Writes the files of a release to release/, without publishing them:
# - the npm package
# - the descriptor set of the API, with imports and comments
# - the OpenAPI document
# - the bill of materials (CycloneDX)
# Fails if the name of the package belongs to another project, or if `npm publish --dry-run` rejects the package. The dry run does not
# check the right to publish.
set -euo pipefail
cd "$(dirname "$0")/.."

node tools/package-owner.ts

npm run --silent generate
rm -rf release
mkdir release
buf build proto -o release/kibitz.binpb
cp gen/openapi.json release/kibitz.openapi.json
npm run --silent sbom >release/kibitz.cdx.json

# Pack only once, because tests install this file. test/slow/release/package.nightly.test.ts packs again and compares the files.
npm pack --silent --pack-destination release >/dev/null

(cd release && sha256sum kibitz* >SHA256SUMS && sha256sum --quiet -c SHA256SUMS)

# Ignore that this version is already published, which is usual between two releases.
if ! output=$(npm publish --dry-run ./release/kibitz-*.tgz 2>&1) && ! grep -q 'previously published' <<<"$output"; then
  echo "$output" >&2
  exit 1
fi
echo "npm publish --dry-run: ${output##*$'\n'}"

echo "release/ holds version $(node -p 'require("./package.json").version'):"
ls -l release
