/**
 * Makes the pages and pictures of what was measured: `docs/benchmarks.md` and `docs/capacity.md`, from the JSON in
 * `docs/benchmarks/`. A test holds them against each other.
 *
 *     npm run bench:pages
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { pagesFrom } from "./pages.ts";
import { readResults } from "./results.ts";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));

for (const [path, text] of pagesFrom(readResults(`${docs}benchmarks`))) {
  writeFileSync(docs + path, text);
  console.log(`docs/${path}`);
}
