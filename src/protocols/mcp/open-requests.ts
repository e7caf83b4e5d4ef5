import { isJsonObject, type Plain } from "../../text/plain-text.ts";

/** The requests of one array of messages. Their answers are sent together, as an array. */
export interface Batch {
  readonly answers: object[];
  /** The number of requests without an answer. */
  waiting: number;
}

interface OpenRequest {
  readonly id: unknown;
  readonly batch: Batch | undefined;
}

/** Keeps the requests of one connection until their answers are sent. */
export function createOpenRequests() {
  const open = new Set<OpenRequest>();
  let idle = Promise.withResolvers<void>();

  function take(id: unknown): OpenRequest | undefined {
    const request = open.values().find((one) => one.id === id);
    if (request) {
      open.delete(request);
    }
    if (open.size === 0) {
      idle.resolve();
    }
    return request;
  }

  return {
    /** Call this for each message from the client, before the message is handled. */
    received({ id, method, params }: Plain, batch?: Batch): void {
      if (method === "notifications/cancelled") {
        // A cancelled request gets no answer.
        take(isJsonObject(params) ? params.requestId : undefined);
      } else if (id !== undefined && method !== undefined && method !== "subscriptions/listen") {
        if (open.size === 0) {
          idle = Promise.withResolvers();
        }
        open.add({ id, batch });
        if (batch) {
          batch.waiting++;
        }
      }
    },
    /** Returns the batch of the request to which the message is the answer. Returns undefined for all other messages. */
    answered(message: object): Batch | undefined {
      const { id, method } = message as Plain;
      return method === undefined ? take(id)?.batch : undefined;
    },
    /** Resolves when all requests are answered or cancelled. A subscription has no answer. */
    async allAnswered(): Promise<void> {
      if (open.size > 0) {
        await idle.promise;
      }
    },
  };
}
