import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { standardStart } from "../../src/chess/read-fen.ts";
import type { GameState, Moment } from "./game/create-game.ts";
import type { OlderEncoding } from "./game/file-text.ts";
import { isPlain, mainlineOf, nodeOf, nodesOf } from "./game/game.ts";
import { mainlinePgn, pgnOfGame } from "./game/pgn.ts";
import { fragmentOfPlace, type Place, placeFromFragment, startPlace } from "./place-text.ts";
import type { RequestState } from "./request/request.ts";
import { addressOfView, type View } from "./view.ts";

interface AddressedParts {
  readonly game: GameState;
  readonly request: Pick<RequestState, "settings" | "useSettings">;
}

export type Address = ReturnType<typeof createAddress>;

/** The state in the browser's history. A reload of the page does not delete this state. */
interface EntryState {
  /** The entries of a visit have the same game. A visit begins when another address is opened. */
  readonly visit: number;
  readonly fen: string;
  readonly pgn: string;
  readonly at: string;
  readonly reviewed: string | undefined;
  readonly encoding: OlderEncoding | undefined;
}

function keptState(): EntryState | undefined {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "visit" in state ? (state as EntryState) : undefined;
}

/** Browsers reject more than about 100 changes of the history in 30 seconds. */
const windowMs = 30_000;
const atOnceMax = 40;
const restMs = 1000;

/** Other programs truncate longer links. */
const fragmentMaxCharacters = 8000;

function isShort(place: Place): boolean {
  return place.pgn.length <= fragmentMaxCharacters && fragmentOfPlace(place).length <= fragmentMaxCharacters;
}

