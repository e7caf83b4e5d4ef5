/** Copies the version of the package into `server.json`, which registries of MCP servers read. */
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../server.json", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
writeFileSync(file, readFileSync(file, "utf8").replace(/("version": )"[^"]+"/g, `$1"${version}"`));
