import { brotliDecompressSync } from "node:zlib";
import { compressionGzip } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { compressionBrotli } from "../../../src/protocols/connect/repairs.ts";

const text = JSON.stringify(Array.from({ length: 2000 }, (_, index) => ({ index, word: Math.sin(index) })));
const bytes = new Uint8Array(Buffer.from(text));

/** The shortest of some runs: what other work on the machine adds is not of interest. */
async function msOf(task: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5; run++) {
    const begun = performance.now();
    await task();
    best = Math.min(best, performance.now() - begun);
  }
  return best;
}

test("an answer in brotli costs no more than a few in gzip, and can be read", async () => {
  const gzipMs = await msOf(() => compressionGzip.compress(bytes));
  expect(await msOf(() => compressionBrotli.compress(bytes))).toBeLessThan(4 * gzipMs);
  const packed = await compressionBrotli.compress(bytes);
  expect(brotliDecompressSync(packed).toString()).toBe(text);
  expect(Buffer.from(await compressionBrotli.decompress(packed, bytes.length)).toString()).toBe(text);
});
