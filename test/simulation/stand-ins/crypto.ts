import { running, simulated } from "../current.ts";
import { createRandom } from "../random.ts";

export * from "node:crypto";

export function randomBytes(size: number): Buffer {
  // A module may need random bytes when it is loaded.
  const random = running()?.random() ?? createRandom("modules");
  return Buffer.from(Array.from({ length: size }, () => random.int(256)));
}

export function randomUUID(): string {
  return uuidFrom(randomBytes(16), 4);
}

export function randomUUIDv7(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(simulated().clock.time.wall(), 0, 6);
  return uuidFrom(bytes, 7);
}

function uuidFrom(bytes: Buffer, version: number): string {
  bytes[6] = (version << 4) | (bytes.readUInt8(6) & 0x0f);
  bytes[8] = 0x80 | (bytes.readUInt8(8) & 0x3f);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
