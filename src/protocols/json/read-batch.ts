import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Account } from "../../access/account.ts";
import { boundJson, listOfBatch } from "../../calls/bound-request.ts";
import { createMessageReader } from "../../calls/plain/read-message.ts";
import { errorFromUnknown } from "../../errors/errors.ts";
import type { Turn } from "../../thread/event-loop.ts";
import { parseJsonObject } from "./json-text.ts";
import { createPlainReader, type PlainReaderOptions, type ReadRequest } from "./read-plain.ts";

/** Keys, values and lists of a batch: 200 requests with 600 moves and 218 `search_moves` each have 170,000. */
const partsMax = 200_000;

/** A longer batch is not suggested: its error says what is too much of it. */
const suggestedMaxBytes = 64 * 1024;

type Plain = Readonly<Record<string, unknown>>;

/**
 * The reader of a request that is a list of requests. It throws a KibitzError if the batch as a whole is invalid. An invalid item
 * has its own error, with pointers that begin at the item: the message has an empty request in its place.
 *
 * @param wanted what to send, for the error of a body that is no object
 */
export function createBatchReader(
  method: DescMethod,
  options: PlainReaderOptions,
  wanted: string,
): (text: string, account: Account, turn: Turn) => Promise<ReadRequest> {
  const list = listOfBatch(method);
  const readFrame = createMessageReader(method.input);
  const readItem = createMessageReader(list.message);
  const nothing = create(list.message);

  const itemsOf = (sent: Plain): readonly unknown[] => {
    const given = sent[list.name];
    return Array.isArray(given) ? given : [];
  };
  /** Reads the batch with empty items. */
  const readWhole = createPlainReader(method, options, (json) => {
    const sent = json as Plain;
    const items = itemsOf(sent);
    const reading = readFrame(items.length > 0 ? { ...sent, [list.name]: [] } : sent);
    Object.assign(reading.message, { [list.localName]: items.map(() => nothing) });
    return reading;
  });

  async function read(text: string, account: Account, turn: Turn): Promise<ReadRequest> {
    await turn();
    const count = boundJson(text, method, partsMax);
    await turn();
    const sent = parseJsonObject(text, count, wanted);
    const suggests = text.length <= suggestedMaxBytes;
    const { message } = await readWhole(sent, account, suggests);
    const messages: Message[] = [];
    const unreadable = new Map<number, string>();
    for (const [index, item] of itemsOf(sent).entries()) {
      await turn();
      const { message, faults } = readItem(item);
      if (faults.length === 0) {
        messages.push(message);
      } else {
        messages.push(nothing);
        unreadable.set(index, JSON.stringify(item));
      }
    }
    Object.assign(message, { [list.localName]: messages });
    return {
      message,
      unreadable,
      async explain(thrown) {
        if (!suggests) {
          return errorFromUnknown(thrown);
        }
        // Parsed again, because the parsed batch would take 22 times as much memory as its text until the call ends.
        const whole = await readWhole(JSON.parse(text), account);
        return whole.explain(thrown);
      },
    };
  }

  /** One batch is read at a time: parsed, it may take 22 times as much memory as its text. */
  let lastReading: Promise<unknown> = Promise.resolve();

  return (text, account, turn) => {
    const reading = lastReading.then(() => read(text, account, turn));
    // Without its result: the last batch would stay in memory until the next one.
    lastReading = reading.then(
      () => {},
      () => {},
    );
    return reading;
  };
}
