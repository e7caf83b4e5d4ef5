import { fromJSON, type MessageTypeDefinition, type PackageDefinition } from "@grpc/proto-loader";
import { plainFromProtoJson } from "./proto-json.ts";
import type { Plain, Refusal } from "./protocol.ts";
import { type ErrorInfo, pointerFromFieldPath } from "./refusal-from-details.ts";
import { withPlainStructs } from "./structs.ts";

interface BadRequest {
  readonly field_violations: readonly {
    readonly field: string;
    readonly reason: string;
    readonly description: string;
  }[];
}

/** Decodes a `grpc-status-details-bin` trailer without the code of Connect. */
export function detailsFromBytes(
  definitions: PackageDefinition,
  bytes: Buffer | undefined,
): {
  readonly message: string;
  readonly info: ErrorInfo | undefined;
  readonly violations: Refusal["violations"];
  readonly problem: Plain | undefined;
} {
  const { message, details } = bytes === undefined ? { message: "", details: [] } : status.deserialize(bytes);
  const find = <T>(type: string): T | undefined => {
    const found = details.find(({ type_url }) => type_url === `type.googleapis.com/${type}`);
    const definition = definitions[type] as MessageTypeDefinition<object, object> | undefined;
    return found && (definition?.deserialize(found.value) as T | undefined);
  };
  const violations = find<BadRequest>("google.rpc.BadRequest")?.field_violations ?? [];
  const problem = find<object>("chess.analysis.v1.Problem");
  return {
    message,
    problem: problem && plainFromProtoJson(withPlainStructs(problem)),
    info: find<ErrorInfo>("google.rpc.ErrorInfo"),
    violations: violations.map(({ field, reason, description }) => ({
      pointer: pointerFromFieldPath(field),
      code: reason.toLowerCase(),
      message: description,
    })),
  };
}

interface Status {
  readonly message: string;
  readonly details: readonly { readonly type_url: string; readonly value: Buffer }[];
}

/** Describes google.rpc.Status and google.protobuf.Any. The .proto files of the API do not import these messages. */
const status = fromJSON(
  {
    nested: {
      Any: { fields: { type_url: { type: "string", id: 1 }, value: { type: "bytes", id: 2 } } },
      Status: {
        fields: {
          code: { type: "int32", id: 1 },
          message: { type: "string", id: 2 },
          details: { rule: "repeated", type: "Any", id: 3 },
        },
      },
    },
  },
  { keepCase: true, defaults: true },
).Status as MessageTypeDefinition<object, Status>;
