import { KibitzError } from "../errors/errors.ts";
import {
  CallerLeft,
  outcomeOf,
  type RequestContext,
  type RequestOutcome,
  releaseAtEnd,
} from "../request/context.ts";
import { hasArrived, type NodeRequest } from "./message.ts";

/** Counts bytes of one body until its call ends. @throws KibitzError `overloaded` if there is no room for them */
export type CountBytes = (bytes: number) => void;

/** The memory of the bodies of all calls under way. */
export interface BodyBudget {
  /** Counts the bytes of a body, sent and then unpacked, until its call ends. */
  countOf(request: RequestContext, outcome: RequestOutcome): CountBytes;
  /**
   * Inflates what has arrived whole, a few at a time in the whole process: the others wait in their order. What comes out is
   * counted instead of what was sent.
   *
   * @throws CallerLeft if the call ends before; KibitzError as `count`; what `inflate` rejects with
   */
  inflate<T extends Uint8Array>(
    packed: Uint8Array,
    inflate: () => Promise<T>,
    call?: { readonly outcome: RequestOutcome; readonly count: CountBytes },
  ): Promise<T>;
}

export interface BodyBudgetOptions {
  readonly maxBytes?: number;
  /** For the bodies of callers at one address. */
  readonly maxBytesPerAddress?: number;
  /** For the bodies of all batches and reviews, whatever their size: an unpacked mebibyte becomes up to 22 MB of objects. */
  readonly maxBytesOfLong?: number;
  /**
   * What every body may take beside the budget: all that most calls read, so that large ones cannot crowd them out. As
   * many as calls may be open over HTTP/2 take 320 MiB.
   */
  readonly freeBytes?: number;
  /** The address that a caller is known by. */
  readonly addressOf?: (request: RequestContext) => string;
}

const mib = 1024 * 1024;

/** Bodies that are inflated at a time: as many as Node has threads for it. */
const inflationsMax = 4;

/**
 * Bounds the memory of bodies that are large, sent slowly or never to their end, on however many connections, and of what
 * they are unpacked to while their calls wait.
 */
export function createBodyBudget({
  maxBytes = 64 * mib,
  maxBytesPerAddress = 16 * mib,
  maxBytesOfLong = Number.POSITIVE_INFINITY,
  freeBytes = 16 * 1024,
  addressOf = ({ address }) => address,
}: BodyBudgetOptions = {}): BodyBudget {
  let used = 0;
  let usedByLong = 0;
  const usedBy = new Map<string, number>();
  let inflating = 0;
  const waiting = new Set<() => void>();

  /** @param bytes fewer than none for those that are given back */
  function use(bytes: number, address: string): void {
    const own = (usedBy.get(address) ?? 0) + bytes;
    if (bytes > 0 && (used + bytes > maxBytes || own > maxBytesPerAddress)) {
      const whose = own > maxBytesPerAddress ? " from your address" : "";
      throw tooMany(`Too many large requests are being received or answered${whose}.`);
    }
    used += bytes;
    if (own === 0) {
      usedBy.delete(address);
    } else {
      usedBy.set(address, own);
    }
  }

  function useByLong(bytes: number): void {
    if (usedByLong + bytes > maxBytesOfLong) {
      throw tooMany(
        `The batches and reviews under way hold all of the ${maxBytesOfLong / mib} MiB for them.`,
      );
    }
    usedByLong += bytes;
  }

  function inflated(): void {
    inflating--;
    const [next] = waiting;
    next?.();
  }

  function myTurn(outcome: RequestOutcome | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      waiting.delete(begin);
      inflating++;
      resolve();
    };
    if (outcome && outcome.held === undefined) {
      reject(new CallerLeft());
    } else if (inflating < inflationsMax) {
      begin();
    } else {
      waiting.add(begin);
      if (outcome) {
        releaseAtEnd(outcome, () => waiting.delete(begin) && reject(new CallerLeft()));
      }
    }
    return promise;
  }

  return {
    countOf(request, outcome) {
      let read = 0;
      let held = 0;
      let heldByLong = 0;
      let address: string | undefined;
      return (bytes) => {
        read += bytes;
        const more = Math.max(0, read - freeBytes - held);
        // A large message over MCP may be a review, and only what is in it says so.
        const byLong = outcome.isLong ? read : request.protocol === "mcp" ? read - freeBytes : 0;
        const moreByLong = Math.max(0, byLong - heldByLong);
        if (more + moreByLong === 0 || outcome.held === undefined) {
          return;
        }
        if (address === undefined) {
          const known = addressOf(request);
          address = known;
          releaseAtEnd(outcome, () => {
            useByLong(-heldByLong);
            use(-held, known);
          });
        }
        useByLong(moreByLong);
        heldByLong += moreByLong;
        use(more, address);
        held += more;
      };
    },
    async inflate(packed, inflate, call) {
      await myTurn(call?.outcome);
      try {
        const bytes = await inflate();
        call?.count(Math.max(0, bytes.length - packed.length));
        return bytes;
      } finally {
        inflated();
      }
    },
  };
}

function tooMany(detail: string): KibitzError {
  const advice = "Send this one later, or split it into smaller ones.";
  return new KibitzError("overloaded", `${detail} ${advice}`, { retryAfterMs: 1000 });
}

/** What came of a body. */
export type BytesReading =
  /** Everything that was sent. */
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  /** More than was wanted: what came until then. The rest is still to be read, and who answers decides what becomes of it. */
  | { readonly kind: "more"; readonly bytes: Buffer }
  /** The caller left while sending. */
  | { readonly kind: "left" };

/** Reads a body as it was sent. Rejects with what `count` throws. */
export function readBytes(req: NodeRequest, maxBytes: number, count: CountBytes): Promise<BytesReading> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const all = () => {
      const [first] = chunks;
      return chunks.length === 1 && first ? first : Buffer.concat(chunks);
    };
    const read = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      try {
        if (length <= maxBytes) {
          count(chunk.length);
          return;
        }
        resolve({ kind: "more", bytes: all() });
      } catch (error) {
        reject(error);
      }
      req.pause().off("data", read);
    };
    req.on("data", read);
    let hasEnded = false;
    const leave = () => {
      if (!hasEnded) {
        outcomeOf(req).code ??= "canceled";
      }
      resolve({ kind: "left" });
    };
    req.on("aborted", leave).on("error", leave).on("close", leave);
    req.on("end", () => {
      hasEnded = hasArrived(req);
      if (hasEnded) {
        resolve({ kind: "bytes", bytes: all() });
      } else {
        leave();
      }
    });
  });
}
