/** What takes a request from the `adapter`: Connect's handlers, as we want them. */

import type { DescMethod } from "@bufbuild/protobuf";
import {
  type ConnectRouter,
  createConnectRouter,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { requestKey, responseHeaderKey } from "../../calls/context-keys.ts";
import type { Implementation } from "../../calls/invoke.ts";
import type { KibitzError } from "../../errors/errors.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import type { NodeRequest } from "../../http/message.ts";
import { answerCompressions, packedFromBytes, refuseEncoding } from "./compressions.ts";
import { lookThroughQuery } from "./look-through.ts";
import { type CountRefusal, completeErrors, fixGrpcMessageEncoding } from "./repairs.ts";

/**
 * Fields that are not known are ignored as protobuf wants it, and not kept: each would be an object, and 32,000 of them
 * held the thread for 15 ms.
 */
export const binaryOptions = { readUnknownFields: false } as const;

/** Who is let in to Connect's handlers. */
export interface Admittance {
  /** Finds out who calls, before anything of the body is read. @throws ConnectError */
  letIn(context: HandlerContext): Promise<void>;
  readonly countRefusal: CountRefusal;
  /** Asked before what is no call yet is refused: rejects where its sender is not known, or has been refused too often. */
  refusing(req: NodeRequest, method: DescMethod, error: KibitzError): Promise<void>;
}

/** Whoever asks for health or reflection. */
const openToAll: Admittance = { async letIn() {}, countRefusal() {}, async refusing() {} };

/**
 * Connect's handlers of all methods, each for gRPC, gRPC-Web and Connect: with the options in which we differ from its
 * defaults, and the repairs that have to be there before anything of a body is read.
 *
 * @param interceptors outermost first
 */
export function createHandlers(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
  readMaxBytesOf: (method: DescMethod) => number,
  bodies: BodyBudget,
  { letIn, countRefusal }: Admittance = openToAll,
): readonly UniversalHandler[] {
  const router: ConnectRouter = createConnectRouter({
    interceptors: [...interceptors],
    // By default, fields that are not known are ignored, and a typing error would go unseen.
    jsonOptions: { ignoreUnknownFields: false },
    binaryOptions,
    // Bodies come unpacked: what is left to inflate is the query of a GET.
    acceptCompression: answerCompressions.map((compression) => ({
      ...compression,
      decompress: (bytes, maxBytes) => bodies.inflate(bytes, () => compression.decompress(bytes, maxBytes)),
    })),
    compressMinBytes: packedFromBytes,
    // Before anything is read: what Connect itself refuses carries the id and the details, too.
    async requestGate(context) {
      context.responseHeader.set("X-Request-Id", context.values.get(requestKey).id);
      context.values.set(responseHeaderKey, context.responseHeader);
      completeErrors(context, countRefusal);
      fixGrpcMessageEncoding(context.responseTrailer);
      await letIn(context);
      refuseEncoding(context);
      await lookThroughQuery(context, readMaxBytesOf(context.method), bodies);
    },
  });
  for (const { service, methods } of implementations) {
    for (const method of service.methods) {
      // The default is 4 GiB.
      router.rpc(method, methods[method.localName] as never, { readMaxBytes: readMaxBytesOf(method) });
    }
  }
  return router.handlers;
}
