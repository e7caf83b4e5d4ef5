import type { DescMethod } from "@bufbuild/protobuf";
import { createPlainWriter } from "../../calls/plain/write-message.ts";
import type { PlainCalls } from "../../calls/plain-calls.ts";
import type { Calls } from "../../calls/register.ts";
import { errorFromFaults } from "../../errors/errors.ts";
import { createPlainReader, type PlainReaderOptions } from "./read-plain.ts";

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
