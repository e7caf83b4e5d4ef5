import type { Interceptor } from "@connectrpc/connect";
import type { Access } from "../access/access.ts";
import type { Log } from "../log/log.ts";
import { leaveEtag } from "./interceptors/leave-etag.ts";
import { logCalls } from "./interceptors/log-calls.ts";
import { tellLimits } from "./interceptors/tell-limits.ts";
import { validate } from "./interceptors/validate.ts";
import type { Rules } from "./rules.ts";

/** The one chain for every door, outermost first. Who calls is known before: `access/entrance`. */
export function createChain(
  access: Access,
  rules: Rules,
  log: Log,
  showAddress: (address: string) => string | undefined,
): readonly Interceptor[] {
  return [logCalls(log, showAddress), tellLimits(access.limits), validate(rules), leaveEtag()];
}

/**
 * The chain for health and reflection. Nobody looks who asks them: whoever watches a server must see that it lives
 * also with a key that was revoked. Nothing is counted, their protos have no rules, and as health checks come every
 * second, the log is not for them.
 */
export function createToolChain(log: Log): readonly Interceptor[] {
  return [logCalls(log, () => undefined, "debug")];
}
