import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { createRequestQueue } from "../../src/http/listener/request-queue.ts";

function response(complete: boolean): ServerResponse & EventEmitter {
  return Object.assign(new EventEmitter(), { req: { complete }, shouldKeepAlive: true }) as never;
}

test("a connection that breaks between two requests begins no request that was not read to its end", () => {
  const begun: ServerResponse[] = [];
  const queue = createRequestQueue(Object.assign(new EventEmitter(), { destroyed: true }) as Socket, (res) =>
    begun.push(res),
  );
  const [first, second] = [response(true), response(false)];
  queue.take(first);
  queue.take(second);
  // The second request begins in the next turn of the event loop.
  first.emit("close");
  queue.stop();
  expect(begun).toEqual([first]);
  expect(queue.open).toEqual([]);
});
