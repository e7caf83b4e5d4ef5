import { create, type DescMessage, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Account } from "../../access/account.ts";
import type { Call } from "../../calls/call.ts";
import type { Calls } from "../../calls/register.ts";
import { errorFromFaults } from "../../errors/errors.ts";
import { createMessageWriter } from "./codec/write-message.ts";
import { createPlainReader, type RequestReaderOptions } from "./read-request.ts";

type Plain = Readonly<Record<string, unknown>>;

/** Calls whose requests and answers are plain JSON, as `/v1` has them, without HTTP. They reject with KibitzErrors. */
export interface PlainCalls {
  /** @returns the answer, as it would be read from JSON */
  once(request: Plain, call: Call): Promise<unknown>;
  /**
   * @param leaveOut fields of what an envelope holds that nobody reads: they come empty, and cost nothing
   * @returns the messages, as they would be read from JSON: of an envelope, what is unset is null
   */
  stream(request: Plain, call: Call, leaveOut?: readonly string[]): AsyncIterable<unknown>;
  /** What is said of the fields of a request alone. */
  check(method: DescMethod, request: Plain, account: Account): Promise<void>;
  /**
   * What is said of a request until it is counted. Rejects with what such a call would reject with.
   */
  judge(method: DescMethod, request: Plain, account: Account): Promise<void>;
}

export interface PlainCallsOptions extends Pick<RequestReaderOptions, "faultsOf" | "judge" | "costOf"> {
  readonly calls: Calls;
}

export function createPlainCalls({ calls, ...options }: PlainCallsOptions): PlainCalls {
  const made = new Map<DescMethod, ReturnType<typeof codecOf>>();
  /** What depends on a descriptor is made once, when it is first needed. */
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
    async *stream(request, call, leaveOut = []) {
      const { method, account } = call;
      const { read, write } = codec(method);
      const { message, explain } = await read(request, account);
      try {
        for await (const answer of calls.stream(method)(message, call)) {
          yield write(leaveOut.length === 0 ? answer : lean(answer, method.output, leaveOut));
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
      const { message } = await codec(method).read(request, account);
      await options.judge(message, method, account);
    },
  };
}

function codecOf(method: DescMethod, options: Omit<PlainCallsOptions, "calls">) {
  const write = createMessageWriter(method.output);
  return {
    read: createPlainReader(method, options),
    write: (message: Message): unknown => JSON.parse(write(message)),
  };
}

/** A message whose chosen one lacks these fields. */
function lean(message: Message, { oneofs }: DescMessage, names: readonly string[]): Message {
  const copy: Message & Record<string, unknown> = { ...message };
  for (const { localName, fields } of oneofs) {
    const { case: chosen, value } = copy[localName] as { readonly case?: string; readonly value?: object };
    const inner = fields.find((field) => field.localName === chosen)?.message;
    if (inner) {
      const empty: Message & Record<string, unknown> = create(inner);
      const left = inner.fields.filter(({ name }) => names.includes(name));
      const blank = Object.fromEntries(left.map((field) => [field.localName, empty[field.localName]]));
      copy[localName] = { case: chosen, value: { ...value, ...blank } };
    }
  }
  return copy;
}
