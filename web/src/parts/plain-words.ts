import { standardStart } from "../../../src/chess/read-fen.ts";

/**
 * Rewrites a message of the service for players: with moves instead of plies, and without FENs and code marks.
 *
 * @param start the FEN of the start of the game
 */
export function plainWords(message: string, start = standardStart): string {
  const at = /, in the position (\S+ [wb] \S+ \S+ \d+ \d+)/.exec(message);
  const [, turn, , , , number] = (at?.[1] ?? start).split(" ");
  const numberOf = (ply: number) =>
    (Number(number) || 1) + (at ? 0 : Math.floor((turn === "b" ? ply : ply - 1) / 2));
  return message
    .replace(at?.[0] ?? "", "")
    .replaceAll(/\bply (\d+)/g, (_, ply) => `move ${numberOf(Number(ply))}`)
    .replaceAll("`", "");
}

const warningWords: Readonly<Record<string, string>> = {
  time_limited: "Some positions were searched for a limited time, so another review may differ a little.",
  not_reproducible: "This engine may judge a position differently the next time.",
  engine_version_differs: "Another version answers, because the latest engine has no such build here.",
  multipv_reduced: "There are no more lines, because there are no more moves to search.",
  default_depth_applied: "The usual depth also ends the search. To search longer, set a greater depth.",
  default_nodes_applied: "The usual number of nodes also ends the search. To search longer, set more nodes.",
};

/** @param start the FEN of the start of the game */
export function wordsOfWarning(
  { code, message }: { readonly code: string; readonly message: string },
  start?: string,
): string {
  return warningWords[code] ?? plainWords(message, start);
}
