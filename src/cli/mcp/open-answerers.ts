import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  Message,
  MessageInitShape,
} from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { localAccount } from "../../access/account.ts";
import { createPlainCalls, type PlainCalls } from "../../calls/plain/plain-calls.ts";
import type { Calls } from "../../calls/register.ts";
import { createRulebook, type Rulebook } from "../../calls/rulebook.ts";
import { createRules } from "../../calls/rules.ts";
import { KibitzError } from "../../errors/errors.ts";
import { createTimeSlicer } from "../../thread/event-loop.ts";
import { ConfigError } from "../../wiring/config.ts";
import type { CommandInput } from "../command.ts";
import type { Local } from "../open-local.ts";
import type { RemoteAddress } from "../remote-address.ts";
import { UnreachableError } from "../remote-error.ts";

/** The answerers of the tools of this process. */
export interface OpenedAnswerers extends AsyncDisposable {
  readonly plain: PlainCalls;
  readonly rulebook: Rulebook;
}

/** This process plays moves itself, with and without `--url`. They count towards no limit. */
const openRulebook = () =>
  createRulebook({
    beginWork: createTimeSlicer(),
    gate: { async admitRules() {}, async refuseUsedUp() {} },
  });

/** Answers by engines of this process. They start with the first call that needs one: many sessions have none. */
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
      // The next call tries again.
      opening = undefined;
      throw readable(thrown);
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
    }),
    rulebook: openRulebook(),
    async [Symbol.asyncDispose]() {
      leaving.abort(new Error("the client left"));
      // If the engines could not be opened, the calls have reported it.
      const opened = await opening?.catch(() => undefined);
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

/** Answers by a running service. */
export async function openThere(address: RemoteAddress): Promise<OpenedAnswerers> {
  const { openRemote } = await import("../open-remote.ts");
  const remote = openRemote(address);
  return {
    plain: createPlainCalls({
      calls: callsOver(remote.transport),
      faultsOf: createRules(),
      // The errors of the service have its suggestions. This process knows of no other call that it would answer.
      judge: () => Promise.reject(new KibitzError("internal", "Only the service knows what it answers.")),
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
          throw readable(thrown);
        }
      },
    stream: (method) =>
      async function* (message, { signal }) {
        // The transport does not notice that its reader stops.
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
          throw readable(thrown);
        } finally {
          left.abort(new Error("the reader left"));
        }
      },
  };
}

async function* onlyOne(message: Message): AsyncGenerator<Message> {
  yield message;
}

/** Keeps the message of an error that the user of this process can fix, so that the model can pass it on. */
function readable(thrown: unknown): unknown {
  return thrown instanceof UnreachableError || thrown instanceof ConfigError
    ? new KibitzError("internal", thrown.message, { cause: thrown })
    : thrown;
}
