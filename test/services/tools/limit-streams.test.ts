import { expect, test } from "vitest";
import { Health } from "../../../gen/grpc/health/v1/health_pb.ts";
import { localCall } from "../../../src/calls/call.ts";
import { limitStreams } from "../../../src/services/tools/limit-streams.ts";

function start(inAll: number, perAddress: number) {
  const method = limitStreams({ inAll, perAddress, addressOf: ({ address }) => address }, async function* () {
    yield "first";
    yield "second";
  });
  return async (address: string) => {
    const call = localCall(Health.method.watch);
    const stream = method("", { ...call, request: { ...call.request, address } })[Symbol.asyncIterator]();
    expect(await stream.next()).toEqual({ done: false, value: "first" });
    return stream;
  };
}

test("if an address has the maximum number of open streams, its next stream is refused, but other addresses can open streams", async () => {
  const open = start(10, 2);
  const [first, second] = [await open("a"), await open("a")];
  await expect(open("a")).rejects.toMatchObject({
    code: "overloaded",
    retryAfterMs: 1000,
    message: "This call serves at most 2 callers at a time of one address.",
  });
  await open("b");
  await first.return?.();
  await open("a");
  await expect(open("a")).rejects.toMatchObject({ code: "overloaded" });
  expect(await second.next()).toEqual({ done: false, value: "second" });
});

test("a stream beyond the total limit is refused, and open streams stay open", async () => {
  const open = start(3, 3);
  const streams = [await open("a"), await open("a"), await open("a")];
  await expect(open("b")).rejects.toMatchObject({
    code: "overloaded",
    retryAfterMs: 1000,
    message: "This call serves at most 3 callers at a time.",
  });
  for (const stream of streams) {
    expect(await stream.next()).toEqual({ done: false, value: "second" });
  }
  await streams[0]?.next();
  await open("b");
});
