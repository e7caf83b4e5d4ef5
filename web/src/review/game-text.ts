import type { JsonObject } from "@bufbuild/protobuf";
import { batch, computed, signal } from "@preact/signals";
import { ReviewGameRequestSchema } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { messageFromPlain } from "../client/plain-json.ts";
import { failureOf } from "../client/problem.ts";
import { kindOfText } from "../kind-of-text.ts";
import { take } from "../pasted.ts";
import { request } from "../request/the-request.ts";
import { type FoundGame, foundGames } from "./found-games.ts";
import { orientation, place } from "./looked-at.ts";
import { asked, progress, review } from "./run-review.ts";
import { placeOfToken, type TextPlace } from "./text-place.ts";

/** The PGN of the game that is to be reviewed, as its field has it. */
export const text = signal("");
/** The games of a text that has several, of which one is to be chosen; empty otherwise. */
export const found = signal<readonly FoundGame[]>([]);
/** Why a file was not taken. */
export const refusal = signal<"large" | "unreadable" | "empty" | undefined>(undefined);
/** How many lines are asked for, 1 to 3. */
export const lines = signal(1);

/** The largest file that is read, in MB. */
export const fileMaxMegabytes = 20;

/** Takes a text that somebody has brought along: one game is reviewed at once, of several one can be chosen. */
export async function takeText(brought: string): Promise<void> {
  const games = await foundGames(brought);
  const [first] = games;
  refusal.value = first === undefined ? "empty" : undefined;
  if (first === undefined) {
    return;
  }
  batch(() => {
    found.value = games.length > 1 ? games : [];
    text.value = games.length > 1 ? "" : first.text;
  });
  if (games.length === 1) {
    start();
  }
}

/** Reads a file that was chosen or dropped. */
export async function chooseFile(file: File): Promise<void> {
  if (file.size > fileMaxMegabytes * 1_000_000) {
    refusal.value = "large";
    return;
  }
  const read = await file.text().catch(() => undefined);
  if (read === undefined) {
    refusal.value = "unreadable";
    return;
  }
  const kind = kindOfText(read);
  if (kind === "fen") {
    take(read);
  } else if (kind === "pgn") {
    await takeText(read);
  } else {
    refusal.value = "empty";
  }
}

/** Chooses one of the games that were found, and reviews it. */
export function chooseGame(game: FoundGame): void {
  text.value = game.text;
  start();
}

/** Reviews the game in the field. */
export function start(): void {
  const { depth, nodes, engine, path } = request.search.peek();
  batch(() => {
    refusal.value = undefined;
    place.value = { ply: 0, step: 0 };
    orientation.value = "white";
    void review({
      pgn: text.peek(),
      ...(depth !== undefined && { depth }),
      ...(nodes !== undefined && { nodes }),
      ...(engine !== undefined && { engine }),
      ...(path !== undefined && { path }),
      ...(lines.peek() > 1 && { lines: lines.peek() }),
    });
  });
}

/** Asks what the service suggests instead, in plain JSON. */
export function startSuggested(suggested: JsonObject): void {
  const changed = messageFromPlain(ReviewGameRequestSchema, suggested);
  text.value = changed.pgn ?? text.value;
  void review(changed);
}

/** A place in the text of the field at which the service could not read it. */
export interface TextFault extends TextPlace {
  readonly message: string;
  /** The suggested request in plain JSON: the game up to the error. Undefined if the service suggests none. */
  readonly suggested: JsonObject | undefined;
  readonly line: number;
  readonly column: number;
}

/** The error in the text that was sent; undefined if there is none, or if the text has changed since. */
export const textFault = computed<TextFault | undefined>(() => {
  const state = progress.value;
  const failure = state.kind === "failed" ? failureOf(state.error) : undefined;
  // Other problems, such as of a game that is longer than the plan allows, are no fault of the text.
  if (failure?.kind !== "problem" || failure.problem.status !== 400 || asked.value?.pgn !== text.value) {
    return undefined;
  }
  const fault = failure.problem.errors.find(({ offset }) => offset !== undefined);
  if (fault?.offset === undefined || fault.line === undefined || fault.column === undefined) {
    return undefined;
  }
  const { message, offset, token = "", line, column } = fault;
  const suggested = failure.problem.suggestedRequest;
  return { message, suggested, ...placeOfToken(text.value, offset, token), line, column };
});
