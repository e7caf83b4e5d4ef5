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

/** The RPC protocols. Tests compare their responses with the responses of plain JSON. */
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
