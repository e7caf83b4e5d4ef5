import type { Interceptor } from "@connectrpc/connect";
import { outcomeKey, requestKey } from "../../src/calls/context-keys.ts";
import { createOutcome, localContext } from "../../src/request/context.ts";

/** Stands in for the edge, in front of a service that no server is in front of. */
export const fromThisProcess: Interceptor = (next) => (request) => {
  request.contextValues.set(requestKey, localContext()).set(outcomeKey, createOutcome());
  return next(request);
};
