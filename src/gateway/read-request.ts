import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import type { Caller } from "../caller.ts";
import { errorFromFaults, type Fault, type KibitzError } from "../errors/errors.ts";
import { requiredFields } from "../field-rules.ts";
import type { BodyBudget } from "../server/body-budget.ts";
import type { NodeRequest } from "../server/node-message.ts";
import { isAtOrBelow } from "../text/json-pointer.ts";
import { createMessageReader } from "./codec/read-message.ts";
import { createExplainRefusal, type JudgeMessage } from "./explain-refusal.ts";
import { createJsonReader } from "./read-json.ts";
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
  readonly judge: JudgeMessage;
  /** Greatest body of a method, before and after inflation. */
  readonly readMaxBytesOf: (method: DescMethod) => number;
  /** What all bodies together may take while they are read. */
  readonly bodies: BodyBudget;
}

/** The reader of the requests of a route, whatever its answers look like. It throws a KibitzError for what cannot be read. */
export function createRequestReader(
  { method, body }: Route,
  options: RequestReaderOptions,
): (req: NodeRequest, caller: Caller) => Promise<RequestReading> {
  const desc = method.input;
  const readMessage = createMessageReader(desc);
  const explainRefusal = createExplainRefusal(method, readMessage, options.judge);

  async function requestFrom(
    sent: Readonly<Record<string, unknown>>,
    caller: Caller,
  ): Promise<RequestReading> {
    const { message, faults } = readMessage(sent);
    const explain = (thrown: unknown) => explainRefusal(thrown, sent, caller);
    if (faults.length === 0) {
      return { kind: "request", message, explain };
    }
    const byRules = options
      .faultsOf(message, desc)
      .filter(({ pointer }) => !faults.some((fault) => isAtOrBelow(pointer, fault.pointer)));
    throw await explain(errorFromFaults([...faults, ...byRules]));
  }

  if (!body) {
    const readQuery = createQueryReader(desc);
    return async ({ url = "" }, caller) => {
      const query = url.indexOf("?");
      return requestFrom(readQuery(query === -1 ? "" : url.slice(query + 1)), caller);
    };
  }

  const readJson = createJsonReader(requiredFields(desc), options.readMaxBytesOf(method), options.bodies);
  return async (req, caller) => {
    const json = await readJson(req);
    return json.kind === "left" ? json : requestFrom(json.sent, caller);
  };
}
