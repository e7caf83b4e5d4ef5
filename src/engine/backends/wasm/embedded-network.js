// @ts-check
import { createHash } from "node:crypto";
import { readSync } from "node:fs";

/**
 * Where a neural network is in the memory of the WebAssembly module that contains the network.
 * @typedef {object} EmbeddedNetwork
 * @property {number} address
 * @property {number} bytes
 * @property {string} sha256 In lower-case hexadecimal.
 */

const moduleHeaderBytes = 8;
const codes = { dataSection: 11, activeSegment: 0, i32Const: 0x41, end: 0x0b };

/**
 * Reads a network from the data segments of the WebAssembly file `fd` into `target`. `target` must contain only zeros, because
 * data segments omit zeros. Throws an Error if the file has another format, or if the network has another digest.
 * @param {number} fd
 * @param {EmbeddedNetwork} network
 * @param {Uint8Array} target
 */
export function readNetwork(fd, { address, bytes, sha256 }, target) {
  const file = createReader(fd);
  file.skip(moduleHeaderBytes);
  while (file.byte() !== codes.dataSection) {
    file.skip(file.unsigned());
  }
  file.unsigned();
  for (let segments = file.unsigned(); segments > 0; segments--) {
    const begin = segmentAddress(file) - address;
    const length = file.unsigned();
    const before = Math.min(length, Math.max(0, -begin));
    const inside = Math.max(0, Math.min(length, bytes - begin) - before);
    file.skip(before);
    file.read(target.subarray(begin + before, begin + before + inside));
    file.skip(length - before - inside);
  }
  const found = createHash("sha256").update(target).digest("hex");
  if (found !== sha256) {
    throw new Error(`the network has the SHA-256 ${found} instead of ${sha256}`);
  }
}

/**
 * Reads the start of a data segment: its kind, and the expression `i32.const <address> end`.
 * @param {ReturnType<typeof createReader>} file
 */
function segmentAddress(file) {
  const kind = file.unsigned();
  const constant = file.byte();
  const address = file.unsigned();
  if (kind !== codes.activeSegment || constant !== codes.i32Const || file.byte() !== codes.end) {
    throw new Error("a data segment has no constant address");
  }
  return address;
}

const bufferBytes = 256 * 1024;

/**
 * Reads a file in small parts, because the file is as large as the network.
 * @param {number} fd
 */
function createReader(fd) {
  const buffer = new Uint8Array(bufferBytes);
  let unread = buffer.subarray(0, 0);
  let position = 0;

  /** @param {number} bytesMax */
  function take(bytesMax) {
    if (unread.length === 0) {
      unread = buffer.subarray(0, readSync(fd, buffer, 0, bufferBytes, position));
      position += unread.length;
      if (unread.length === 0) {
        throw new Error("the WebAssembly file is too short");
      }
    }
    const taken = unread.subarray(0, bytesMax);
    unread = unread.subarray(taken.length);
    return taken;
  }

  const byte = () => take(1)[0] ?? 0;
  return {
    byte,
    /** Reads an unsigned integer in LEB128. */
    unsigned() {
      let value = 0;
      for (let factor = 1; ; factor *= 128) {
        const next = byte();
        value += (next % 128) * factor;
        if (next < 128) {
          return value;
        }
      }
    },
    /** @param {number} bytes */
    skip(bytes) {
      const skipped = Math.min(bytes, unread.length);
      unread = unread.subarray(skipped);
      position += bytes - skipped;
    },
    /** @param {Uint8Array} target */
    read(target) {
      for (let done = 0; done < target.length; ) {
        const part = take(target.length - done);
        target.set(part, done);
        done += part.length;
      }
    },
  };
}
