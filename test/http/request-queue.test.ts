import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRequestQueue, createTurns } from "../../src/http/listener/request-queue.ts";

function response(complete: boolean): ServerResponse & EventEmitter {
  return Object.assign(new EventEmitter(), { req: { complete }, shouldKeepAlive: true }) as never;
}

test("a connection that breaks between two requests begins no incomplete request", () => {
  const begun: ServerResponse[] = [];
  const socket = Object.assign(new EventEmitter(), { destroyed: true }) as Socket;
  const queue = createRequestQueue(socket, (res) => begun.push(res), createTurns());
  const [first, second] = [response(true), response(false)];
  queue.take(first);
  queue.take(second);
  // The second request begins in the next turn of the event loop.
  first.emit("close");
  queue.stop();
  expect(begun).toEqual([first]);
  expect(queue.open).toEqual([]);
});

test("requests that wait for a turn of the event loop get one each, in their order", async () => {
  const inTurn = createTurns();
  const done: string[] = [];
  inTurn(() => {
    done.push("first");
    inTurn(() => done.push("third"));
  });
  inTurn(() => done.push("second"));
  for (const expected of [["first"], ["first", "second"], ["first", "second", "third"]]) {
    await turn();
    expect(done).toEqual(expected);
  }
});
