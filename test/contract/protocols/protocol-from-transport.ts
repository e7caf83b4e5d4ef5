import { type DescMethod, type DescService, fromJson, type Message, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { plainFromProtoJson, protoJsonFromPlain } from "./proto-json.ts";
import type { Call, Plain, Protocol, Refused } from "./protocol.ts";
import { pointerFromFieldPath, refusalFromDetails } from "./refusal-from-details.ts";

/** Options for JSON: use the field names of the .proto files, and include fields with default values. */
const asInProto = { useProtoFieldName: true, alwaysEmitImplicit: true };

export function protocolFromTransport(transport: Transport, close: () => void = () => {}): Protocol {
  return {
    async call(call, request, headers) {
      const method = methodOf(call);
      const message = fromJson(method.input, protoJsonFromPlain(request));
      try {
        const response = await answerOf(transport, method, message, headers);
        const json = toJson(method.output, response.message, asInProto);
        return {
          kind: "answer",
          requestId: response.header.get("x-request-id") ?? undefined,
          answer: plainFromProtoJson(json as object),
        };
      } catch (thrown) {
        return refusedFromConnectError(ConnectError.from(thrown));
      }
    },
    async [Symbol.asyncDispose]() {
      close();
    },
  };
}

function methodOf(call: Call): DescMethod {
  const services: readonly DescService[] = [AnalysisService, GameService, KeyService];
  const method = services.flatMap(({ methods }) => methods).find(({ localName }) => localName === call);
  if (method === undefined) {
    throw new Error(`no method ${call}`);
  }
  return method;
}

async function answerOf(
  transport: Transport,
  method: DescMethod,
  message: Message,
  headers: Readonly<Record<string, string>> | undefined,
): Promise<{ readonly header: Headers; readonly message: Message }> {
  if (method.methodKind === "unary") {
    return transport.unary(method as never, undefined, undefined, headers, message as never);
  }
  const input = onlyOne(message);
  const response = await transport.stream(method as never, undefined, undefined, headers, input as never);
  const messages: Message[] = await Array.fromAsync(response.message);
  const last = messages.at(-1);
  if (last === undefined) {
    throw new Error(`${method.name} ended without a message`);
  }
  return { header: response.header, message: last };
}

export async function* streamOf(
  transport: Transport,
  call: Call,
  request: Plain,
  signal: AbortSignal,
  timeoutMs?: number,
): AsyncGenerator<Plain> {
  const method = methodOf(call);
  const input = onlyOne(fromJson(method.input, protoJsonFromPlain(request)));
  const answer = await transport.stream(method as never, signal, timeoutMs, undefined, input as never);
  for await (const message of answer.message as AsyncIterable<Message>) {
    yield plainFromProtoJson(toJson(method.output, message, asInProto) as object);
  }
}

async function* onlyOne(message: Message): AsyncGenerator<Message> {
  yield message;
}

export function refusedFromConnectError(error: ConnectError): Refused {
  const [info] = error.findDetails(ErrorInfoSchema);
  const [badRequest] = error.findDetails(BadRequestSchema);
  const [problem] = error.findDetails(ProblemSchema);
  return {
    kind: "refusal",
    requestId: error.metadata.get("x-request-id") ?? undefined,
    status: wordOfCode(error.code),
    refusal: refusalFromDetails(
      error.rawMessage,
      info,
      (badRequest?.fieldViolations ?? []).map(({ field, reason, description }) => ({
        pointer: pointerFromFieldPath(field),
        code: reason.toLowerCase(),
        message: description,
      })),
      problem && plainFromProtoJson(toJson(ProblemSchema, problem, asInProto) as object),
    ),
  };
}

/** Returns `invalid_argument` for `InvalidArgument`. */
function wordOfCode(code: Code): string {
  return (Code[code] ?? "").replace(/(?<=.)[A-Z]/g, "_$&").toLowerCase();
}
