import { KibitzError } from "../errors/errors.ts";
import {
  ClientDisconnected,
  type RequestContext,
  type RequestOutcome,
  refuseDisconnected,
  releaseAtEnd,
} from "../request/context.ts";
import { hasTooManyParts, partsMax } from "./joined-request.ts";
import { hasArrived, type NodeRequest } from "./message.ts";

/** Reserves bytes of the budget until the call ends. Throws a KibitzError `overloaded` if too few bytes are left. */
export type CountBytes = (bytes: number) => void;

export type BodyBudget = ReturnType<typeof createBodyBudget>;

export interface BodyBudgetOptions {
  readonly maxBytes?: number;
  /** An address may hold at most this share of the bytes that no body holds, so that something is always left for others. */
  readonly shareOfFree?: number;
  /** The first bytes of each body are not counted. Small bodies are accepted even if large bodies use the complete budget. */
  readonly freeBytes?: number;
  readonly addressOf?: (request: RequestContext) => string;
  /** True if the heap is nearly full. Bodies are then refused before they are decoded. */
  readonly isHeapFull?: () => boolean;
}

const mib = 1024 * 1024;

/** The maximum number of bodies that are decompressed at the same time. Node has four threads for this task. */
const inflationsMax = 4;

/** Limits the memory for request bodies. The bytes of a body are reserved until the call ends. */
export function createBodyBudget({
  maxBytes = 64 * mib,
  shareOfFree = 1 / 3,
  freeBytes = 16 * 1024,
  addressOf = ({ address }) => address,
  isHeapFull = () => false,
}: BodyBudgetOptions = {}) {
  let used = 0;
  const usedBy = new Map<string, number>();
  let inflating = 0;
  const waiting: (() => void)[] = [];

  function use(bytes: number, address: string): void {
    const own = (usedBy.get(address) ?? 0) + bytes;
    const free = maxBytes - used - bytes;
    if (free < 0 || own > free * shareOfFree) {
      const whose = free < 0 ? "" : " from your address";
      throw overloaded(`Too many large requests are being received or answered${whose}.`);
    }
    used += bytes;
    usedBy.set(address, own);
  }

  function release(bytes: number, address: string): void {
    used -= bytes;
    const own = (usedBy.get(address) ?? 0) - bytes;
    if (own > 0) {
      usedBy.set(address, own);
    } else {
      usedBy.delete(address);
    }
  }

  return {
    /** The returned function counts the received bytes of a body, and then the bytes that decompression adds. */
    countOf(request: RequestContext, outcome: RequestOutcome): CountBytes {
      const address = addressOf(request);
      let read = 0;
      let held = 0;
      releaseAtEnd(outcome, () => release(held, address));
      return (bytes) => {
        if (isHeapFull()) {
          throw overloaded("The memory of this server is nearly full.");
        }
        read += bytes;
        const more = read - freeBytes - held;
        if (more > 0 && outcome.releases !== undefined) {
          use(more, address);
          held += more;
        }
      };
    },
    /** Decompresses a body. Waits if too many bodies are being decompressed. Throws ClientDisconnected if the call has ended. */
    async inflate<T extends Uint8Array>(
      packed: Uint8Array,
      inflate: () => Promise<T>,
      call?: { readonly outcome: RequestOutcome; readonly count: CountBytes },
    ): Promise<T> {
      if (inflating === inflationsMax) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else {
        inflating++;
      }
      try {
        if (call) {
          refuseDisconnected(call.outcome);
        }
        const bytes = await inflate();
        call?.count(Math.max(0, bytes.length - packed.length));
        return bytes;
      } finally {
        const next = waiting.shift();
        if (next) {
          next();
        } else {
          inflating--;
        }
      }
    },
  };
}

function overloaded(why: string): KibitzError {
  const detail = `${why} Send this one later, or split it into smaller ones.`;
  return new KibitzError("overloaded", detail, { retryAfterMs: 1000 });
}

/** Throws a KibitzError if the body arrives in too many parts. Every reader must call this, because the body has no end then. */
export function refuseManyParts(req: NodeRequest): void {
  if (hasTooManyParts(req)) {
    throw new KibitzError(
      "body_too_large",
      `The body arrives in more than ${partsMax} chunks or DATA frames. Send it in larger ones.`,
    );
  }
}

/**
 * Resolves with undefined if the body has more than `maxBytes`: the caller must then discard the rest.
 * Throws ClientDisconnected if the client disconnects or is too slow.
 * Uses events, because an iterator would add 12 µs to a request of 85 µs.
 */
export function readBytes(
  req: NodeRequest,
  maxBytes: number,
  count: CountBytes,
): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const read = (part: Buffer) => {
      parts.push(part);
      length += part.length;
      try {
        refuseManyParts(req);
        if (length <= maxBytes) {
          count(part.length);
          return;
        }
        resolve(undefined);
      } catch (error) {
        reject(error);
      }
      req.pause().off("data", read);
    };
    const leave = () => reject(new ClientDisconnected());
    req.on("data", read).on("aborted", leave).on("error", leave).on("close", leave);
    req.on("end", () => {
      req.off("close", leave);
      if (hasArrived(req)) {
        resolve(Buffer.concat(parts));
      } else {
        leave();
      }
    });
  });
}
