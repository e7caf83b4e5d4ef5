import type { DescMethod, DescService } from "@bufbuild/protobuf";
import {
  type ConnectRouter,
  createConnectRouter,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.ts";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import type { Caller } from "../caller.ts";
import type { KibitzError } from "../errors/errors.ts";
import { type AnalysisServiceOptions, createAnalysisService } from "./analysis-service.ts";
import type { Implementation } from "./calls.ts";
import { type CountRefusal, completeErrors } from "./complete-errors.ts";
import { compressions } from "./compression.ts";
import { callerKey, responseHeaderKey } from "./context-keys.ts";
import { createKeyService } from "./key-service.ts";
import { mendGrpcMessage } from "./mend-grpc-message.ts";
import { refuseBrokenBase64 } from "./refuse-broken-base64.ts";
import { createHealth, type HealthOptions } from "./tools/health.ts";
import { createReflection, type ReflectionOptions } from "./tools/reflection.ts";

/** What the server is for. */
const apiServices: readonly DescService[] = [AnalysisService, KeyService];

/** What tells tools of the API. Needs no engine. */
const toolServices: readonly DescService[] = [Health, ServerReflection, ServerReflectionV1alpha];

/** Names of all services, for telling an unknown method from an unknown service. */
export const serviceNames: ReadonlySet<string> = new Set(
  [...apiServices, ...toolServices].map(({ typeName }) => typeName),
);

/** Who is let in to Connect's handlers. */
export interface Admittance {
  /** Finds out who calls, before anything of the body is read. @throws ConnectError */
  letIn(context: HandlerContext): Promise<void>;
  readonly countRefusal: CountRefusal;
  /** Asked before what is no call yet is refused: rejects where its sender is not known, or has been refused too often. */
  refusing(caller: Caller, method: DescMethod, error: KibitzError): Promise<void>;
}

/** Whoever asks for health or reflection. */
const openToAll: Admittance = { async letIn() {}, countRefusal() {}, async refusing() {} };

/** Every service of the API with what answers its calls. */
export function createImplementations(options: AnalysisServiceOptions): readonly Implementation[] {
  return [
    createAnalysisService(options) as unknown as Implementation,
    createKeyService(options.access) as unknown as Implementation,
  ];
}

/** Health and reflection, for tools and load balancers. */
export function createToolImplementations(
  state: Omit<HealthOptions, "services"> & Pick<ReflectionOptions, "stopping">,
): readonly Implementation[] {
  return [
    createHealth({ ...state, services: apiServices }) as unknown as Implementation,
    ...createReflection({
      services: [...apiServices, ...toolServices],
      files: [file_google_rpc_error_details],
      stopping: state.stopping,
      addressOf: state.addressOf,
    }),
  ];
}

/**
 * Connect's handlers for gRPC, gRPC-Web and Connect.
 */
export function createHandlers(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
  readMaxBytesOf: (method: DescMethod) => number,
  { letIn, countRefusal }: Admittance = openToAll,
): readonly UniversalHandler[] {
  const router: ConnectRouter = createConnectRouter({
    interceptors: [...interceptors],
    // By default, fields that are not known are ignored, and a typing error would go unseen.
    jsonOptions: { ignoreUnknownFields: false },
    // Ignored as protobuf wants it, and not kept: each would be an object, and 32,000 of them held the thread for 15 ms.
    binaryOptions: { readUnknownFields: false },
    acceptCompression: [...compressions],
    // Before anything is read: what Connect itself refuses carries the id and the details, too.
    async requestGate(context) {
      context.responseHeader.set("X-Request-Id", context.values.get(callerKey).requestId);
      context.values.set(responseHeaderKey, context.responseHeader);
      completeErrors(context, countRefusal);
      mendGrpcMessage(context.responseTrailer);
      await letIn(context);
      refuseBrokenBase64(context, countRefusal);
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
