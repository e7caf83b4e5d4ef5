#!/usr/bin/env bash
# What a release carries for clients beside the npm package, in release/: the descriptor set of the API, with all that
# it imports and with its comments, the OpenAPI document, and the bill of materials (CycloneDX), each as of this checkout.
set -euo pipefail
cd "$(dirname "$0")/.."

npm run --silent generate
rm -rf release
mkdir release
buf build proto -o release/kibitz.binpb
cp gen/openapi.json release/kibitz.openapi.json
npm run --silent sbom >release/kibitz.cdx.json
(cd release && sha256sum kibitz.* >SHA256SUMS)
echo "release/ holds version $(node -p 'require("./package.json").version'):"
ls -l release
