import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checksumOf, hashOfChunk } from "../../src/tablebase/checksum.ts";

const folder = fileURLToPath(new URL("tables", import.meta.url));

/** From `CityHashCrc256` of the tables' generator, for bytes that {@link sample} makes. */
const hashes = [
  [32, "31410f98b4d80487d29468be605135b1ef5265fce42bebb46e70609730b4c047"],
  [64, "b3611e85d00c9b74b3d288de549715044a3e4e382a0a4f9514fce70e64b98ad7"],
  [128, "bc9dc4e5c263f5486ff2933d7d359a57e4e5ced95a6ef83be5ff99b975a5ab76"],
  [160, "a25e5e75e71f60795e0d3d0b31bafc3848a6bb385b13eb34b018f1e9ce689922"],
  [192, "a95630b36469d835c24dbdcc0c69fdece028e9334e77f2cfb2fd0a1c1d2be39b"],
  [480, "e13a50757d22e3b1d9dbe316e55583e76ee372d0ee8a9f5716ff58d82dc33288"],
  [896, "699874c518f006eb414f8f2e7684c5c0ea3bf4a364bd1f8be053c7f3b4873240"],
] as const;

/** From its `CityHashCrc128`. */
const checksums = [
  [32, "fc63f6c0386920421150d302127410d7"],
  [64, "ac0eb4f6259df17e511d7fc9bdb1cd13"],
  [128, "7742777150cd6e4435eeafd9d16b93d8"],
] as const;

const sample = (length: number) => Uint8Array.from({ length }, (_, index) => index * 7 + (index >> 8));

/** Writes numbers of eight bytes, as the generator prints them. */
const inHex = (bytes: Uint8Array) =>
  Array.from({ length: bytes.length / 8 }, (_, index) =>
    Buffer.from(bytes.slice(8 * index, 8 * index + 8).reverse()).toString("hex"),
  ).join("");

test.each(hashes)("the hash of %i bytes equals that of the generator", (length, hash) => {
  expect(inHex(hashOfChunk(sample(length)))).toBe(hash);
});

test.each(checksums)("the checksum of %i bytes equals that of the generator", (length, checksum) => {
  expect(inHex(checksumOf(sample(length)))).toBe(checksum);
});

test.each(readdirSync(folder).filter((name) => name.includes(".rtb")))(
  "the checksum at the end of %s is right",
  (name) => {
    const bytes = readFileSync(`${folder}/${name}`);
    expect(Buffer.from(checksumOf(hashOfChunk(bytes.subarray(0, -16))))).toEqual(bytes.subarray(-16));
  },
);
