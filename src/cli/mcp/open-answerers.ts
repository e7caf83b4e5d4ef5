import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  Message,
  MessageInitShape,
} from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { localAccount } from "../../access/account.ts";
import type { Calls } from "../../calls/register.ts";
import type { Rulebook } from "../../calls/rulebook.ts";
import { createRules } from "../../calls/rules.ts";
import { KibitzError } from "../../errors/errors.ts";
import { createPlainCalls, type PlainCalls } from "../../protocols/json/plain-calls.ts";
import { costOf } from "../../services/admission.ts";
import { createRulebook } from "../../services/rulebook.ts";
import { createTimeSlicer } from "../../thread/event-loop.ts";
import { ConfigError } from "../../wiring/config.ts";
import type { CommandInput } from "../command.ts";
import type { Local } from "../open-local.ts";
import type { RemoteAddress } from "../remote-address.ts";
import { UnreachableError } from "../remote-error.ts";

/** What answers the tools of this process. */
export interface OpenedAnswerers extends AsyncDisposable {
  readonly plain: PlainCalls;
  readonly rulebook: Rulebook;
}

/** Moves are played in this process, whoever searches: nobody counts them. */
const openRulebook = () =>
  createRulebook({
    beginWork: createTimeSlicer(),
    gate: { async admitRules() {}, async refuseUsedUp() {} },
  });

/** Engines of this process. They start with the first call that needs one: many sessions have none. */
export function openHere({ host, signal }: Pick<CommandInput, "host" | "signal">): OpenedAnswerers {
  const leaving = new AbortController();
  let opening: Promise<Local> | undefined;
  const local = async () => {
    opening ??= import("../open-local.ts").then(({ openLocal }) =>
      openLocal(host, AbortSignal.any([signal, leaving.signal]), { stores: true }),
    );
    try {
      return await opening;
    } catch (thrown) {
      // What was in the way may be gone the next time.
      opening = undefined;
      throw told(thrown);
    }
  };
  const calls: Calls = {
    unary: (method) => async (message, call) => (await local()).calls.unary(method)(message, call),
    stream: (method) =>
      async function* (message, call) {
        yield* (await local()).calls.stream(method)(message, call);
      },
  };
  return {
    plain: createPlainCalls({
      calls,
      faultsOf: createRules(),
      judge: async (message, method) => (await local()).judge.message(message, method, localAccount),
      costOf,
    }),
    rulebook: openRulebook(),
    async [Symbol.asyncDispose]() {
      leaving.abort(new Error("the client left"));
      // Where they could not be opened, that has been told.
      const opened = await opening?.catch(() => undefined);
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

/** A running service. */
export async function openThere(address: RemoteAddress): Promise<OpenedAnswerers> {
  const { openRemote } = await import("../open-remote.ts");
  const remote = openRemote(address);
  return {
    plain: createPlainCalls({
      calls: callsOver(remote.transport),
      faultsOf: createRules(),
      // What the service suggests stands in its errors; nothing else is known to be answered there.
      judge: () => Promise.reject(new KibitzError("internal", "Only the service knows what it answers.")),
      costOf,
    }),
    rulebook: openRulebook(),
    async [Symbol.asyncDispose]() {
      remote[Symbol.dispose]();
    },
  };
}

function callsOver(transport: Transport): Calls {
  return {
    unary:
      (method) =>
      async (message, { signal }) => {
        try {
          const input = message as MessageInitShape<typeof method.input>;
          const answer = await transport.unary(
            method as DescMethodUnary,
            signal,
            undefined,
            undefined,
            input,
          );
          return answer.message;
        } catch (thrown) {
          throw told(thrown);
        }
      },
    stream: (method) =>
      async function* (message, { signal }) {
        // The transport does not hand on that nobody reads any more.
        const left = new AbortController();
        const either = AbortSignal.any([signal, left.signal]);
        try {
          const answer = await transport.stream(
            method as DescMethodServerStreaming,
            either,
            undefined,
            undefined,
            onlyOne(message),
          );
          yield* answer.message;
        } catch (thrown) {
          throw told(thrown);
        } finally {
          left.abort(new Error("the reader left"));
        }
      },
  };
}

async function* onlyOne(message: Message): AsyncGenerator<Message> {
  yield message;
}

/** What whoever started this can mend is told as it is; a model may pass it on. */
function told(thrown: unknown): unknown {
  return thrown instanceof UnreachableError || thrown instanceof ConfigError
    ? new KibitzError("internal", thrown.message, { cause: thrown })
    : thrown;
}
