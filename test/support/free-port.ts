import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** Returns a port of 127.0.0.1 that is free at the moment. */
export async function freePort(): Promise<number> {
  const finder = createServer().listen(0, "127.0.0.1");
  await once(finder, "listening");
  const { port } = finder.address() as AddressInfo;
  await finder[Symbol.asyncDispose]();
  return port;
}
