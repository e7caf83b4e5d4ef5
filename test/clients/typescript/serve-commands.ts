import { createInterface } from "node:readline";
import { createRegistry, type DescMethod, type JsonObject, toJson } from "@bufbuild/protobuf";
import { type Any, anyUnpack } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { file_google_rpc_error_details } from "../../../gen/google/rpc/error_details_pb.ts";
import type { Command, Result } from "../probe.ts";

export async function serveCommands(
  call: (command: Command, method: DescMethod) => Promise<Omit<Result, "elapsed_ms">>,
): Promise<void> {
  for await (const line of createInterface(process.stdin)) {
    const command: Command = JSON.parse(line);
    const begin = performance.now();
    const result = await call(command, methodOf(command));
    const elapsedMs = Math.round(performance.now() - begin);
    process.stdout.write(`${JSON.stringify({ ...result, elapsed_ms: elapsedMs })}\n`);
  }
}

function methodOf({ method: name }: Command): DescMethod {
  const method = [AnalysisService, KeyService]
    .flatMap((service): readonly DescMethod[] => service.methods)
    .find((one) => one.name === name);
  if (method === undefined) {
    throw new Error(`no method ${name}`);
  }
  return method;
}

/** Connect uses the same numbers as gRPC, but some other names. */
export function codeName(code: number): string {
  return status[code] ?? String(code);
}

const detailTypes = createRegistry(file_google_rpc_error_details, ProblemSchema);

export function detailJson(detail: Any): Result["details"][number] {
  const message = anyUnpack(detail, detailTypes);
  const desc = message && detailTypes.getMessage(message.$typeName);
  if (message === undefined || desc === undefined) {
    throw new Error(`a detail of unknown type ${detail.typeUrl}`);
  }
  return { type: desc.typeName, value: toJson(desc, message) as JsonObject };
}
