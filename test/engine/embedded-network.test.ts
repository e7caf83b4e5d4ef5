import { createHash } from "node:crypto";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readNetwork } from "../../src/engine/backends/wasm/embedded-network.js";
import { moduleWithData, type Segment } from "./module-with-data.ts";
import { createFolder } from "./write-script.ts";

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function read(file: Uint8Array, address: number, bytes: number, sha256?: string): Uint8Array {
  const path = join(createFolder(), "network.wasm");
  writeFileSync(path, file);
  const fd = openSync(path, "r");
  onTestFinished(() => closeSync(fd));
  const target = new Uint8Array(bytes);
  readNetwork(fd, { address, bytes, sha256: sha256 ?? digestOf(expectedOf(address, bytes)) }, target);
  return target;
}

const filled = (length: number, seed: number) => Uint8Array.from({ length }, (_, i) => (i * 31 + seed) % 256);

// The network is at 1000 to 701000. The segments are in no order, and one is longer than the buffer of the reader.
const segments: readonly Segment[] = [
  { address: 10, bytes: filled(20, 1) },
  { address: 990, bytes: filled(30, 2) },
  { address: 300_000, bytes: filled(400_000, 4) },
  { address: 2000, bytes: filled(5, 3) },
  { address: 700_990, bytes: filled(300, 5) },
  { address: 900_000, bytes: filled(70_000, 6) },
];

function expectedOf(address: number, bytes: number): Uint8Array {
  const memory = new Uint8Array(1_000_000);
  for (const segment of segments) {
    memory.set(segment.bytes, segment.address);
  }
  return memory.subarray(address, address + bytes);
}

test("a network is read from all data segments that contain a part of it, with zeros between the segments", () => {
  const file = moduleWithData(segments);
  expect(Buffer.compare(read(file, 1000, 700_000), expectedOf(1000, 700_000))).toBe(0);
  // A network inside of one segment.
  expect(read(file, 995, 3)).toEqual(expectedOf(995, 3));
});

test("a network with another digest is rejected, and the error names both digests", () => {
  const wanted = "0".repeat(64);
  const found = digestOf(expectedOf(1000, 700_000));
  expect(() => read(moduleWithData(segments), 1000, 700_000, wanted)).toThrow(
    `the network has the SHA-256 ${found} instead of ${wanted}`,
  );
});

test.each([
  ["is cut off", moduleWithData(segments).subarray(0, 400_000), "too short"],
  ["is empty", new Uint8Array(), "too short"],
  [
    "has a data segment without an address",
    moduleWithData([{ address: 0, bytes: filled(9, 1), kind: 1 }]),
    "no constant address",
  ],
])("a network is rejected if its file %s", (_, file, message) => {
  expect(() => read(file, 1000, 700_000)).toThrow(message);
});
