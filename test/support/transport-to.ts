import type { Message } from "@bufbuild/protobuf";
import { createRouterTransport, type HandlerContext, type Transport } from "@connectrpc/connect";
import { type Implementation, localCall } from "../../src/calls/call.ts";
import { createCalls } from "../../src/calls/create-calls.ts";
import { connectErrorFrom } from "../../src/protocols/connect/errors.ts";

export function transportTo(implementations: readonly Implementation[]): Transport {
  const calls = createCalls(implementations, []);
  const failed = (thrown: unknown) => {
    throw connectErrorFrom(thrown, "id-1");
  };
  return createRouterTransport((router) => {
    for (const method of implementations.flatMap(({ service }) => service.methods)) {
      const answer =
        method.methodKind === "unary"
          ? (message: Message, { signal }: HandlerContext) =>
              calls.unary(method)(message, localCall(method, signal)).catch(failed)
          : async function* (message: Message, { signal }: HandlerContext) {
              try {
                yield* calls.stream(method)(message, localCall(method, signal));
              } catch (thrown) {
                failed(thrown);
              }
            };
      router.rpc(method, answer as never);
    }
  });
}
