#!/usr/bin/env bash
# Writes the files of a release to release/, without publishing them:
# - the npm package
# - the descriptor set of the API, with imports and comments
# - the OpenAPI document
# - the bill of materials (CycloneDX)
# Fails if the name of the package belongs to another project on npm, or if `npm publish --dry-run` rejects the package. The dry run
# does not check whether you have the right to publish.
set -euo pipefail
cd "$(dirname "$0")/.."

node tools/package-owner.ts

npm run --silent generate
rm -rf release
mkdir release
buf build proto -o release/kibitz.binpb
cp gen/openapi.json release/kibitz.openapi.json
npm sbom --omit dev --sbom-format cyclonedx >release/kibitz.cdx.json

# Create the package only once, because the tests install exactly this file. A nightly test creates it again and compares the bytes.
npm pack --silent --pack-destination release >/dev/null

(cd release && sha256sum kibitz* >SHA256SUMS && sha256sum --quiet -c SHA256SUMS)

# Ignore the error "this version is already published", which is normal between two releases.
if ! output=$(npm publish --dry-run ./release/kibitz-*.tgz 2>&1) && ! grep -q 'previously published' <<<"$output"; then
  echo "$output" >&2
  exit 1
fi
echo "npm publish --dry-run: ${output##*$'\n'}"

echo "release/ holds version $(node -p 'require("./package.json").version'):"
ls -l release
