/** Rewrites a message of the service for players: with moves instead of plies, and without FENs and code marks. */
export function plainWords(message: string): string {
  return message
    .replace(/, in the position \S+ [wb] \S+ \S+ \d+ \d+/, "")
    .replaceAll(/\bply (\d+)/g, (_, ply) => `move ${Math.ceil(Number(ply) / 2)}`)
    .replaceAll("`", "");
}
