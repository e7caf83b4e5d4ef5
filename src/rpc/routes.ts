import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type ConnectRouter, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.ts";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { type AnalysisServiceOptions, createAnalysisService } from "./analysis-service.ts";
import type { Implementation } from "./calls.ts";
import { completeErrors } from "./complete-errors.ts";
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
    }),
  ];
}

/** Connect's handlers for gRPC, gRPC-Web and Connect. */
export function createHandlers(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
  readMaxBytesOf: (method: DescMethod) => number,
): readonly UniversalHandler[] {
  const router: ConnectRouter = createConnectRouter({
    interceptors: [...interceptors],
    // By default, fields that are not known are ignored, and a typing error would go unseen.
    jsonOptions: { ignoreUnknownFields: false },
    acceptCompression: [...compressions],
    // Before anything is read: what Connect itself refuses carries the id and the details, too.
    requestGate(context) {
      context.responseHeader.set("X-Request-Id", context.values.get(callerKey).requestId);
      context.values.set(responseHeaderKey, context.responseHeader);
      completeErrors(context);
      mendGrpcMessage(context.responseTrailer);
      refuseBrokenBase64(context);
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
