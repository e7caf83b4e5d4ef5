import type { DescService } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.ts";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import type { Implementation } from "../calls/call.ts";
import { type AnalysisServiceOptions, createAnalysisService } from "./analysis-service.ts";
import { createGameService } from "./game-service.ts";
import { createKeyService } from "./key-service.ts";
import { createHealth, type HealthOptions } from "./tools/health.ts";
import { createReflection, type ReflectionOptions } from "./tools/reflection.ts";

export const apiServices: readonly DescService[] = [AnalysisService, GameService, KeyService];

const toolServices: readonly DescService[] = [Health, ServerReflection, ServerReflectionV1alpha];

/** Used to distinguish an unknown method from an unknown service. */
export const serviceNames: ReadonlySet<string> = new Set(
  [...apiServices, ...toolServices].map(({ typeName }) => typeName),
);

export function createImplementations(options: AnalysisServiceOptions): readonly Implementation[] {
  return [
    createAnalysisService(options) as unknown as Implementation,
    createGameService(options) as unknown as Implementation,
    createKeyService(options.access) as unknown as Implementation,
  ];
}

/** Load balancers use the health service. Tools such as grpcurl use the reflection service. */
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
