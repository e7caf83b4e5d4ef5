#!/usr/bin/env bash
# Writes the files of a release to release/: the npm package, the descriptor set of the API with its imports and comments, the OpenAPI
# document and the bill of materials (CycloneDX), all of this checkout. Publishes nothing. Fails if the
# package's name belongs to another project, or if `npm publish --dry-run` rejects the package. The dry run
# checks the files and the version of the package, but not who may publish it.
set -euo pipefail
cd "$(dirname "$0")/.."

node tools/package-owner.ts

npm run --silent generate
rm -rf release
mkdir release
buf build proto -o release/kibitz.binpb
cp gen/openapi.json release/kibitz.openapi.json
npm run --silent sbom >release/kibitz.cdx.json

# Pack only once, because tests that install the package take this file. test/slow/release/package.nightly.test.ts packs again and compares.
npm pack --silent --pack-destination release >/dev/null

(cd release && sha256sum kibitz* >SHA256SUMS && sha256sum --quiet -c SHA256SUMS)

# Between two releases, this version is published already.
if ! output=$(npm publish --dry-run ./release/kibitz-*.tgz 2>&1) && ! grep -q 'previously published' <<<"$output"; then
  echo "$output" >&2
  exit 1
fi
echo "npm publish --dry-run: ${output##*$'\n'}"

echo "release/ holds version $(node -p 'require("./package.json").version'):"
ls -l release
