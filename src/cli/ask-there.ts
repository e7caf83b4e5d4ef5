import http from "node:http";
import https from "node:https";
import { createConnectTransport } from "@connectrpc/connect-node";
import { KibitzError } from "../errors/errors.ts";
import { after } from "../time/time.ts";
import type { RemoteAddress } from "./remote-address.ts";
import { errorFromRemote, UnreachableError } from "./remote-error.ts";
import { readSendable } from "./request-from-input.ts";
import type { Target } from "./target.ts";

interface RemoteTimes {
  readonly connectMaxMs: number;
  /**
   * A call is aborted if the service sends no message for this time. The longest search with its wait in the queue takes less
   * time.
   */
  readonly silenceMaxMs: number;
}

const defaultTimes: RemoteTimes = { connectMaxMs: 10_000, silenceMaxMs: 180_000 };

/** Calls a running service. To end a stream early, abort its signal, because Connect does not cancel the request. */
export function askThere({ url, key, trace }: RemoteAddress, times: Partial<RemoteTimes> = {}): Target {
  const { connectMaxMs, silenceMaxMs } = { ...defaultTimes, ...times };
  const agent = createAgent(url, connectMaxMs);
  const begin = (caller: AbortSignal | undefined) => beginCall(url, caller, silenceMaxMs);
  const transport = createConnectTransport({
    baseUrl: url,
    // Use HTTP/1.1, because every proxy speaks it.
    httpVersion: "1.1",
    nodeOptions: {
      agent,
      headers: { ...trace, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    },
  });
  return {
    transport: {
      async unary(method, signal, ...rest) {
        using call = begin(signal);
        try {
          return await transport.unary(method, call.signal, ...rest);
        } catch (thrown) {
          throw call.explain(thrown);
        }
      },
      async stream(method, signal, ...rest) {
        const call = begin(signal);
        try {
          const response = await transport.stream(method, call.signal, ...rest);
          return { ...response, message: call.read(response.message) };
        } catch (thrown) {
          const explained = call.explain(thrown);
          call[Symbol.dispose]();
          throw explained;
        }
      },
    },
    host: new URL(url).host,
    // Do not validate the request here, because the rules of a newer service can differ.
    read: async (sent) => readSendable(sent),
    validate: () => Promise.reject(new KibitzError("internal", "Only the service knows what it answers.")),
    async [Symbol.asyncDispose]() {
      agent.destroy();
    },
  };
}

/** A call that is aborted if the service sends nothing for too long. */
interface RemoteCall extends Disposable {
  readonly signal: AbortSignal;
  read<T>(messages: AsyncIterable<T>): AsyncIterable<T>;
  explain(thrown: unknown): unknown;
}

function beginCall(url: string, caller: AbortSignal | undefined, silenceMaxMs: number): RemoteCall {
  const own = new AbortController();
  // Call `unref`, so that the timer does not keep the process alive.
  const silence = after(silenceMaxMs, () => {
    const seconds = silenceMaxMs / 1000;
    const message = `${url} was silent for ${seconds} s: look whether the service still runs, and ask again`;
    own.abort(new UnreachableError(message));
  }).unref();
  const call: RemoteCall = {
    signal: caller ? AbortSignal.any([caller, own.signal]) : own.signal,
    async *read(messages) {
      try {
        for await (const message of messages) {
          silence.refresh();
          yield message;
        }
      } catch (thrown) {
        throw call.explain(thrown);
      } finally {
        call[Symbol.dispose]();
      }
    },
    explain(thrown) {
      caller?.throwIfAborted();
      return errorFromRemote(own.signal.aborted ? own.signal.reason : thrown, url);
    },
    [Symbol.dispose]() {
      silence.cancel();
      own.abort(new Error("the reader left"));
    },
  };
  return call;
}

/** Limits the time for a connection attempt. By default, Linux tries for two minutes. */
function createAgent(url: string, connectMaxMs: number): http.Agent {
  const agent = new (url.startsWith("https:") ? https : http).Agent({ keepAlive: true });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, created) => {
    const socket = connect(options, created);
    const late = after(connectMaxMs, () =>
      socket?.destroy(Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT" })),
    );
    for (const event of ["connect", "close"]) {
      socket?.once(event, () => late.cancel());
    }
    return socket;
  };
  return agent;
}
