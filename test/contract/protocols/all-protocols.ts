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

/** The protocols to the paths of the RPCs. Plain JSON is the one that they are measured against. */
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
