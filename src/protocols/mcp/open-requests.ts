import { isJsonObject, type Plain } from "../../text/json.ts";

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

/** Keeps the requests of one connection until their answers are sent. `write` sends the answers of a batch. */
export function createOpenRequests(write: (answers: readonly object[]) => void) {
  const open = new Set<OpenRequest>();
  let idle = Promise.withResolvers<void>();

  function take(id: unknown): OpenRequest | undefined {
    const request = open.values().find((one) => one.id === id);
    if (request) {
      open.delete(request);
      finish(request.batch);
    }
    if (open.size === 0) {
      idle.resolve();
    }
    return request;
  }

  /** One request of the batch needs no answer any more. */
  function finish(batch: Batch | undefined): void {
    if (batch && --batch.waiting === 0 && batch.answers.length > 0) {
      write(batch.answers);
    }
  }

  return {
    /** Reads the messages of a batch. The answers are sent when all its requests are answered or cancelled. */
    receiveBatch<T>(read: (batch: Batch) => T): T {
      // The batch itself waits too, until all its messages are read.
      const batch: Batch = { answers: [], waiting: 1 };
      const messages = read(batch);
      finish(batch);
      return messages;
    },
    /** Call this for each message from the client, before the message is handled. */
    received({ id, method, params }: Plain, batch?: Batch): void {
      if (method === "notifications/cancelled") {
        // A cancelled request gets no answer.
        take(isJsonObject(params) ? params.requestId : undefined);
      } else if (id !== undefined && method !== undefined && (batch || method !== "subscriptions/listen")) {
        if (open.size === 0) {
          idle = Promise.withResolvers();
        }
        open.add({ id, batch });
        if (batch) {
          batch.waiting++;
        }
      }
    },
    /** Keeps an answer until the answers of its batch are sent. Returns false for a message that belongs to no batch. */
    answered(message: object): boolean {
      const { id, method } = message as Plain;
      const batch = method === undefined ? open.values().find((one) => one.id === id)?.batch : undefined;
      batch?.answers.push(message);
      if (method === undefined) {
        take(id);
      }
      return batch !== undefined;
    },
    /**
     * Resolves when all requests are answered or cancelled. A subscription has no answer. In a batch, its method is unknown,
     * and gets an error.
     */
    async allAnswered(): Promise<void> {
      if (open.size > 0) {
        await idle.promise;
      }
    },
  };
}
