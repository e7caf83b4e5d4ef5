import { totalmem } from "node:os";
import { expect, test, vi } from "vitest";
import { loadConfig } from "../../src/wiring/config.ts";
import { memoryBytes, memoryLimit } from "../../src/wiring/memory.ts";

test("the default settings follow the memory limit of a container", () => {
  using _ = vi.spyOn(process, "constrainedMemory").mockReturnValue(1e9);
  expect([memoryLimit(), memoryBytes()]).toEqual([1e9, 1e9]);
  expect(loadConfig({})).toMatchObject({ slots: 1, engineMemoryMb: 500 });
});

test.each([
  ["is reported as 0", 0],
  ["is greater than the memory of the machine", 2 ** 63],
])("a memory limit that %s is ignored", (_, said) => {
  using spied = vi.spyOn(process, "constrainedMemory").mockReturnValue(said);
  expect([memoryLimit(), memoryBytes()]).toEqual([undefined, totalmem()]);
  expect(spied).toHaveBeenCalled();
});
