import type { DescMethod } from "@bufbuild/protobuf";
import type { Call } from "../../calls/call.ts";
import type { Calls } from "../../calls/create-calls.ts";
import { createPlainWriter } from "../../calls/plain/write-message.ts";
import { createPlainReader, type PlainReaderOptions } from "../../calls/read-plain.ts";
import { checkRules } from "../../calls/rules.ts";
import { refuseViolations } from "../../errors/errors.ts";
import type { Plain } from "../../text/json.ts";

/** Accepts and returns the same JSON as `/v1`, but without HTTP. All methods reject with KibitzErrors. */
export type PlainCalls = ReturnType<typeof createPlainCalls>;

export function createPlainCalls({ calls, ...options }: PlainReaderOptions & { readonly calls: Calls }) {
  const codecs = new Map<DescMethod, ReturnType<typeof createCodec>>();
  const createCodec = (method: DescMethod) => ({
    read: createPlainReader(method, options),
    write: createPlainWriter(method.output),
  });
  const codecOf = (method: DescMethod) => {
    const codec = codecs.get(method) ?? createCodec(method);
    codecs.set(method, codec);
    return codec;
  };
  return (context: Omit<Call, "method">) => ({
    async once(method: DescMethod, request: Plain): Promise<unknown> {
      const { read, write } = codecOf(method);
      const message = await read(request, context);
      return write(await calls.unary(method)(message, { ...context, method }));
    },
    /** In each yielded message, an unset field of a oneof is null. */
    async *stream(method: DescMethod, request: Plain): AsyncGenerator<unknown> {
      const { read, write } = codecOf(method);
      const message = await read(request, context);
      for await (const answer of calls.stream(method)(message, { ...context, method })) {
        yield write(answer);
      }
    },
    /** Validates the fields of a request without running the request. */
    async check(method: DescMethod, request: Plain): Promise<void> {
      const message = await codecOf(method).read(request, context);
      refuseViolations(checkRules(message, method.input));
    },
  });
}
