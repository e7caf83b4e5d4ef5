import { create, type DescMessage, type DescMethod, type Message, ScalarType } from "@bufbuild/protobuf";
import type { AdmittedCall } from "../../access/admit-call.ts";
import { boundJson, listOfBatch } from "../../calls/bound-request.ts";
import type { Call, ReadCall } from "../../calls/call.ts";
import { createMessageReader } from "../../calls/plain/read-message.ts";
import { readMaxBytesOf, requestMaxBytes } from "../../calls/policy.ts";
import { createPlainReader, type PlainReaderOptions } from "../../calls/read-plain.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import type { NodeRequest } from "../../http/message.ts";
import type { Plain } from "../../text/json.ts";
import type { BeginWork, Turn } from "../../thread/time-slices.ts";
import { parseJsonObject, readJsonObject } from "./json-text.ts";
import { queryOf, readJsonText } from "./read-json.ts";
import { kindOfRoute, type Route } from "./routes.ts";

interface ReadRequest extends Pick<Call, "unreadable"> {
  readonly message: Message;
}

export interface RequestReaderOptions extends PlainReaderOptions {
  readonly beginWork: BeginWork;
  readonly bodies: BodyBudget;
}

/** The returned reader rejects with a KibitzError, or with ClientDisconnected if the client disconnects. */
export function createRequestReader(
  route: Route,
  options: RequestReaderOptions,
): (req: NodeRequest, admitted: AdmittedCall, call: ReadCall) => Promise<ReadRequest> {
  const { method, body } = route;
  if (!body) {
    const readPlain = createPlainReader(method, options);
    const readQuery = createQueryReader(method.input);
    return async ({ url = "" }, _, call) => ({
      message: await readPlain(readQuery(queryOf(url)), call),
    });
  }

  const maxBytes = readMaxBytesOf(method);
  const textOf = (req: NodeRequest, admitted: AdmittedCall) =>
    readJsonText(req, admitted, maxBytes, options.bodies);
  const wanted = `a JSON object such as ${JSON.stringify(exampleOf(method.input))}`;
  if (kindOfRoute(route) !== "batch") {
    const readPlain = createPlainReader(method, options);
    return async (req, admitted, call) => {
      const sent = readJsonObject(await textOf(req, admitted), wanted);
      return { message: await readPlain(sent, call) };
    };
  }

  const readBatch = createBatchReader(method, options, wanted);
  return async (req, admitted, call) => {
    const text = await textOf(req, admitted);
    // Check regularly, because other requests of the same caller may be rejected while this batch is read.
    const turn = options.beginWork(() => {
      call.signal.throwIfAborted();
      admitted.check();
    });
    return readBatch(text, call, turn);
  };
}

/** The maximum number of keys, values and lists in a batch. The largest batch of normal requests has 170,000. */
const partsMax = 200_000;

/** Replaces an invalid item with an empty request and adds the item to `unreadable`, so that only this item gets an error. */
function createBatchReader(
  method: DescMethod,
  options: PlainReaderOptions,
  wanted: string,
): (text: string, call: ReadCall, turn: Turn) => Promise<ReadRequest> {
  const list = listOfBatch(method);
  const readFrame = createMessageReader(method.input);
  const readItem = createMessageReader(list.message);
  const nothing = create(list.message);

  const itemsOf = (sent: Plain): readonly unknown[] => {
    const given = sent[list.name];
    return Array.isArray(given) ? given : [];
  };
  /** Checks the batch itself. Each item is replaced by an empty item before this check. */
  const readWhole = createPlainReader(method, options, (json) => {
    const sent = json as Plain;
    const items = itemsOf(sent);
    const reading = readFrame(items.length > 0 ? { ...sent, [list.name]: [] } : sent);
    Object.assign(reading.message, { [list.localName]: items.map(() => nothing) });
    return reading;
  });

  async function read(text: string, call: ReadCall, turn: Turn): Promise<ReadRequest> {
    await turn();
    const count = boundJson(text, method, partsMax);
    await turn();
    const sent = parseJsonObject(text, count, wanted);
    // For a long batch, the error contains no suggested request.
    const message = await readWhole(sent, call, text.length <= requestMaxBytes);
    const messages: Message[] = [];
    const unreadable = new Map<number, string>();
    for (const [index, item] of itemsOf(sent).entries()) {
      await turn();
      const { message, violations } = readItem(item);
      if (violations.length === 0) {
        messages.push(message);
      } else {
        messages.push(nothing);
        unreadable.set(index, JSON.stringify(item));
      }
    }
    Object.assign(message, { [list.localName]: messages });
    return { message, unreadable };
  }

  /** Batches are parsed one after the other, because a parsed batch needs up to 22 times as much memory as its text. */
  let lastReading: Promise<unknown> = Promise.resolve();

  return (text, call, turn) => {
    const reading = lastReading.then(() => read(text, call, turn));
    // Discard the result, which would otherwise stay in memory until the next batch.
    lastReading = reading.then(
      () => {},
      () => {},
    );
    return reading;
  };
}

const positions: Readonly<Record<string, string>> = { fen: "startpos", pgn: "1. e4 e5" };

/** Returns a short example of a valid request. */
export function exampleOf({ fields }: DescMessage): Plain {
  for (const { name, message, fieldKind } of fields) {
    const position = positions[name];
    if (position !== undefined) {
      return { [name]: position };
    }
    if (fieldKind === "list" && message) {
      return { [name]: [exampleOf(message)] };
    }
  }
  return {};
}

/** Converts a query to plain JSON. Repeated parameters become an array. Invalid values are rejected later. */
export function createQueryReader(desc: DescMessage): (query: string) => Plain {
  const fields = new Map(desc.fields.map((field) => [field.name, field]));
  return (query) => {
    // In an object without a prototype, `__proto__` is a name like any other.
    const values: Record<string, unknown> = Object.create(null);
    for (const [name, text] of query === "" ? [] : new URLSearchParams(query)) {
      const field = fields.get(name);
      const value = valueFromText(text, field?.scalar);
      const earlier = values[name];
      if (Array.isArray(earlier)) {
        earlier.push(value);
      } else if (earlier !== undefined) {
        values[name] = [earlier, value];
      } else {
        values[name] = field?.fieldKind === "list" ? [value] : value;
      }
    }
    return values;
  };
}

/** Matches an integer without plus sign, leading zero, fraction or exponent. */
const integer = /^(?:0|-?[1-9]\d*)$/;

function valueFromText(text: string, type: ScalarType | undefined): unknown {
  switch (type) {
    case undefined:
    case ScalarType.STRING:
      return text;
    case ScalarType.BOOL:
      return text === "true" ? true : text === "false" ? false : text;
    default:
      return integer.test(text) ? Number(text) : text;
  }
}
