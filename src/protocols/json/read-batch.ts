import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Entry } from "../../access/entrance.ts";
import { boundJson, listOfBatch } from "../../calls/bound-request.ts";
import { createMessageReader, type MessageReading } from "../../calls/plain/read-message.ts";
import { createSuggest } from "../../calls/suggest.ts";
import { errorFromFaults, errorFromUnknown, type KibitzError } from "../../errors/errors.ts";
import type { NodeRequest } from "../../http/message.ts";
import { outcomeOf, refuseLeft } from "../../request/context.ts";
import { isJsonObject } from "../../text/plain-text.ts";
import type { Turn } from "../../thread/event-loop.ts";
import { faultsOfText, notAnObject, parseCounted, textFromBytes } from "./json-text.ts";
import { describeBody, errorFromText, readJsonBody } from "./read-json.ts";
import type { RequestReaderOptions } from "./read-request.ts";

/** The items of a batch, each read by itself; or the client has left. */
export type BatchReading =
  | {
      readonly kind: "batch";
      /** With an empty request in the place of each item that could not be read. */
      readonly message: Message;
      /** How many items it has. */
      readonly count: number;
      /** The JSON texts of these items, by index: parsed, one may take 22 times as much memory. */
      readonly unreadable: ReadonlyMap<number, string>;
      /** Makes the error for the caller of what its call threw, with a suggested batch if there is one. */
      explain(thrown: unknown): Promise<KibitzError>;
    }
  | { readonly kind: "left" };

/** Keys, values and lists of a batch: 200 requests with 600 moves and 218 `search_moves` each have 170,000. */
const partsMax = 200_000;

/** A longer batch is not suggested: its error says what is too much of it. */
const suggestedMaxBytes = 64 * 1024;

type Plain = Readonly<Record<string, unknown>>;

/**
 * The reader of a request that is a list of requests. It throws a KibitzError if the batch as a whole is invalid. An invalid item
 * has its own error, with pointers that begin at the item.
 */
export function createBatchReader(
  method: DescMethod,
  options: RequestReaderOptions,
): (req: NodeRequest, entry: Entry) => Promise<BatchReading> {
  const list = listOfBatch(method);
  const desc = method.input;
  const maxBytes = options.readMaxBytesOf(method);
  const wanted = describeBody(desc);
  const readFrame = createMessageReader(desc);
  const readItem = createMessageReader(list.message);
  const nothing = create(list.message);

  const itemsOf = (sent: Plain): readonly unknown[] => {
    const given = sent[list.name];
    return Array.isArray(given) ? given : [];
  };
  /** The batch with empty items. */
  const readWhole = (sent: Plain): MessageReading => {
    const items = itemsOf(sent);
    const { message, faults } = readFrame(items.length > 0 ? { ...sent, [list.name]: [] } : sent);
    Object.assign(message, { [list.localName]: items.map(() => nothing) });
    return { message, faults };
  };
  const suggestWhole = createSuggest(method, options.judge, readWhole);

  async function read(text: string, { account }: Entry, turn: Turn): Promise<BatchReading> {
    await turn();
    const { members } = boundJson(text, method, partsMax);
    await turn();
    const sent = parseCounted(text, members);
    if (sent === undefined) {
      await turn();
      throw errorFromText(faultsOfText(text, wanted), text.length);
    }
    if (!isJsonObject(sent)) {
      throw errorFromFaults([notAnObject(sent, wanted)]);
    }
    const short = text.length > suggestedMaxBytes ? undefined : text;
    const explain = async (thrown: unknown) =>
      short === undefined ? errorFromUnknown(thrown) : suggestWhole(thrown, JSON.parse(short), account);
    const whole = readWhole(sent);
    const faults = options.faultsOf(whole.message, desc, whole.faults);
    if (faults.length > 0) {
      throw await explain(errorFromFaults(faults));
    }
    const items = itemsOf(sent);
    const messages: Message[] = [];
    const unreadable = new Map<number, string>();
    for (const [index, item] of items.entries()) {
      await turn();
      const { message, faults } = readItem(item);
      const isReadable = faults.length === 0;
      messages.push(isReadable ? message : nothing);
      if (!isReadable) {
        unreadable.set(index, JSON.stringify(item));
      }
    }
    const message = create(desc, { [list.localName]: messages });
    return { kind: "batch", message, count: items.length, unreadable, explain };
  }

  /** One batch is read at a time: parsed, it may take 22 times as much memory as its text. */
  let lastReading: Promise<unknown> = Promise.resolve();

  return async (req, entry) => {
    const body = await readJsonBody(req, maxBytes, options.bodies);
    if (body.kind === "left") {
      return body;
    }
    const text = textFromBytes(body.bytes);
    if (text === undefined) {
      const message = "The body is not valid UTF-8.";
      throw errorFromFaults([{ pointer: "", code: "malformed_json", message }]);
    }
    // While the body was sent, and while it is read, other requests of the same caller may be refused.
    const turn = options.beginWork(() => {
      refuseLeft(outcomeOf(req));
      entry.check();
    });
    const reading = lastReading.then(() => read(text, entry, turn));
    // Without its result: the last batch would stay in memory until the next one.
    lastReading = reading.then(
      () => {},
      () => {},
    );
    return reading;
  };
}
