import { expect, test } from "vitest";
import { createHasher, startHashThread } from "../../src/tablebase/hasher.ts";

const chunkBytes = 300_000;

test("the memory of a chunk of a table is free as soon as the chunk is hashed", async () => {
  using hasher = createHasher(startHashThread);
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 10; count++) {
    await hasher.hash(new ArrayBuffer(chunkBytes));
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(chunkBytes);
});
