// @ts-check
import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readNetwork } from "./embedded-network.js";
import { dropPermissions, moduleVariable } from "./permissions.js";

/**
 * The only argument of the host, as JSON.
 * @typedef {object} Hosted
 * @property {string} module The JavaScript file of an Emscripten module.
 * @property {readonly { readonly file: string, readonly sha256: string }[]} pinned The files of the module, with their digests.
 * @property {string} networkFile The WebAssembly file that contains the network.
 * @property {import("./embedded-network.js").EmbeddedNetwork} network
 * @property {{ readonly fen: string, readonly depth: number, readonly nodes: number }} test A search and its number of nodes.
 */

/**
 * The used part of a module of `@lichess-org/stockfish-web`. `_setNnueBuffer` takes memory of `_malloc`, and frees the memory.
 * @typedef {object} Stockfish
 * @property {(line: string) => void} uci
 * @property {(bytes: number) => number} _malloc
 * @property {(pointer: number, bytes: number, index: number) => void} _setNnueBuffer
 */

// This file is JavaScript, because Node would load its type stripper of 15 MB into the process.

/** Sizes of the module's memory in pages of 64 KiB: 64 MiB and 2 GiB. The module requires these values. */
const memoryPages = { initial: 1024, maximum: 32_768 };

try {
  await runEngine(JSON.parse(process.argv[2] ?? ""));
} catch (error) {
  refuse(error instanceof Error ? error.message : String(error));
}

/**
 * Starts Stockfish, checks the number of nodes of a search, and then connects Stockfish to the standard streams.
 * @param {Hosted} hosted
 */
async function runEngine({ module, pinned, networkFile, network, test }) {
  if (process.permission?.drop === undefined) {
    throw new Error(`Node ${process.versions.node} has no process.permission.drop`);
  }
  // Check the module before it runs, because it may start threads, which could have all permissions.
  for (const { file, sha256 } of pinned) {
    if (createHash("sha256").update(readFileSync(file)).digest("hex") !== sha256) {
      throw new Error(
        `${file} is not the file that this version of Kibitz knows; npm ci installs the right one`,
      );
    }
  }
  process.argv.length = 2;
  process.env[moduleVariable] = pathToFileURL(module).href;
  const { default: create } = await import(process.env[moduleVariable] ?? "");
  // The types of Node lack WebAssembly.
  const { WebAssembly } = /** @type {any} */ (globalThis);
  const wasmMemory = new WebAssembly.Memory({ ...memoryPages, shared: true });
  /** @type {(line: string) => void} */
  let receive = () => {};
  /** @type {(text: string) => void} */
  let receiveError = refuse;
  /** @type {Stockfish} */
  const stockfish = await create({
    wasmMemory,
    mainScriptUrlOrBlob: join(import.meta.dirname, "thread.js"),
    listen: (/** @type {string} */ line) => receive(line),
    onError: (/** @type {string} */ text) => receiveError(text),
  });

  loadNetwork(stockfish, wasmMemory, networkFile, network);

  /** @type {(commands: readonly string[], isLast: (line: string) => boolean) => Promise<readonly string[]>} */
  const ask = (commands, isLast) =>
    new Promise((resolve) => {
      /** @type {string[]} */
      const lines = [];
      receive = (line) => {
        lines.push(line);
        if (isLast(line)) {
          resolve(lines);
        }
      };
      for (const command of commands) {
        stockfish.uci(command);
      }
    });
  const search = [`position fen ${test.fen}`, `go depth ${test.depth}`];
  const output = await ask(search, (line) => line.startsWith("bestmove"));
  const nodes = Number(/ nodes (\d+)/.exec(output.at(-2) ?? "")?.[1]);
  if (nodes !== test.nodes) {
    throw new Error(`the self-test visited ${nodes} nodes instead of ${test.nodes}`);
  }
  await ask(["ucinewgame", "isready"], (line) => line === "readyok");

  // All threads of the engine exist now, because the search was in the last one.
  dropPermissions();
  receiveError = () => {};
  receive = (line) => process.stdout.write(`${line}\n`);
  passInput(stockfish.uci);
}

/**
 * Reads the network into the module's memory, and not into a buffer of JavaScript, to save 98 MB.
 * @param {Stockfish} stockfish
 * @param {{ readonly buffer: ArrayBufferLike }} memory
 * @param {string} file
 * @param {import("./embedded-network.js").EmbeddedNetwork} network
 */
function loadNetwork(stockfish, memory, file, network) {
  const { bytes } = network;
  const pointer = stockfish._malloc(bytes);
  const fd = openSync(file, "r");
  readNetwork(fd, network, new Uint8Array(memory.buffer, pointer, bytes));
  closeSync(fd);
  stockfish._setNnueBuffer(pointer, bytes, 0);
}

/**
 * Passes each line of the input to the engine. The process ends with its input.
 * @param {(line: string) => void} uci
 */
function passInput(uci) {
  let rest = "";
  process.stdin.setEncoding("latin1");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      uci(line);
    }
  });
  process.stdin.on("end", () => process.exit());
}

/**
 * Ends the process, and tells the server the reason.
 * @param {string} reason
 * @returns {never}
 */
function refuse(reason) {
  process.stdout.write(`info string refused: ${reason.replaceAll("\n", " ")}\n`);
  process.exit(1);
}
