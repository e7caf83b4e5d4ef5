import { grpcMessage } from "../text/grpc-message.ts";

/** Sees to it that the message which Connect is going to write into the trailer is written as gRPC's specification says. */
export function mendGrpcMessage(trailer: Headers): void {
  const set = trailer.set.bind(trailer);
  Object.defineProperty(trailer, "set", {
    value: (name: string, value: string) =>
      set(name, name.toLowerCase() === "grpc-message" ? grpcMessage(decodeURIComponent(value)) : value),
  });
}
