import { create, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { localAccount } from "../access/account.ts";
import type { CallContext, Calls } from "../calls/invoke.ts";
import { withSuggestion } from "../calls/suggest.ts";
import { localContext } from "../request/context.ts";
import type { Answering } from "./answering.ts";
import type { Host } from "./host.ts";
import { type Local, openLocal } from "./open-local.ts";
import { readRequest } from "./request-from-input.ts";

/** By the service in this process, whose engines start when they are needed: not for what no message can say. */
export function answerLocally(host: Host, signal: AbortSignal, stores: boolean): Answering {
  let opening: Promise<Local> | undefined;
  const local = () => {
    opening ??= openLocal(host, signal, { stores });
    return opening;
  };
  return {
    transport: transportTo(async () => (await local()).calls),
    suggest: (error, sent) =>
      withSuggestion(error, sent, async (plain) =>
        (await local()).judge.item(readRequest(plain), localAccount),
      ),
    async [Symbol.asyncDispose]() {
      // Whoever waited for them has been told if they did not open.
      const opened = await opening?.catch(() => undefined);
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

/** Hands messages over as they are: nothing is written and read again, and errors stay what they are. */
function transportTo(open: () => Promise<Calls>): Transport {
  return {
    async unary(method, signal, _timeoutMs, _header, input) {
      const calls = await open();
      const message = await calls.unary(method)(create(method.input, input), contextOf(signal));
      return { ...responseOf(method), stream: false, message: message as MessageShape<typeof method.output> };
    },
    async stream(method, signal, _timeoutMs, _header, inputs) {
      const calls = await open();
      for await (const input of inputs) {
        const messages = calls.stream(method)(create(method.input, input), contextOf(signal));
        return {
          ...responseOf(method),
          stream: true,
          message: messages as AsyncIterable<MessageShape<typeof method.output>>,
        };
      }
      throw new TypeError(`${method.name} was asked nothing`);
    },
  };
}

function contextOf(signal = new AbortController().signal): CallContext {
  return { request: localContext(), signal };
}

function responseOf<M extends DescMethod>(method: M) {
  return { service: method.parent, method, header: new Headers(), trailer: new Headers() };
}