/** Writes the state of the page into the address and the browser's history. Each view has one entry in the history. */
export function createAddress({ game, request }: AddressedParts) {
  const { settings, useSettings } = request;
  const view = signal<View>("analysis");
  /** The latest state of each visit since the page was loaded. The browser stores the data of older states. */
  const moments = new Map<number, Moment>();
  const pgn = computed(() => (game.game.value.start.children.length > 0 ? pgnOfGame(game.game.value) : ""));
  const fragment = computed(() =>
    game.refused.value?.from === "link" ? location.hash : fragmentOfPlace(placeOf(view.value).place),
  );
  const state = computed<Omit<EntryState, "visit">>(() => {
    const { at, reviewed, encoding } = game.moment.value;
    return { fen: game.game.value.start.position.fen, pgn: pgn.value, at, reviewed, encoding };
  });
  let current = { fragment: location.hash, state: state.peek(), view: view.peek() };
  let visit = -1;
  let isWritten = true;
  /** The times of recent history changes, on the clock of `performance.now()`. */
  let writtenAt: number[] = [];
  let resting: ReturnType<typeof setTimeout> | undefined;

  /** If the link would be too long, the place has only the main line. */
  function placeOf(shown: View): { readonly place: Place; readonly isWhole: boolean } {
    const { fen } = game.game.value.start.position;
    const others = { view: shown, orientation: game.orientation.value, settings: settings.value };
    const { ply, id } = game.at.value;
    if (shown === "review" && game.reviewed.value === undefined) {
      return { place: { ...startPlace, ...others }, isWhole: true };
    }
    if (shown !== "review" && isPlain(game.game.value)) {
      const moves = mainlineOf(game.game.value).flatMap(({ move }) => move?.san ?? []);
      const start = fen === standardStart ? startPlace.fen : fen;
      return { place: { ...startPlace, ...others, fen: start, moves, ply }, isWhole: true };
    }
    const line = mainlineOf(game.game.value);
    const isMain = line.some((node) => node.id === id);
    const at = isMain ? undefined : nodesOf(game.game.value).findIndex((node) => node.id === id);
    const whole = { ...startPlace, ...others, pgn: pgn.value, ply: isMain ? ply : 0, at };
    if (isShort(whole)) {
      return { place: whole, isWhole: true };
    }
    const onMain = game.path.value.filter((node) => line.includes(node)).length - 1;
    const withTags = { ...whole, pgn: mainlinePgn(game.game.value), ply: onMain, at: undefined };
    return isShort(withTags)
      ? { place: withTags, isWhole: false }
      : { place: { ...withTags, pgn: mainlinePgn({ ...game.game.value, tags: new Map() }) }, isWhole: false };
  }

  function write(): void {
    isWritten = true;
    history.replaceState({ visit, ...current.state }, "", current.fragment || location.href);
  }

  function writeSoon(): void {
    isWritten = false;
    const now = performance.now();
    writtenAt = writtenAt.filter((at) => now - at < windowMs);
    if (writtenAt.length < atOnceMax) {
      writtenAt.push(now);
      write();
    } else {
      resting ??= setTimeout(() => {
        resting = undefined;
        if (!isWritten) {
          write();
        }
      }, restMs);
    }
  }

  function follow(): void {
    const next = { fragment: fragment.value, state: state.value, view: view.value };
    if (next.view !== current.view) {
      if (!isWritten) {
        write();
      }
      current = next;
      history.pushState({ visit, ...next.state }, "", next.fragment);
    } else if (next.fragment !== current.fragment || next.state !== current.state) {
      // Keep an address without a fragment until the state of the page changes.
      const isBare = next.fragment === addressOfView("analysis") && location.hash === "";
      current = isBare ? { ...next, fragment: "" } : next;
      writeSoon();
    }
    moments.set(visit, game.moment.value);
  }

  function read(): void {
    const kept = keptState();
    const place = placeFromFragment(location.hash);
    batch(() => {
      if (kept && kept.visit !== visit) {
        visit = kept.visit;
        game.refused.value = undefined;
        restore(kept);
      } else if (!kept && location.hash === addressOfView(place.view)) {
        visit = Math.max(visit, 0);
      } else if (!kept) {
        visit = Math.max(visit, ...moments.keys()) + 1;
        take(place);
        // Opening a link is not an edit that can be undone.
        game.moment.value = { ...game.moment.peek(), before: undefined };
      }
      view.value = place.view;
      current = { fragment: location.hash, state: state.peek(), view: view.peek() };
    });
    write();
  }

  function restore(kept: EntryState): void {
    const known = moments.get(kept.visit);
    if (known) {
      game.moment.value = known;
      return;
    }
    if (kept.pgn === "") {
      game.takeFen(kept.fen);
    } else {
      game.takePgn(kept.pgn);
    }
    const { game: now } = game.moment.peek();
    const { reviewed, encoding } = kept;
    game.moment.value = { game: now, at: nodeOf(now, kept.at).id, reviewed, encoding, before: undefined };
  }

  function take(place: Place): void {
    view.value = place.view;
    game.orientation.value = place.orientation;
    useSettings(place.settings);
    if (place.pgn !== "") {
      takeGame(place);
    } else if (place.view !== "review") {
      if (game.takeFen(place.fen, place.moves, "link").kind === "violations") {
        // Show the error above the start position instead of the previous game.
        const refused = game.refused.peek();
        game.takeFen(startPlace.fen);
        game.refused.value = refused;
      }
      const node = game.line.peek()[place.ply];
      if (node) {
        game.goTo(node);
      }
    }
  }

  function takeGame({ pgn, ply, at, view: shown }: Place): void {
    if (game.takePgn(pgn, "link").kind === "game") {
      const taken = game.game.peek();
      const node = (at === undefined ? mainlineOf(taken)[ply] : nodesOf(taken)[at]) ?? taken.start;
      if (shown === "review") {
        game.review(pgn);
      }
      game.goTo(nodeOf(game.game.peek(), node.id));
    }
  }

  const ended = new AbortController();
  let endEffect: (() => void) | undefined;

  return {
    view: view as ReadonlySignal<View>,

    show(next: View): void {
      view.value = next;
    },

    /** A link to the game and the position on the board. `note` says what the link omits. */
    link: computed(() => {
      const isReviewed = game.reviewed.value !== undefined;
      const { place, isWhole } = placeOf(view.value === "review" && isReviewed ? "review" : "analysis");
      return {
        href: new URL(fragmentOfPlace(place), location.href).href,
        note: isWhole
          ? undefined
          : "The link has only the main line, because the whole game is too long for a link.",
      };
    }),

    open(link: string): void {
      batch(() => take(placeFromFragment(link)));
    },

    /** Reads the address, then updates the address whenever the page changes. */
    begin(): void {
      const { orientation, settings: own } = placeFromFragment(location.hash);
      batch(() => {
        read();
        game.orientation.value = orientation;
        useSettings(own);
      });
      endEffect = effect(follow);
      window.addEventListener("popstate", read, ended);
    },

    dispose(): void {
      clearTimeout(resting);
      endEffect?.();
      ended.abort();
    },
  };
}
