import { type DescMethod, fromBinary, type Message } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import { refuseLongBinary } from "../../../calls/long-requests.ts";
import { knownRequests, requestMaxBytes } from "../../../calls/policy.ts";
import { type BodyBudget, readBytes } from "../../../http/body-budget.ts";
import type { NodeRequest } from "../../../http/message.ts";
import { contextOf, outcomeOf } from "../../../request/context.ts";
import { freezeWhole } from "../../../text/frozen.ts";
import { binaryOptions } from "../handlers.ts";

/** The one message of a request. */
export type RequestReading =
  | { readonly kind: "request"; readonly message: Message }
  /** None, for a reason that Connect finds, too: what was read of it. */
  | { readonly kind: "unclear"; readonly read: Buffer }
  /** Nobody waits for an answer any more. */
  | { readonly kind: "left" };

/** Flags and length before a message. */
const prefixBytes = 5;

/** The reader of the requests of a method. It rejects with a KibitzError where there is no room for a body. */
export function createRequestReader(
  { input }: DescMethod,
  maxBytes: number,
  bodies: BodyBudget,
): (req: NodeRequest) => Promise<RequestReading> {
  const known = new LRUCache<string, Message>({ max: knownRequests.max });

  /** What comes again is the same message, and frozen. @throws Error for what is none */
  function messageFrom(bytes: Buffer): Message {
    if (bytes.length > knownRequests.maxBytes) {
      return fromBinary(input, bytes, binaryOptions);
    }
    const text = bytes.toString("latin1");
    const before = known.get(text);
    if (before) {
      return freezeWhole(before);
    }
    const message = fromBinary(input, bytes, binaryOptions);
    known.set(text, message);
    return message;
  }

  return async (req) => {
    const count = bodies.countOf(contextOf(req), outcomeOf(req));
    const body = await readBytes(req, prefixBytes + maxBytes, count);
    if (body.kind === "left") {
      return body;
    }
    const { bytes } = body;
    if (body.kind === "bytes" && isOneMessage(bytes)) {
      if (bytes.length > requestMaxBytes) {
        refuseLongBinary(bytes.subarray(prefixBytes));
      }
      try {
        const message = messageFrom(bytes.subarray(prefixBytes));
        outcomeOf(req).readBytes = bytes.length;
        return { kind: "request", message };
      } catch {
        // Connect fails in the same way, and says why.
      }
    }
    return { kind: "unclear", read: bytes };
  };
}

/** Whether these are all bytes of one message, and it is not packed. */
function isOneMessage(bytes: Buffer): boolean {
  return (
    bytes.length >= prefixBytes &&
    bytes.readUInt8(0) === 0 &&
    bytes.readUInt32BE(1) === bytes.length - prefixBytes
  );
}
