import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Account } from "../../access/account.ts";
import type { Entry } from "../../access/entrance.ts";
import { createMessageReader } from "../../calls/plain/read-message.ts";
import type { Rules } from "../../calls/rules.ts";
import { createSuggest, type PreflightMessage } from "../../calls/suggest.ts";
import { errorFromFaults, type KibitzError, withCost } from "../../errors/errors.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import type { NodeRequest } from "../../http/message.ts";
import type { BeginWork } from "../../thread/event-loop.ts";
import { createJsonReader, describeBody } from "./read-json.ts";
import { createQueryReader } from "./read-query.ts";
import type { Route } from "./routes.ts";

/** The message of a request, or `left`: the client has disconnected. */
export type RequestReading =
  | {
      readonly kind: "request";
      readonly message: Message;
      /** Makes the error for the caller of what its call threw, with a suggested request if there is one. */
      explain(thrown: unknown): Promise<KibitzError>;
    }
  | { readonly kind: "left" };

export interface RequestReaderOptions {
  /** Is called only if a request cannot be read, to report all its violations at once. The middleware checks every message. */
  readonly faultsOf: Rules;
  /** Is called only if a request was refused, to suggest none that would be refused, too. */
  readonly judge: PreflightMessage;
  /** Returns how many times the refusal of a request counts in the error quota. */
  readonly costOf: (message: Message) => number;
  /** Slices of the thread, for what takes long to read. */
  readonly beginWork: BeginWork;
  /** Greatest body of a method, before and after inflation. */
  readonly readMaxBytesOf: (method: DescMethod) => number;
  /** The memory for all bodies while they are read. */
  readonly bodies: BodyBudget;
}

/** A request that was read, with the function that explains its refusals. */
type ReadRequest = Extract<RequestReading, { readonly kind: "request" }>;

/**
 * The reader of requests of a method that are plain JSON already. It rejects with a KibitzError for what is no such request,
 * with one that would be answered if there is one.
 */
export function createPlainReader(
  method: DescMethod,
  options: Pick<RequestReaderOptions, "faultsOf" | "judge" | "costOf">,
): (sent: Readonly<Record<string, unknown>>, account: Account) => Promise<ReadRequest> {
  const desc = method.input;
  const readMessage = createMessageReader(desc);
  const suggest = createSuggest(method, options.judge, readMessage);

  return async (sent, account) => {
    const { message, faults } = readMessage(sent);
    const explain = (thrown: unknown) => suggest(thrown, sent, account);
    if (faults.length === 0) {
      return { kind: "request", message, explain };
    }
    const error = errorFromFaults(options.faultsOf(message, desc, faults));
    throw await explain(withCost(error, options.costOf(message)));
  };
}

/** The reader of the requests of a route, whatever its answers look like. It throws a KibitzError for what cannot be read. */
export function createRequestReader(
  { method, body }: Route,
  options: RequestReaderOptions,
): (req: NodeRequest, entry: Entry) => Promise<RequestReading> {
  const desc = method.input;
  const requestFrom = createPlainReader(method, options);

  if (!body) {
    const readQuery = createQueryReader(desc);
    return async ({ url = "" }, { account }) => {
      const query = url.indexOf("?");
      return requestFrom(readQuery(query === -1 ? "" : url.slice(query + 1)), account);
    };
  }

  const maxBytes = options.readMaxBytesOf(method);
  const readJson = createJsonReader(describeBody(desc), maxBytes, options.bodies);
  return async (req, entry) => {
    const json = await readJson(req, entry);
    return json.kind === "left" ? json : requestFrom(json.sent, entry.account);
  };
}
