import { totalmem } from "node:os";
import { expect, test, vi } from "vitest";
import { loadConfig } from "../../src/wiring/config.ts";
import { memoryBytes, memoryLimit } from "../../src/wiring/memory.ts";

test("the memory of a container is its limit, and the defaults follow it", () => {
  using _ = vi.spyOn(process, "constrainedMemory").mockReturnValue(1e9);
  expect([memoryLimit(), memoryBytes()]).toEqual([1e9, 1e9]);
  expect(loadConfig({})).toMatchObject({ slots: 1, engineMemoryMb: 500 });
});

test.each([
  ["is said to be none", 0],
  ["is greater than the memory, as where there is none", 2 ** 63],
])("the limit %s counts as none", (_, said) => {
  using spied = vi.spyOn(process, "constrainedMemory").mockReturnValue(said);
  expect([memoryLimit(), memoryBytes()]).toEqual([undefined, totalmem()]);
  expect(spied).toHaveBeenCalled();
});
