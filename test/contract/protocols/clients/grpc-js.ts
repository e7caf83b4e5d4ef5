import { fileURLToPath } from "node:url";
import {
  type Client,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { expect } from "vitest";
import { detailsFromBytes } from "../decode-status.ts";
import { plainFromProtoJson, protoJsonFromPlain } from "../proto-json.ts";
import type { Call, Outcome, Plain, ProtocolKind, Refused } from "../protocol.ts";
import { refusalFromDetails } from "../refusal-from-details.ts";
import { structFromPlain, withPlainStructs } from "../structs.ts";

/** The official gRPC client for Node. The client reads only the .proto files of the API. */
export const grpcJs: ProtocolKind = {
  name: "grpc-js",
  open(url) {
    const clients = createClients(url);
    return {
      async call(call, request, headers) {
        const { options, ...rest } = protoJsonFromPlain(request);
        const message =
          options === undefined ? rest : { ...rest, options: structFromPlain(options as Plain) };
        const metadata = new Metadata();
        for (const [name, value] of Object.entries(headers ?? {})) {
          metadata.set(name, value);
        }
        const client = clients.of(call);
        return (streams.includes(call) ? readStream : readUnary)(client, call, message, metadata);
      },
      async [Symbol.asyncDispose]() {
        clients.close();
      },
    };
  },
};

const streams: readonly Call[] = ["streamEvaluate", "evaluateBatch", "reviewGame"];

export type DynamicClient = Client & Readonly<Record<Call, (...args: readonly unknown[]) => DynamicCall>>;
interface DynamicCall extends AsyncIterable<object> {
  cancel(): void;
  on(event: "metadata", listener: (metadata: Metadata) => void): void;
}

const definitions = loadSync(
  [
    "chess/analysis/v1/analysis_service.proto",
    "chess/analysis/v1/game_service.proto",
    "chess/analysis/v1/key_service.proto",
    "google/rpc/error_details.proto",
  ],
  {
    includeDirs: [protoFolder("proto"), protoFolder("third_party")],
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
  },
);

function protoFolder(name: string): string {
  return fileURLToPath(new URL(`../../../../${name}`, import.meta.url));
}

export function createClients(url: string): {
  readonly analysis: DynamicClient;
  of(call: Call): DynamicClient;
  close(): void;
} {
  // biome-ignore lint/suspicious/noExplicitAny: proto-loader knows the names at run time only
  const services = (loadPackageDefinition(definitions) as any).chess.analysis.v1;
  const { host } = new URL(url);
  const clientOf = (name: string): DynamicClient => new services[name](host, credentials.createInsecure());
  const analysis = clientOf("AnalysisService");
  const games = clientOf("GameService");
  const keys = clientOf("KeyService");
  return {
    analysis,
    of: (call) => (/Key$/.test(call) ? keys : call === "reviewGame" ? games : analysis),
    close() {
      for (const client of [analysis, games, keys]) {
        client.close();
      }
    },
  };
}

async function readUnary(
  client: DynamicClient,
  call: Call,
  message: object,
  metadata: Metadata,
): Promise<Outcome> {
  let headers: Metadata | undefined;
  // Do not throw in the callback: the exception would be lost, and the call would never end.
  const { error, answer } = await new Promise<{ error: ServiceError | null; answer?: object }>((resolve) => {
    client[call](message, metadata, (error: ServiceError | null, answer?: object) =>
      resolve({ error, ...(answer && { answer }) }),
    ).on("metadata", (received) => {
      headers = received;
    });
  });
  return error ? refusedFromServiceError(error, headers) : answeredFrom(answer, headers);
}

async function readStream(
  client: DynamicClient,
  call: Call,
  message: object,
  metadata: Metadata,
): Promise<Outcome> {
  const stream = client[call](message, metadata);
  let headers: Metadata | undefined;
  stream.on("metadata", (received) => {
    headers = received;
  });
  try {
    return answeredFrom((await Array.fromAsync(stream)).at(-1), headers);
  } catch (error) {
    return refusedFromServiceError(error as ServiceError, headers);
  }
}

function answeredFrom(answer: object | undefined, headers: Metadata | undefined): Outcome {
  if (answer === undefined) {
    throw new Error("no message");
  }
  return {
    kind: "answer",
    requestId: requestIdFrom(headers),
    answer: plainFromProtoJson(withPlainStructs(answer)),
  };
}

function requestIdFrom(headers: Metadata | undefined): string | undefined {
  return headers?.get("x-request-id")[0]?.toString();
}

export function refusedFromServiceError(error: ServiceError, headers: Metadata | undefined): Refused {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const { message, info, violations, problem } = detailsFromBytes(definitions, bytes as Buffer | undefined);
  // `details` is the error text that users of grpc-js see.
  expect(error.details).toBe(message);
  return {
    kind: "refusal",
    requestId: requestIdFrom(headers),
    status: (status[error.code] ?? "").toLowerCase(),
    refusal: refusalFromDetails(message, info, violations, problem),
  };
}
