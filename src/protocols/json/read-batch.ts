import { create, type DescField, type DescMessage, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Entry } from "../../access/entrance.ts";
import type { UnreadableItem } from "../../calls/call.ts";
import { refuseLongParts } from "../../calls/policy.ts";
import { boundsOfList } from "../../calls/rules.ts";
import { errorFromFaults, errorFromUnknown, type Fault, type KibitzError } from "../../errors/errors.ts";
import type { NodeRequest } from "../../http/message.ts";
import { outcomeOf, refuseLeft } from "../../request/context.ts";
import { isAtOrBelow } from "../../text/json-pointer.ts";
import { nestingMax, type SplitObject, splitList } from "../../text/json-scan.ts";
import { inTurns, type Turn } from "../../thread/event-loop.ts";
import { isJsonObject, notAnObject, parseStrictly, textFromBytes } from "./codec/json-text.ts";
import { createMessageReader, type MessageReading } from "./codec/read-message.ts";
import { describeBody, errorFromText, readJsonBody } from "./read-json.ts";
import { createExplainRefusal, type RequestReaderOptions } from "./read-request.ts";

/** The items of a batch, each read by itself; or nobody waits for an answer any more. */
export type BatchReading =
  | {
      readonly kind: "batch";
      /** With an empty request in the place of each item that could not be read. */
      readonly message: Message;
      /** How many items it has. */
      readonly count: number;
      readonly unreadable: ReadonlyMap<number, UnreadableItem>;
      /** What its call threw as the error for its caller, with a batch that would be answered if there is one. */
      explain(thrown: unknown): Promise<KibitzError>;
    }
  | { readonly kind: "left" };

/** What a text is that is a batch. */
interface BatchParts extends Pick<SplitObject, "items" | "count"> {
  /** What stands beside the items. */
  readonly sent: unknown;
  readonly messages: readonly Message[];
  readonly unreadable: ReadonlyMap<number, UnreadableItem>;
}

const parseItem = (text: string) => parseStrictly(text, nestingMax - 2);

/** Of a batch that is longer, nobody wants half back in a refusal: what is too much of it is said there anyway. */
const suggestedMaxBytes = 64 * 1024;

type Plain = Readonly<Record<string, unknown>>;

/**
 * The reader of a request that is a list of requests. It throws a KibitzError for what is wrong with the
 * batch as a whole; what is wrong with an item is told of that item, with pointers that begin there.
 */
export function createBatchReader(
  method: DescMethod,
  options: RequestReaderOptions,
): (req: NodeRequest, entry: Entry) => Promise<BatchReading> {
  const list = listOf(method);
  const desc = method.input;
  const maxBytes = options.readMaxBytesOf(method);
  const wanted = describeBody(desc);
  const itemsMax = boundsOfList(list).maximum;
  const readFrame = createMessageReader(desc);
  const readItem = createMessageReader(list.message);
  const nothing = create(list.message);

  /** The batch without its items: how many there are, and what stands beside them. */
  const readWhole = (sent: Plain, count: number): MessageReading => {
    const { message, faults } = readFrame(sent);
    (message as Message & Record<string, unknown>)[list.localName] = Array.from(
      { length: count },
      () => nothing,
    );
    return { message, faults };
  };
  const readCandidate = (sent: Plain): MessageReading => {
    const given = sent[list.name];
    return Array.isArray(given) ? readWhole({ ...sent, [list.name]: [] }, given.length) : readWhole(sent, 0);
  };
  const explainWhole = createExplainRefusal(method, readCandidate, options.judge);

  const withRules = ({ message, faults }: MessageReading, of: DescMessage): readonly Fault[] => [
    ...faults,
    ...options
      .faultsOf(message, of)
      .filter(({ pointer }) => !faults.some((fault) => isAtOrBelow(pointer, fault.pointer))),
  ];

  /** Of an item that could not be read its text is kept, and read again: parsed, it may take 22 times as much memory. */
  const unreadableItem = (text: string): UnreadableItem => {
    const sent = () => parseItem(text) as Plain;
    return {
      sent,
      explain: () => errorFromFaults(withRules(readItem(sent()), list.message)),
      read(candidate) {
        const { message, faults } = readItem(candidate);
        if (faults.length > 0) {
          throw errorFromFaults(faults);
        }
        return message;
      },
    };
  };

  /** A batch whose JSON is acceptable, with what could be read of it; undefined for any other text. */
  function* readParts(text: string): Generator<void, BatchParts | undefined> {
    const split = yield* splitList(text.trim(), list.name, itemsMax);
    if (split === undefined) {
      return undefined;
    }
    const { frame, items, count } = split;
    refuseLongParts(
      list.name,
      frame,
      items.map((item) => item.trim()),
    );
    const sent = parseStrictly(frame);
    if (sent === undefined) {
      return undefined;
    }
    const unreadable = new Map<number, UnreadableItem>();
    const messages: Message[] = [];
    for (const [index, item] of items.entries()) {
      yield;
      const value = parseItem(item);
      if (value === undefined) {
        return undefined;
      }
      yield;
      const { message, faults } = readItem(value);
      const isReadable = faults.length === 0;
      if (!isReadable) {
        unreadable.set(index, unreadableItem(item));
      }
      messages.push(isReadable ? message : nothing);
    }
    return { sent, items, count, messages, unreadable };
  }

  async function read(text: string, { account }: Entry, turn: Turn): Promise<BatchReading> {
    const parts = await inTurns(readParts(text), turn);
    if (parts === undefined) {
      throw await errorFromText(text, wanted, turn);
    }
    const { sent, items, count = 0, messages, unreadable } = parts;
    if (!isJsonObject(sent)) {
      throw errorFromFaults([notAnObject(sent, wanted)]);
    }
    const explain = async (thrown: unknown) => {
      if (text.length > suggestedMaxBytes) {
        return errorFromUnknown(thrown);
      }
      const whole = parts.count === undefined ? sent : { ...sent, [list.name]: items.map(parseItem) };
      return explainWhole(thrown, whole, account);
    };
    const faultsOfWhole = withRules(readWhole(sent, count), desc);
    if (faultsOfWhole.length > 0) {
      throw await explain(errorFromFaults(faultsOfWhole));
    }
    const message = create(desc, { [list.localName]: messages });
    return { kind: "batch", message, count, unreadable, explain };
  }

  return async (req, entry) => {
    const body = await readJsonBody(req, maxBytes, options.bodies);
    if (body.kind === "left") {
      return body;
    }
    // While it was sent, and while it is read, others of the same caller may be refused.
    const turn = options.beginWork(() => {
      refuseLeft(outcomeOf(req));
      entry.check();
    });
    await turn();
    const text = textFromBytes(body.bytes);
    if (text === undefined) {
      const message = "The body is not valid UTF-8.";
      throw errorFromFaults([{ pointer: "", code: "malformed_json", message }]);
    }
    return read(text, entry, turn);
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
