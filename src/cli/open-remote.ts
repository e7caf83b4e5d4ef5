import http from "node:http";
import https from "node:https";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { RemoteAddress } from "./remote-address.ts";
import { errorFromRemote, UnreachableError } from "./remote-error.ts";

/** A running service, over Connect. Disposing of it ends the calls that are under way. */
export interface Remote extends Disposable {
  /**
   * For Connect's clients of the services. Calls reject with the reason of their signal, with a `RemoteError` for what
   * the service refuses, and with an `UnreachableError` where there is none. Who leaves a stream before its end aborts
   * the signal: Connect's client does not hand on that nobody reads.
   */
  readonly transport: Transport;
}

interface RemoteTimes {
  /** For a connection to be made, in milliseconds. */
  readonly connectMaxMs: number;
  /** From one sign of the service to the next, in milliseconds: longer than a search may wait and take. */
  readonly silenceMaxMs: number;
}

const defaultTimes: RemoteTimes = { connectMaxMs: 10_000, silenceMaxMs: 180_000 };

/** Nothing is sent before the first call. */
export function openRemote({ url, key, trace }: RemoteAddress, times: Partial<RemoteTimes> = {}): Remote {
  const { connectMaxMs, silenceMaxMs } = { ...defaultTimes, ...times };
  const agent = createAgent(url, connectMaxMs);
  const underWay = new Set<{ end(reason: Error): void }>();
  const transport = createConnectTransport({
    baseUrl: url,
    // What every proxy speaks.
    httpVersion: "1.1",
    nodeOptions: {
      agent,
      headers: { ...trace, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    },
  });

  /** A call that ends with its caller, and when the service is silent for too long. */
  function watch(caller: AbortSignal | undefined) {
    const own = new AbortController();
    const silence = () =>
      own.abort(
        new UnreachableError(
          `${url} was silent for ${silenceMaxMs / 1000} s: look whether the service still runs, and ask again`,
        ),
      );
    let timer = setTimeout(silence, silenceMaxMs);
    const call = {
      signal: caller ? AbortSignal.any([caller, own.signal]) : own.signal,
      heard() {
        clearTimeout(timer);
        timer = setTimeout(silence, silenceMaxMs);
      },
      end(reason = new Error("the reader left")) {
        clearTimeout(timer);
        underWay.delete(call);
        own.abort(reason);
      },
      explain(thrown: unknown): unknown {
        caller?.throwIfAborted();
        return errorFromRemote(own.signal.aborted ? own.signal.reason : thrown, url);
      },
    };
    underWay.add(call);
    return call;
  }

  return {
    transport: {
      async unary(method, signal, timeoutMs, header, input, contextValues) {
        const call = watch(signal);
        try {
          return await transport.unary(method, call.signal, timeoutMs, header, input, contextValues);
        } catch (thrown) {
          throw call.explain(thrown);
        } finally {
          call.end();
        }
      },
      async stream(method, signal, timeoutMs, header, input, contextValues) {
        const call = watch(signal);
        try {
          const response = await transport.stream(
            method,
            call.signal,
            timeoutMs,
            header,
            input,
            contextValues,
          );
          return { ...response, message: watched(response.message, call) };
        } catch (thrown) {
          const explained = call.explain(thrown);
          call.end();
          throw explained;
        }
      },
    },
    [Symbol.dispose]() {
      // Also those that nobody reads any more: a process would not end before their timers have run out.
      for (const call of underWay) {
        call.end(new UnreachableError(`the connection to ${url} broke off: it was closed here`));
      }
      agent.destroy();
    },
  };
}

interface Watch {
  heard(): void;
  end(): void;
  explain(thrown: unknown): unknown;
}

async function* watched<T>(messages: AsyncIterable<T>, call: Watch): AsyncGenerator<T> {
  try {
    for await (const message of messages) {
      call.heard();
      yield message;
    }
  } catch (thrown) {
    throw call.explain(thrown);
  } finally {
    call.end();
  }
}

/** Keeps connections between calls. Node itself waits for a connection as long as the system does, two minutes. */
function createAgent(url: string, connectMaxMs: number): http.Agent {
  const agent = new (url.startsWith("https:") ? https : http).Agent({ keepAlive: true });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, created) => {
    const socket = connect(options, created);
    const late = setTimeout(
      () => socket?.destroy(Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT" })),
      connectMaxMs,
    );
    for (const event of ["connect", "close"]) {
      socket?.once(event, () => clearTimeout(late));
    }
    return socket;
  };
  return agent;
}
