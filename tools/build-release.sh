#!/usr/bin/env bash
# What a release is made of, in release/: the npm package, the descriptor set of the API, with all that it imports and with its
# comments, the OpenAPI document and the bill of materials (CycloneDX), each as of this checkout. Publishes nothing, and fails where anything of it would not be published.
set -euo pipefail
cd "$(dirname "$0")/.."

node tools/package-owner.ts

npm run --silent generate
rm -rf release
mkdir release
buf build proto -o release/kibitz.binpb
cp gen/openapi.json release/kibitz.openapi.json
npm run --silent sbom >release/kibitz.cdx.json

# The same sources give the same package, byte by byte: whoever doubts one can make it anew.
npm pack --silent --pack-destination release >/dev/null
again=$(mktemp -d)
trap 'rm -rf "$again"' EXIT
npm pack --silent --pack-destination "$again" >/dev/null
cmp release/kibitz-*.tgz "$again"/kibitz-*.tgz

(cd release && sha256sum kibitz* >SHA256SUMS && sha256sum --quiet -c SHA256SUMS)

# All that npm looks at before it would send the package. Between two releases, it is there already.
if ! told=$(npm publish --dry-run --tag latest ./release/kibitz-*.tgz 2>&1) && ! grep -q 'previously published' <<<"$told"; then
  echo "$told" >&2
  exit 1
fi
echo "npm publish --dry-run: ${told##*$'\n'}"

echo "release/ holds version $(node -p 'require("./package.json").version'):"
ls -l release
