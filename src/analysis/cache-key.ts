import type { EngineBuild, OptionValues } from "../engine/engine.ts";
import type { JudgedRequest } from "./analysis.ts";

/**
 * Names the search of a request: two requests have the same key exactly if depth alone defines the same answer
 * to both. Undefined for a weakened engine, which plays with dice: no two of its answers are the same.
 *
 * In the key are the normal six-field FEN that the history starts from, the moves, the variant, the build, hash
 * and threads, depth, lines, and the options that are in effect. The caller's FEN text and options that say
 * what is so anyway are not.
 *
 * **`movetime_ms` is not in it**, on purpose. Kept are only findings that the asked depth has ended, and those
 * a longer or shorter movetime would not change: the contract defines a deterministic answer by depth alone.
 * So a request with `movetime_ms: 50` may be given an answer that once took seconds: better than its own search
 * would have been, and at once. `flightKeyOf` is for searches that have yet to end, where it matters.
 *
 * **The SHA-256 of the build is not in it**: id, path and file name a build exactly within one process, which
 * finds its builds at the start, and reading 99 MB must not delay the first answer. A store that processes
 * share has to add the digest: what is one file today may be another tomorrow.
 */
export function cacheKeyOf(request: JudgedRequest): string | undefined {
  if (request.weakened) {
    return undefined;
  }
  const { position, build, depth, multipv, effectiveOptions } = request;
  const variant = position.chess960 ? "chess960" : "standard";
  const moves = position.moves.length === 0 ? "" : position.moves.join(" ");
  return `${position.root}|${moves}|${variant}|${keyOfBuild(build)}|${depth}|${multipv}|${keyOfOptions(effectiveOptions)}`;
}

/** Names a search under way: `cacheKeyOf`, and when time ends it, since nobody knows yet what will. */
export function flightKeyOf(cacheKey: string, movetimeMs: number): string {
  return `${cacheKey}|${movetimeMs}`;
}

function keyOfBuild({ id, path, file, settings }: EngineBuild): string {
  return `${id}|${path}|${file}|${settings.hashMb}|${settings.threads}`;
}

function keyOfOptions(options: OptionValues): string {
  const names = Object.keys(options);
  return names.length === 0
    ? ""
    : names
        .toSorted()
        .map((name) => `${name}=${options[name]}`)
        .join(" ");
}
