import { Transform } from "node:stream";

const newline = 0x0a;

export interface LineGuardOptions {
  /** Of a line, without its end. */
  readonly maxBytes: number;
  /** Told once of each line that is longer, when that is known. */
  readonly tooLong: () => void;
  /** Whether a line may pass. */
  readonly passes: (line: string) => boolean;
}

/** Passes whole lines with their ends. Of one that is too long no more than `maxBytes` are ever kept. */
export function createLineGuard({ maxBytes, tooLong, passes }: LineGuardOptions): Transform {
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
          const line = Buffer.concat([...parts, chunk.subarray(end, end + 1)]);
          if (passes(line.toString())) {
            this.push(line);
          }
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
