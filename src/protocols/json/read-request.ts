import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import type { Account } from "../../access/account.ts";
import type { Entry } from "../../access/entrance.ts";
import { type PreflightMessage, withSuggestion } from "../../calls/suggest.ts";
import {
  errorFromFaults,
  errorFromUnknown,
  type Fault,
  type KibitzError,
  withCost,
} from "../../errors/errors.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import type { NodeRequest } from "../../http/message.ts";
import { isAtOrBelow } from "../../text/json-pointer.ts";
import type { BeginWork } from "../../thread/event-loop.ts";
import { createMessageReader, type MessageReading } from "./codec/read-message.ts";
import { createJsonReader, describeBody } from "./read-json.ts";
import { createQueryReader } from "./read-query.ts";
import type { Route } from "./routes.ts";

/** The message of a request; or nobody waits for an answer any more. */
export type RequestReading =
  | {
      readonly kind: "request";
      readonly message: Message;
      /** What its call threw as the error for its caller, with a request that would be answered if there is one. */
      explain(thrown: unknown): Promise<KibitzError>;
    }
  | { readonly kind: "left" };

export interface RequestReaderOptions {
  /**
   * Faults of a message by the rules of its proto, with JSON pointers. Asked only where the reader has
   * found faults already, to report all at once: behind the gateway every message is checked anyway.
   */
  readonly faultsOf: (message: Message, desc: DescMessage) => readonly Fault[];
  /** Asked only where a request was refused: no other is suggested that would be, too. */
  readonly judge: PreflightMessage;
  /** What the refusal of a request counts for. */
  readonly costOf: (message: Message) => number;
  /** Slices of the thread, for what takes long to read. */
  readonly beginWork: BeginWork;
  /** Greatest body of a method, before and after inflation. */
  readonly readMaxBytesOf: (method: DescMethod) => number;
  /** What all bodies together may take while they are read. */
  readonly bodies: BodyBudget;
}

/** What has been read of a request, with what explains its refusals. */
export type ReadRequest = Extract<RequestReading, { readonly kind: "request" }>;

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
  const explainRefusal = createExplainRefusal(method, readMessage, options.judge);

  return async (sent, account) => {
    const { message, faults } = readMessage(sent);
    const explain = (thrown: unknown) => explainRefusal(thrown, sent, account);
    if (faults.length === 0) {
      return { kind: "request", message, explain };
    }
    const byRules = options
      .faultsOf(message, desc)
      .filter(({ pointer }) => !faults.some((fault) => isAtOrBelow(pointer, fault.pointer)));
    const error = withCost(errorFromFaults([...faults, ...byRules]), options.costOf(message));
    throw await explain(error);
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
  const readJson = createJsonReader(describeBody(desc), maxBytes, options);
  return async (req, entry) => {
    const json = await readJson(req, entry);
    return json.kind === "left" ? json : requestFrom(json.sent, entry.account);
  };
}

/** What was thrown at a request as the error for its caller, with a request that would be answered if there is one. */
export type ExplainRefusal = (
  thrown: unknown,
  sent: Readonly<Record<string, unknown>>,
  account: Account,
) => Promise<KibitzError>;

/** @param read the reader of such requests. */
export function createExplainRefusal(
  method: DescMethod,
  read: (json: Readonly<Record<string, unknown>>) => MessageReading,
  judge: PreflightMessage,
): ExplainRefusal {
  return (thrown, sent, account) =>
    withSuggestion(errorFromUnknown(thrown), sent, async (candidate) => {
      const { message, faults } = read(candidate);
      if (faults.length > 0) {
        throw errorFromFaults(faults);
      }
      await judge(message, method, account);
    });
}
