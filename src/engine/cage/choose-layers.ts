import { execFile } from "node:child_process";
import type { UserIds } from "../uci/child-process.ts";
import type { Layer } from "./layers.ts";

/**
 * Of each place the first layer that works inside those before it: what is installed may still be forbidden.
 *
 * @param become whom the processes are begun as; as the server itself if undefined.
 */
export async function chooseLayers(
  places: readonly (readonly Layer[])[],
  become?: UserIds | undefined,
): Promise<readonly Layer[]> {
  const best = places.flatMap((layers) => layers.slice(0, 1));
  if (await works(best, become)) {
    return best;
  }
  const chosen: Layer[] = [];
  for (const layers of places) {
    for (const layer of layers) {
      if (await works([...chosen, layer], become)) {
        chosen.push(layer);
        break;
      }
    }
  }
  return chosen;
}

/** What a start of an engine takes in its worst case; a tool that hangs is no tool. */
const probeMaxMs = 5000;

/** Enough for anything that is tried. */
const probeMemoryMb = 1536;

const nothing = ["/bin/sh", "-c", ":"];

/** Whether a command can be run within layers; if none is named, one that does nothing. */
export function works(
  layers: readonly Layer[],
  become?: UserIds | undefined,
  command: readonly string[] = nothing,
): Promise<boolean> {
  const [file = "", ...args] = [...layers.flatMap(({ prefix }) => prefix(probeMemoryMb)), ...command];
  return new Promise((resolve) => {
    try {
      execFile(
        file,
        args,
        { env: {}, timeout: probeMaxMs, ...(become && { uid: become.uid, gid: become.gid }) },
        (error) => resolve(error === null),
      );
    } catch {
      // Node throws where it may not become another user.
      resolve(false);
    }
  });
}
