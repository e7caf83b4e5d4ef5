import type { HandlerContext } from "@connectrpc/connect";
import { type Entrance, tellWindows } from "../access/entrance.ts";
import type { Limits } from "../access/limits.ts";
import { errorFromUnknown } from "../errors/errors.ts";
import { connectErrorFrom } from "./connect-error.ts";
import { accountKey, callerKey } from "./context-keys.ts";
import { isCounted } from "./counted-calls.ts";
import type { Admittance } from "./routes.ts";

/** Lets calls in through Connect's handlers: what they ask before they read anything of a body. */
export function createAdmittance(entrance: Entrance, limits: Limits): Admittance {
  async function letIn({ values, method, responseHeader }: HandlerContext): Promise<void> {
    const caller = values.get(callerKey);
    const isLimited = isCounted(method);
    try {
      const { account } = await entrance.enter(caller, isLimited);
      values.set(accountKey, account);
      if (isLimited) {
        // Beforehand: of the errors that Connect itself makes nobody can tell later.
        await tellWindows(limits, account, caller);
      }
    } catch (thrown) {
      const error = errorFromUnknown(thrown);
      caller.ending.code = error.code;
      throw connectErrorFrom(error, caller.requestId);
    } finally {
      for (const [name, value] of caller.answerHeaders) {
        responseHeader.set(name, value);
      }
    }
  }

  return {
    letIn,
    async refusing(caller, method, error) {
      const entry = await entrance.enter(caller, isCounted(method));
      await entry.refused(error);
    },
    countRefusal(error, { values, method }) {
      if (isCounted(method)) {
        limits.refusals.count(values.get(accountKey), error, values.get(callerKey).ending.readBytes);
      }
    },
  };
}
