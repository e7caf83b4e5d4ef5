/**
 * What calls that have ended leave to a collection of the whole heap, in bytes each: of a connection that notes them, and of what
 * looks for streams that nobody reads. In a process of its own: what other tests have left would be counted, too.
 */
import { EventEmitter } from "node:events";
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { createCallsUnderWay } from "../../../src/http/listener/calls-under-way.ts";
import { createPlaces } from "../../../src/http/listener/connections.ts";
import { cutStalled } from "../../../src/http/listener/http2-server.ts";
import type { NodeResponse } from "../../../src/http/message.ts";
import { oldBytesEach } from "../../support/heap.ts";

/** What is open until it is closed, with as much in it as a call has. */
class Open extends EventEmitter {
  readonly held = Array.from({ length: 2000 }, (_, index) => ({ index }));
}

/** What each of eight at a time leaves. */
function oldBytesOf(open: (call: Open) => void): Promise<number> {
  return oldBytesEach(async (times) => {
    const callers = Array.from({ length: 8 }, async () => {
      for (let at = 0; at < times / 8; at++) {
        const call = new Open();
        open(call);
        await new Promise(setImmediate);
        call.emit("close");
      }
    });
    await Promise.all(callers);
  });
}

const place = createPlaces({ max: 10, maxPerAddress: 10 }).take(
  new Open() as EventEmitter as Socket,
  "192.0.2.1",
);
if (typeof place === "string") {
  throw new Error(`the first connection finds no place: ${place}`);
}
const underWay = createCallsUnderWay({ max: 100, maxPerCaller: () => 100, onFull() {} });
const connection = await oldBytesOf((call) => {
  const admitted = underWay.begin("192.0.2.1");
  place.begin(call as EventEmitter as NodeResponse, typeof admitted === "string" ? undefined : admitted);
});
const session = new EventEmitter();
cutStalled(session as ServerHttp2Session, 1e6);
const streams = await oldBytesOf((call) => session.emit("stream", call as EventEmitter as ServerHttp2Stream));
session.emit("close");
console.log(JSON.stringify({ calls: place.calls.length, connection, streams }));
