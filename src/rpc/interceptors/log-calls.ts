import { ConnectError, type Interceptor } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { errorFromUnknown } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { callerKey } from "../caller-key.ts";

/** One line a call: who asked what through which door, how it ended and how long it took. */
export function logCalls(log: Log): Interceptor {
  return (next) => async (request) => {
    const { requestId, door } = request.contextValues.get(callerKey);
    const startedAt = performance.now();
    const fields = () => ({
      requestId,
      door,
      method: request.method.name,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
    });
    try {
      const response = await next(request);
      log.info({ ...fields(), code: "ok" }, "call");
      return response;
    } catch (thrown) {
      const code = thrown instanceof ConnectError ? codeToString(thrown.code) : errorFromUnknown(thrown).code;
      if (code === "internal") {
        log.error({ ...fields(), code, err: thrown }, "call");
      } else {
        log.info({ ...fields(), code }, "call");
      }
      throw thrown;
    }
  };
}
