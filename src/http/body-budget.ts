import { KibitzError } from "../errors/errors.ts";
import { contextOf, outcomeOf, type RequestContext } from "../request/context.ts";
import { hasArrived, type NodeRequest } from "./message.ts";

/** The memory of all bodies that are being read together. */
export interface BodyBudget {
  /**
   * Counts what is read of the body of a request until that is closed.
   * @throws KibitzError `overloaded`, when it is told of bytes for which there is no room
   */
  countOf(req: NodeRequest): (bytes: number) => void;
  /**
   * Counts what a body was unpacked to, until its call over HTTP/2 is over: a connection has a hundred of them at a time,
   * and a megabyte arrives as one kilobyte. Over HTTP/1.1 it has one.
   *
   * @throws KibitzError `overloaded`, where there is no room for it
   */
  countUnpacked(req: NodeRequest, bytes: number): void;
}

export interface BodyBudgetOptions {
  readonly maxBytes?: number;
  /** For the bodies of callers at one address. */
  readonly maxBytesPerAddress?: number;
  /**
   * What every body may take beside the budget: all that most calls read, so that large ones cannot crowd them out. As
   * many as calls may be open over HTTP/2 take 320 MiB.
   */
  readonly freeBytes?: number;
  /** The address that a caller is known by. */
  readonly addressOf?: (request: RequestContext) => string;
}

const mib = 1024 * 1024;

/** Large bodies (batches) that are sent slowly, or not to their end, on many connections take no more than this. */
export function createBodyBudget({
  maxBytes = 64 * mib,
  maxBytesPerAddress = 16 * mib,
  freeBytes = 16 * 1024,
  addressOf = ({ address }) => address,
}: BodyBudgetOptions = {}): BodyBudget {
  let used = 0;
  const usedBy = new Map<string, number>();

  /** @param bytes fewer than none for those that are given back */
  function use(bytes: number, address: string): void {
    const own = (usedBy.get(address) ?? 0) + bytes;
    if (bytes > 0 && (used + bytes > maxBytes || own > maxBytesPerAddress)) {
      const whose = own > maxBytesPerAddress ? " from your address" : "";
      const detail = `Too many large requests are being received${whose}. Send this one later, or split it into smaller ones.`;
      throw new KibitzError("overloaded", detail, { retryAfterMs: 1000 });
    }
    used += bytes;
    if (own === 0) {
      usedBy.delete(address);
    } else {
      usedBy.set(address, own);
    }
  }

  const budget: BodyBudget = {
    countUnpacked(req, bytes) {
      // The request of one that is closed has told so already.
      if ("stream" in req && !req.stream.closed) {
        budget.countOf(req)(bytes);
      }
    },
    countOf(req) {
      let read = 0;
      let held = 0;
      let address = "";
      return (bytes) => {
        read += bytes;
        const more = read - freeBytes - held;
        if (more <= 0) {
          return;
        }
        if (held === 0) {
          address = addressOf(contextOf(req));
        }
        use(more, address);
        if (held === 0) {
          req.once("close", () => use(-held, address));
        }
        held += more;
      };
    },
  };
  return budget;
}

/** What came of a body. */
export type BytesReading =
  /** Everything that was sent. */
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  /** More than was wanted: what came until then. The rest is still to be read, and who answers decides what becomes of it. */
  | { readonly kind: "more"; readonly bytes: Buffer }
  /** The caller left while sending. */
  | { readonly kind: "left" };

/** Reads a body as it was sent. Rejects with a KibitzError where there is no room for it beside the others. */
export function readBytes(req: NodeRequest, maxBytes: number, budget: BodyBudget): Promise<BytesReading> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const count = budget.countOf(req);
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
