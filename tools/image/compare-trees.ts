import { createHash } from "node:crypto";
import { globSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Paths of what is not the same in two folders: there or not, kind, mode, content. */
export function differences(one: string, other: string): readonly string[] {
  const [first, second] = [treeOf(one), treeOf(other)];
  const paths = new Set([...first.keys(), ...second.keys()]);
  return [...paths].filter((path) => first.get(path) !== second.get(path)).toSorted();
}

function treeOf(folder: string): ReadonlyMap<string, string> {
  return new Map(globSync("**", { cwd: folder }).map((path) => [path, described(join(folder, path))]));
}

function described(path: string): string {
  const stat = lstatSync(path);
  const is = `${stat.mode.toString(8)} ${stat.uid}:${stat.gid}`;
  if (stat.isSymbolicLink()) {
    return `${is} ${readlinkSync(path)}`;
  }
  return stat.isFile() ? `${is} ${createHash("sha256").update(readFileSync(path)).digest("hex")}` : is;
}
