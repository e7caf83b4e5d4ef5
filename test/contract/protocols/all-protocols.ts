import {
  connectBinary,
  connectGet,
  connectJson,
  connectJsonHttp2,
  connectWeb,
  connectWebGrpc,
  grpc,
  grpcWeb,
} from "./clients/connect.ts";
import { grpcJs } from "./clients/grpc-js.ts";
import type { ProtocolKind } from "./protocol.ts";

/** The protocols that call RPCs. Their results are compared with those of plain JSON. */
export const rpcProtocols: readonly ProtocolKind[] = [
  connectJson,
  connectJsonHttp2,
  connectBinary,
  connectGet,
  connectWeb,
  connectWebGrpc,
  grpc,
  grpcJs,
  grpcWeb,
];
