import { findExecutables, type NativeSearch } from "./backends/native/find-executables.ts";
import { wasmBuilds } from "./backends/wasm/builds.ts";
import { installedFiles } from "./backends/wasm/discover.ts";
import { statsOf } from "./file-integrity.ts";

/**
 * A text that differs if another engine may be found than before: if a file of an engine was added, removed or replaced. No engine runs, and no
 * content is read, because a network has 99 MB.
 */
export async function stateOfEngineFiles(where: NativeSearch): Promise<string> {
  const modules = wasmBuilds.map(({ package: name, loader }) => installedFiles(name, loader));
  const native = await findExecutables(where, () => {});
  const files = [...native, ...(await Promise.all(modules)).flatMap((found = []) => found)];
  return files.map((file) => `${file} ${statsOf([file])}`).join("\n");
}
