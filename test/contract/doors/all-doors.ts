import { connectBinary } from "./clients/connect-binary.ts";
import { connectGet } from "./clients/connect-get.ts";
import { connectJson } from "./clients/connect-json.ts";
import { connectJsonHttp2 } from "./clients/connect-json-http2.ts";
import { connectWeb } from "./clients/connect-web.ts";
import { connectWebGrpc } from "./clients/connect-web-grpc.ts";
import { grpc } from "./clients/grpc.ts";
import { grpcJs } from "./clients/grpc-js.ts";
import { grpcWeb } from "./clients/grpc-web.ts";
import type { DoorKind } from "./door.ts";

/** The doors to the paths of the RPCs. Plain JSON is the one that they are measured against. */
export const rpcDoors: readonly DoorKind[] = [
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
