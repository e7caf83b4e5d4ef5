#!/usr/bin/env bash
# Whether what is installed carries the signatures and attestations of its registry. Fails where one is missing or
# wrong; a machine that cannot fetch the keys to check them with (sigstore's) says so, and is held by the digests in
# package-lock.json alone.
set -uo pipefail
cd "$(dirname "$0")/.."

if told=$(npm audit signatures 2>&1); then
  echo "$told"
elif grep -qE 'code (ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN)' <<<"$told"; then
  echo "signatures not checked: the keys cannot be fetched from here"
else
  echo "$told" >&2
  exit 1
fi
