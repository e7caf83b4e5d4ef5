/** A worker thread that hashes chunks of tables, which would block the main thread for up to a second each. */
import { parentPort } from "node:worker_threads";
import { hashOfChunk } from "./checksum.ts";

parentPort?.on("message", (chunk: ArrayBuffer) => {
  const hash = hashOfChunk(new Uint8Array(chunk));
  // Free the memory of the chunk now: this thread may collect its garbage much later.
  chunk.transfer(0);
  parentPort?.postMessage(hash);
});
