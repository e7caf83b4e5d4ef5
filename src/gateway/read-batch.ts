import { setImmediate } from "node:timers/promises";
import { create, type DescField, type DescMessage, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Caller } from "../caller.ts";
import { errorFromFaults, type Fault, type KibitzError } from "../errors/errors.ts";
import type { NodeRequest } from "../server/node-message.ts";
import { isAtOrBelow } from "../text/json-pointer.ts";
import { createMessageReader, type MessageReading } from "./codec/read-message.ts";
import { createExplainRefusal } from "./explain-refusal.ts";
import { createJsonReader } from "./read-json.ts";
import type { RequestReaderOptions } from "./read-request.ts";

/** The items of a batch, each read by itself; or nobody waits for an answer any more. */
export type BatchReading =
  | {
      readonly kind: "batch";
      /** Of the items that could be read. */
      readonly message: Message;
      /** Where in the batch the items of the message stand. */
      readonly places: readonly number[];
      /** The errors of the others, by their places. */
      readonly refused: ReadonlyMap<number, KibitzError>;
      /** What its call threw as the error for its caller, with a batch that would be answered if there is one. */
      explain(thrown: unknown): Promise<KibitzError>;
    }
  | { readonly kind: "left" };

/**
 * The reader of a request that is a list of requests. It throws a KibitzError for what is wrong with the
 * batch as a whole; what is wrong with an item is told of that item, with pointers that begin there.
 */
export function createBatchReader(
  method: DescMethod,
  options: RequestReaderOptions,
): (req: NodeRequest, caller: Caller) => Promise<BatchReading> {
  const list = listOf(method);
  const desc = method.input;
  const readJson = createJsonReader([list.name], options.readMaxBytesOf(method), options.bodies);
  const readFrame = createMessageReader(desc);
  const readItem = createMessageReader(list.message);
  const nothing = create(list.message);

  /** The batch without its items: how many there are, and what stands beside them. */
  const readWhole = (sent: Plain): MessageReading => {
    const given = sent[list.name];
    const { message, faults } = readFrame(Array.isArray(given) ? { ...sent, [list.name]: [] } : sent);
    const items: readonly unknown[] = Array.isArray(given) ? given : [];
    (message as Message & Record<string, unknown>)[list.localName] = items.map(() => nothing);
    return { message, faults };
  };
  const explainWhole = createExplainRefusal(method, readWhole, options.judge);
  const explainItem = createExplainRefusal(method, readItem, options.judge);

  const withRules = ({ message, faults }: MessageReading, of: DescMessage): readonly Fault[] => [
    ...faults,
    ...options
      .faultsOf(message, of)
      .filter(({ pointer }) => !faults.some((fault) => isAtOrBelow(pointer, fault.pointer))),
  ];

  return async (req, caller) => {
    const json = await readJson(req);
    if (json.kind === "left") {
      return json;
    }
    const faultsOfWhole = withRules(readWhole(json.sent), desc);
    if (faultsOfWhole.length > 0) {
      throw errorFromFaults(faultsOfWhole);
    }
    const messages: Message[] = [];
    const places: number[] = [];
    const refused = new Map<number, KibitzError>();
    for (const [index, item] of (json.sent[list.name] as readonly Plain[]).entries()) {
      const reading = readItem(item);
      if (reading.faults.length > 0) {
        const error = errorFromFaults(withRules(reading, list.message));
        // To look for a request that would be answered takes as long as to judge one: others are served in between.
        await setImmediate();
        refused.set(index, await explainItem(error, item, caller));
      } else {
        messages.push(reading.message);
        places.push(index);
      }
    }
    const message = create(desc, { [list.localName]: messages });
    const explain = (thrown: unknown) => explainWhole(thrown, json.sent, caller);
    return { kind: "batch", message, places, refused, explain };
  };
}

type Plain = Readonly<Record<string, unknown>>;
type MessageList = Extract<DescField, { fieldKind: "list"; listKind: "message" }>;

function listOf(method: DescMethod): MessageList {
  const lists = method.input.fields.filter(
    (field) => field.fieldKind === "list" && field.listKind === "message",
  );
  const [list] = lists;
  if (list === undefined || lists.length > 1) {
    throw new Error(`${method}: a batch has one list of requests`);
  }
  return list as MessageList;
}
