import { create, type DescField, type DescMethod, type Message } from "@bufbuild/protobuf";
import { errorFromFaults, type Fault, type KibitzError } from "../errors.ts";
import { isAtOrBelow } from "../json-pointer.ts";
import type { NodeRequest } from "../server/node-message.ts";
import { createJsonReader } from "./read-json.ts";
import { createMessageReader } from "./read-message.ts";
import { type RequestReaderOptions, withSuggestion } from "./read-request.ts";

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
      /** All items, as they were sent. */
      readonly sent: readonly unknown[];
      /** The request that they are in. */
      readonly whole: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "left" };

/**
 * The reader of a request that is a list of requests. It throws a KibitzError for what is wrong with the
 * batch as a whole; what is wrong with an item is told of that item, with pointers that begin there.
 */
export function createBatchReader(
  method: DescMethod,
  options: RequestReaderOptions,
): (req: NodeRequest) => Promise<BatchReading> {
  const list = listOf(method);
  const desc = method.input;
  const readJson = createJsonReader([list.name], options.readMaxBytesOf(method), options.bodies);
  const readWhole = createMessageReader(desc);
  const readItem = createMessageReader(list.message);
  const nothing = create(list.message);

  /** Judges the batch without its items: how many there are, and what stands beside them. */
  const check = (sent: Readonly<Record<string, unknown>>): readonly unknown[] => {
    const given = sent[list.name];
    const items: readonly unknown[] = Array.isArray(given) ? given : [];
    const { message, faults } = readWhole(Array.isArray(given) ? { ...sent, [list.name]: [] } : sent);
    (message as Message & Record<string, unknown>)[list.localName] = items.map(() => nothing);
    const byRules = options
      .faultsOf(message, desc)
      .filter(({ pointer }) => !faults.some((fault) => isAtOrBelow(pointer, fault.pointer)));
    if (faults.length + byRules.length > 0) {
      throw errorFromFaults([...faults, ...byRules]);
    }
    return items;
  };

  const errorOf = (message: Message, faults: readonly Fault[], item: unknown): KibitzError => {
    const byRules = options
      .faultsOf(message, list.message)
      .filter(({ pointer }) => !faults.some((fault) => isAtOrBelow(pointer, fault.pointer)));
    return withSuggestion(errorFromFaults([...faults, ...byRules]), item as Record<string, unknown>);
  };

  return async (req) => {
    const json = await readJson(req);
    if (json.kind === "left") {
      return json;
    }
    const sent = check(json.sent);
    const messages: Message[] = [];
    const places: number[] = [];
    const refused = new Map<number, KibitzError>();
    for (const [index, item] of sent.entries()) {
      const { message, faults } = readItem(item);
      if (faults.length > 0) {
        refused.set(index, errorOf(message, faults, item));
      } else {
        messages.push(message);
        places.push(index);
      }
    }
    const message = create(desc, { [list.localName]: messages });
    return { kind: "batch", message, places, refused, sent, whole: json.sent };
  };
}

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
