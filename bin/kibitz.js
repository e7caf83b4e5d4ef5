#!/usr/bin/env node
// Plain JavaScript, so that an older Node can read it and say what is missing.
import { existsSync } from "node:fs";

const needed = 24;
const found = Number(process.versions.node.split(".")[0]);
if (found < needed) {
  console.error(
    `kibitz: Node ${needed} or newer is needed, this is ${process.versions.node}. ` +
      "In a checkout `npx kibitz` brings its own after `npm install`. " +
      "Elsewhere, put a newer one first in the PATH, such as /opt/kibitz/bin; else update Node.",
  );
  process.exit(1);
}
// A reload may arrive before `serve` listens to its signal, which would end the process.
process.on("SIGUSR2", () => {});
// What strips types takes 15 MB of memory for as long as the process lives. With what it gave the last time it is not even read,
// if this is known before the first file with types.
const { keepCompiled } = await import("./compile-cache.js");
keepCompiled();
// A checkout runs its sources, the published package what was built from them:
// Node strips no types below node_modules.
const source = new URL("../src/main.ts", import.meta.url);
const built = new URL("../dist/src/main.js", import.meta.url);
await import(existsSync(source) ? source.href : built.href);
