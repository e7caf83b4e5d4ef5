import { Transform } from "node:stream";

const newline = 0x0a;

/**
 * Passes whole lines with their ends. One that is longer is left out: no more than `maxBytes` of it are ever kept.
 *
 * @param maxBytes of a line, without its end
 * @param tooLong told once of each line that is longer, when that is known
 */
export function createLineGuard(maxBytes: number, tooLong: () => void): Transform {
  let parts: Buffer[] = [];
  let bytes = 0;

  function take(part: Buffer): void {
    const wasShort = bytes <= maxBytes;
    bytes += part.length;
    if (bytes <= maxBytes) {
      parts.push(part);
    } else if (wasShort) {
      parts = [];
      tooLong();
    }
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
        take(chunk.subarray(from, end));
        if (bytes <= maxBytes) {
          this.push(Buffer.concat([...parts, chunk.subarray(end, end + 1)]));
        }
        parts = [];
        bytes = 0;
        from = end + 1;
      }
      take(chunk.subarray(from));
      done();
    },
  });
}
