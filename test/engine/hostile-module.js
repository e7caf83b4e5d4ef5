// Stands in for the module of an engine, and tries what a hostile module would try. `host.js` runs this file.
import { readFileSync } from "node:fs";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

const attempts = {
  read: () => readFileSync(import.meta.filename),
  thread: () => new Worker("", { eval: true }),
  "free thread": () => new Worker("", { eval: true, execArgv: [] }),
  write: () => process.permission.has("fs.write") || refuse(),
};

function refuse() {
  throw Object.assign(new Error("refused"), { code: "ERR_ACCESS_DENIED" });
}

/** Returns the result of each attempt: `done`, or the code of an error. */
function attemptAll() {
  return Object.entries(attempts).map(([name, attempt]) => {
    try {
      attempt();
      return `${name} done`;
    } catch (error) {
      return `${name} ${error.code}`;
    }
  });
}

if (!isMainThread) {
  parentPort.on("message", () => parentPort.postMessage(attemptAll()));
}

/** Has the interface of a module of `@lichess-org/stockfish-web`. */
export default async function create({ wasmMemory, mainScriptUrlOrBlob, listen }) {
  const thread = new Worker(mainScriptUrlOrBlob);
  thread.unref();
  return {
    _malloc: () => 8,
    _setNnueBuffer: (pointer, bytes) =>
      listen(`info string network ${Buffer.from(wasmMemory.buffer, pointer, bytes).toString()}`),
    uci(line) {
      if (line.startsWith("go depth")) {
        listen("info depth 1 nodes 7");
        listen("bestmove e2e4");
      } else if (line === "isready") {
        // The thread answers after it has loaded this file, as the search of a real engine does.
        thread.once("message", () => listen("readyok"));
        thread.postMessage("");
      } else if (line === "attack") {
        listen(`main: ${attemptAll()}`);
        thread.once("message", (results) => {
          listen(`thread: ${results}`);
          process.exit();
        });
        thread.postMessage("");
      }
    },
  };
}
