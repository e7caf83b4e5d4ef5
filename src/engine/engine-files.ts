import { existsSync } from "node:fs";
import { findExecutables, type NativeSearch } from "./backends/native/find-executables.ts";
import { wasmBuilds } from "./backends/wasm/builds.ts";
import { installedFiles } from "./backends/wasm/discover.ts";
import { statsOf } from "./file-integrity.ts";

/** Returns a text that changes when an engine file changes. Does not read the content, because a file can have 99 MB. */
export async function stateOfEngineFiles(where: NativeSearch): Promise<string> {
  const modules = wasmBuilds.map(({ package: name, loader }) => installedFiles(name, loader));
  const { named, installed } = await findExecutables(where, () => {});
  const described = (where.described ?? []).flatMap(({ command, files }) => [command, ...files]);
  const files = [
    ...described.map(({ path }) => path).filter((path) => existsSync(path)),
    ...named,
    ...installed,
    ...(await Promise.all(modules)).flatMap((found = []) => found),
  ];
  return [JSON.stringify(where.described), ...files.map((file) => `${file} ${statsOf([file])}`)].join("\n");
}
