import type { Interceptor } from "@connectrpc/connect";
import type { Log } from "../log.ts";
import { logCalls } from "./interceptors/log-calls.ts";
import { refuseCredentials } from "./interceptors/refuse-credentials.ts";
import { validate } from "./interceptors/validate.ts";
import type { Rules } from "./rules.ts";

/** The one chain for every door, outermost first. */
export function createChain(rules: Rules, log: Log): readonly Interceptor[] {
  return [logCalls(log), refuseCredentials(), validate(rules)];
}
