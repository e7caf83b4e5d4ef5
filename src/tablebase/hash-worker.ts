/** A worker thread that hashes chunks of tables, which would block the main thread for up to a second each. */
import { parentPort } from "node:worker_threads";
import { hashOfChunk } from "./checksum.ts";

parentPort?.on("message", (chunk: ArrayBuffer) =>
  parentPort?.postMessage(hashOfChunk(new Uint8Array(chunk))),
);
