import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

export async function freePort(): Promise<number> {
  const finder = createServer().listen(0, "127.0.0.1");
  await once(finder, "listening");
  const { port } = finder.address() as AddressInfo;
  await finder[Symbol.asyncDispose]();
  return port;
}
