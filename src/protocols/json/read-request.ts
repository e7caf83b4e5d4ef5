import type { DescMessage } from "@bufbuild/protobuf";
import type { Entry } from "../../access/entrance.ts";
import { readMaxBytesOf } from "../../calls/policy.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import type { NodeRequest } from "../../http/message.ts";
import { outcomeOf, refuseLeft } from "../../request/context.ts";
import type { BeginWork } from "../../thread/event-loop.ts";
import { readJsonObject } from "./json-text.ts";
import { createBatchReader } from "./read-batch.ts";
import { queryOf, readJsonText } from "./read-json.ts";
import { createPlainReader, type PlainReaderOptions, type ReadRequest } from "./read-plain.ts";
import { createQueryReader } from "./read-query.ts";
import { kindOfRoute, type Route } from "./routes.ts";

type Plain = Readonly<Record<string, unknown>>;

export interface RequestReaderOptions extends PlainReaderOptions {
  /** Slices of the thread, for what takes long to read. */
  readonly beginWork: BeginWork;
  /** The memory for all bodies while they are read. */
  readonly bodies: BodyBudget;
}

/** The reader of the requests of a route. It rejects with a KibitzError, or with CallerLeft if the client disconnects. */
export function createRequestReader(
  route: Route,
  options: RequestReaderOptions,
): (req: NodeRequest, entry: Entry) => Promise<ReadRequest> {
  const { method, body } = route;
  if (!body) {
    const readPlain = createPlainReader(method, options);
    const readQuery = createQueryReader(method.input);
    return async ({ url = "" }, { account }) => readPlain(readQuery(queryOf(url)), account);
  }

  const maxBytes = readMaxBytesOf(method);
  const textOf = (req: NodeRequest, entry: Entry) => readJsonText(req, entry, maxBytes, options.bodies);
  const wanted = `a JSON object such as ${JSON.stringify(exampleOf(method.input))}`;
  if (kindOfRoute(route) !== "batch") {
    const readPlain = createPlainReader(method, options);
    return async (req, entry) => readPlain(readJsonObject(await textOf(req, entry), wanted), entry.account);
  }

  const readBatch = createBatchReader(method, options, wanted);
  return async (req, entry) => {
    const text = await textOf(req, entry);
    // While the batch is read, other requests of the same caller may be refused.
    const turn = options.beginWork(() => {
      refuseLeft(outcomeOf(req));
      entry.check();
    });
    return readBatch(text, entry.account, turn);
  };
}

const positions: Readonly<Record<string, string>> = { fen: "startpos", pgn: "1. e4 e5" };

/** A short request that is answered: the first field of those that hold a position, a game or other requests. */
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
