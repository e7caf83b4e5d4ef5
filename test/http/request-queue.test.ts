import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { listenerLimits } from "../../src/http/listener/limits.ts";
import { createRequestQueue } from "../../src/http/listener/request-queue.ts";

function response(complete = true): ServerResponse & EventEmitter {
  return Object.assign(new EventEmitter(), {
    req: { complete, rawHeaders: [] },
    shouldKeepAlive: true,
  }) as never;
}

function start() {
  const begun: ServerResponse[] = [];
  const socket = Object.assign(new EventEmitter(), {
    destroyed: false,
    end: () => setImmediate(() => socket.emit("close")),
    pause() {},
  }) as unknown as Socket;
  return { begun, socket, queue: createRequestQueue(socket, (res) => begun.push(res), listenerLimits) };
}

test("if a connection breaks between two pipelined requests, the incomplete second request is not handled", async () => {
  const { begun, queue } = start();
  const [first, second] = [response(), response(false)];
  queue.take(first);
  queue.take(second);
  // The second request starts in the next iteration of the event loop.
  first.emit("close");
  queue.stop();
  await turn();
  await turn();
  expect(begun).toEqual([first]);
  expect(queue.first).toBeUndefined();
});

test("a pipelined request that arrives between two other requests is handled once and in order", async () => {
  const { begun, queue } = start();
  const [first, second, third] = [response(), response(), response()];
  queue.take(first);
  first.emit("close");
  queue.take(second);
  queue.take(third);
  await turn();
  await turn();
  expect(begun).toEqual([first, second]);
  second.emit("close");
  await turn();
  await turn();
  expect(begun).toEqual([first, second, third]);
});
