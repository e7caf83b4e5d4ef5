import { IncomingMessage } from "node:http";
import { Http2ServerRequest } from "node:http2";
import type { Readable } from "node:stream";

/**
 * The maximum number of chunks or DATA frames of a body. Each costs 1 µs, and a packet can have 10,000 of them. A JSON encoder
 * that sends each token alone needs 2,000 for a batch.
 */
export const partsMax = 4000;

/** The first parts of a body are passed on at once, so that an ordinary body is not copied. */
const unjoinedParts = 16;
/** A longer part is not copied. */
const smallBytes = 1024;
const blockBytes = 16 * 1024;

/** Joins small parts of a body until the packet has been read, because each buffered part needs 260 bytes of heap. */
class PartJoiner {
  #count = 0;
  #block: Buffer | undefined;
  #used = 0;
  readonly #body: Readable;
  readonly #pass: (part: Buffer | null) => boolean;

  constructor(body: Readable, pass: (part: Buffer | null) => boolean) {
    this.#body = body;
    this.#pass = pass;
  }

  /** True if the body is refused. The reader has got a part since, and no part is passed on any more. */
  get isOverLimit(): boolean {
    return this.#count > partsMax;
  }

  /** Returns false if the sender should wait. */
  push(part: Buffer | null): boolean {
    if (part !== null && this.isOverLimit) {
      return false;
    }
    if (part !== null && ++this.#count > unjoinedParts && part.length <= smallBytes) {
      this.#join(part);
      return this.#body.readableLength < this.#body.readableHighWaterMark;
    }
    this.#flush();
    return this.#pass(part);
  }

  #join(part: Buffer): void {
    if (this.#used + part.length > blockBytes) {
      this.#flush();
    }
    if (this.#block === undefined) {
      this.#block = Buffer.allocUnsafe(blockBytes);
      process.nextTick(() => this.#flush());
    }
    this.#used += part.copy(this.#block, this.#used);
  }

  #flush(): void {
    const block = this.#block;
    if (block && !this.#body.destroyed) {
      const joined = block.subarray(0, this.#used);
      this.#block = undefined;
      this.#used = 0;
      this.#pass(joined);
    }
  }
}

/** An HTTP/1.1 request whose small chunks are joined. After too many chunks, nothing more is read from the connection. */
export class JoinedHttp1Request extends IncomingMessage {
  readonly parts = new PartJoiner(this, (part) => super.push(part));

  override push(part: Buffer | null): boolean {
    return this.parts.push(part);
  }

  override _read(size: number): void {
    if (!this.parts.isOverLimit) {
      super._read(size);
    }
  }
}

/** An HTTP/2 request whose small DATA frames are joined. After too many frames, further frames are discarded. */
export class JoinedHttp2Request extends Http2ServerRequest {
  readonly parts = new PartJoiner(this, (part) => super.push(part));

  override push(part: Buffer | null): boolean {
    // If the stream waited, its frames would be buffered.
    return this.parts.push(part) || this.parts.isOverLimit;
  }
}

/** True if the body has arrived in too many chunks or DATA frames. */
export function hasTooManyParts(req: object): boolean {
  return (req instanceof JoinedHttp1Request || req instanceof JoinedHttp2Request) && req.parts.isOverLimit;
}
