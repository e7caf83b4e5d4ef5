import type { DescMethod } from "@bufbuild/protobuf";
import type { Account } from "../../access/account.ts";
import type { Call } from "../../calls/call.ts";
import { createPlainWriter } from "../../calls/plain/write-message.ts";
import type { Calls } from "../../calls/register.ts";
import { errorFromFaults } from "../../errors/errors.ts";
import { createPlainReader, type PlainReaderOptions } from "./read-plain.ts";

type Plain = Readonly<Record<string, unknown>>;

/** Calls whose requests and answers are plain JSON, as `/v1` has them, without HTTP. They reject with KibitzErrors. */
export interface PlainCalls {
  /** @returns the answer, as it would be read from JSON */
  once(request: Plain, call: Call): Promise<unknown>;
  /** @returns the messages, as they would be read from JSON: null for each field of a oneof that is not set */
  stream(request: Plain, call: Call): AsyncIterable<unknown>;
  /** Checks the fields of a request alone. */
  check(method: DescMethod, request: Plain, account: Account): Promise<void>;
  /** Checks a request as its call would until it is counted. */
  judge(method: DescMethod, request: Plain, account: Account): Promise<void>;
}

interface PlainCallsOptions extends PlainReaderOptions {
  readonly calls: Calls;
}

export function createPlainCalls({ calls, ...options }: PlainCallsOptions): PlainCalls {
  const made = new Map<DescMethod, ReturnType<typeof codecOf>>();
  const codec = (method: DescMethod) => {
    const known = made.get(method) ?? codecOf(method, options);
    made.set(method, known);
    return known;
  };
  return {
    async once(request, call) {
      const { method, account } = call;
      const { read, write } = codec(method);
      const { message, explain } = await read(request, account);
      try {
        return write(await calls.unary(method)(message, call));
      } catch (thrown) {
        throw await explain(thrown);
      }
    },
    async *stream(request, call) {
      const { method, account } = call;
      const { read, write } = codec(method);
      const { message, explain } = await read(request, account);
      try {
        for await (const answer of calls.stream(method)(message, call)) {
          yield write(answer);
        }
      } catch (thrown) {
        throw await explain(thrown);
      }
    },
    async check(method, request, account) {
      const { read } = codec(method);
      const { message, explain } = await read(request, account);
      const faults = options.faultsOf(message, method.input);
      if (faults.length > 0) {
        throw await explain(errorFromFaults(faults));
      }
    },
    async judge(method, request, account) {
      const { message } = await codec(method).read(request, account, false);
      await options.judge(message, method, account);
    },
  };
}

function codecOf(method: DescMethod, options: Omit<PlainCallsOptions, "calls">) {
  return { read: createPlainReader(method, options), write: createPlainWriter(method.output) };
}
