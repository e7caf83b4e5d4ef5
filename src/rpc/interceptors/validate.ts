import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { errorFromFaults } from "../../errors/errors.ts";
import type { Rules } from "../rules.ts";

/** Refuses requests that break the rules of the proto, before any service method sees them. */
export function validate(rules: Rules): Interceptor {
  const check = (method: DescMethod, message: Message) => {
    const faults = rules(message, method.input);
    if (faults.length > 0) {
      throw errorFromFaults(faults);
    }
  };
  return (next) => (request) => {
    if (!request.stream) {
      check(request.method, request.message);
      return next(request);
    }
    // A stream's messages come one by one, when they are read.
    const { method, message: messages } = request;
    const message = (async function* () {
      for await (const one of messages) {
        check(method, one);
        yield one;
      }
    })();
    return next({ ...request, message });
  };
}
