import { Worker } from "node:worker_threads";
import { after, type Timer } from "../time/time.ts";

/** Hashes one chunk after the other in a worker thread, which runs while there is something to hash. */
interface Hasher extends Disposable {
  /** The caller must not use the chunk afterwards. Rejects if the thread fails or the hasher is closed. */
  hash(chunk: ArrayBuffer): Promise<Uint8Array>;
}

const file = new URL(`./hash-worker${import.meta.url.slice(-3)}`, import.meta.url);
export const startHashThread = () => new Worker(file);
/** The start of a thread takes longer than the hash of most tables. */
const idleMs = 10_000;

export function createHasher(startThread: () => Worker): Hasher {
  let worker: Worker | undefined;
  let idle: Timer | undefined;
  const waiting: PromiseWithResolvers<Uint8Array>[] = [];
  let isDisposed = false;

  function start(): Worker {
    const started = startThread();
    started.unref();
    started.on("message", (hash: Uint8Array) => {
      waiting.shift()?.resolve(hash);
      idle?.cancel();
      idle = after(idleMs, stop).unref();
    });
    started.on("error", stop);
    return started;
  }

  function stop(error: unknown = stopped()): void {
    idle?.cancel();
    void worker?.terminate();
    worker = undefined;
    for (const { reject } of waiting.splice(0)) {
      reject(error);
    }
  }

  return {
    hash(chunk) {
      if (isDisposed) {
        return Promise.reject(stopped());
      }
      idle?.cancel();
      worker ??= start();
      const hash = Promise.withResolvers<Uint8Array>();
      waiting.push(hash);
      worker.postMessage(chunk, [chunk]);
      return hash.promise;
    },
    [Symbol.dispose]() {
      isDisposed = true;
      stop();
    },
  };
}

const stopped = () => new Error("the thread that hashes was stopped");
