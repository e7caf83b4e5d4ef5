import type { Door } from "../../caller.ts";
import type { NodeRequest } from "../node-message.ts";

/** The protocols that share the paths of the RPCs. */
export type RpcDoor = Extract<Door, "connect" | "grpc" | "grpc-web">;

/** The protocol that a request to an RPC speaks: its content type says so. GET is always Connect. */
export function doorFromRequest(req: NodeRequest): RpcDoor {
  const type = req.headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) {
    return "grpc-web";
  }
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}
