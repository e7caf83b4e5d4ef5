import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import { errorFromFaults, type Fault, KibitzError } from "../errors.ts";
import { requiredFields } from "../field-rules.ts";
import { isAtOrBelow } from "../json-pointer.ts";
import type { BodyBudget } from "../server/body-budget.ts";
import type { NodeRequest } from "../server/node-message.ts";
import { createJsonReader } from "./read-json.ts";
import { createMessageReader } from "./read-message.ts";
import { createQueryReader } from "./read-query.ts";
import type { Route } from "./routes.ts";
import { suggestRequest } from "./suggest-request.ts";

/** The message of a request and the plain JSON that it was; or nobody waits for an answer any more. */
export type RequestReading =
  | { readonly kind: "request"; readonly message: Message; readonly sent: Readonly<Record<string, unknown>> }
  | { readonly kind: "left" };

export interface RequestReaderOptions {
  /**
   * Faults of a message by the rules of its proto, with JSON pointers. Asked only where the reader has
   * found faults already, to report all at once: behind the gateway every message is checked anyway.
   */
  readonly faultsOf: (message: Message, desc: DescMessage) => readonly Fault[];
  /** Greatest body of a method, before and after inflation. */
  readonly readMaxBytesOf: (method: DescMethod) => number;
  /** What all bodies together may take while they are read. */
  readonly bodies: BodyBudget;
}

/** The reader of the requests of a route, whatever its answers look like. It throws a KibitzError for what cannot be read. */
export function createRequestReader(
  route: Route,
  options: RequestReaderOptions,
): (req: NodeRequest) => Promise<RequestReading> {
  const desc = route.method.input;
  const readMessage = createMessageReader(desc);

  const requestFrom = (sent: Readonly<Record<string, unknown>>): RequestReading => {
    const { message, faults } = readMessage(sent);
    if (faults.length === 0) {
      return { kind: "request", message, sent };
    }
    const byRules = options
      .faultsOf(message, desc)
      .filter(({ pointer }) => !faults.some((fault) => isAtOrBelow(pointer, fault.pointer)));
    throw withSuggestion(errorFromFaults([...faults, ...byRules]), sent);
  };

  if (!route.body) {
    const readQuery = createQueryReader(desc);
    return async ({ url = "" }) => {
      const query = url.indexOf("?");
      return requestFrom(readQuery(query === -1 ? "" : url.slice(query + 1)));
    };
  }

  const readJson = createJsonReader(
    requiredFields(desc),
    options.readMaxBytesOf(route.method),
    options.bodies,
  );
  return async (req) => {
    const json = await readJson(req);
    return json.kind === "left" ? json : requestFrom(json.sent);
  };
}

/** The same error with a request that would pass, where moving what is too much into its bounds is all that it takes. */
export function withSuggestion(error: KibitzError, sent: Readonly<Record<string, unknown>>): KibitzError {
  if (error.suggestedRequest || error.faults.length === 0) {
    return error;
  }
  const suggestedRequest = suggestRequest(sent, error.faults);
  if (suggestedRequest === undefined) {
    return error;
  }
  const { code, message, faults, upgrade, nextAction } = error;
  return new KibitzError(code, message, {
    faults,
    suggestedRequest,
    ...(upgrade && { upgrade }),
    // A key is the better way.
    ...(nextAction === "get_api_key" && { nextAction }),
    cause: error,
  });
}
