import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { standardStart } from "../../src/chess/read-fen.ts";
import type { GameState, Moment } from "./game/create-game.ts";
import { nodeOf } from "./game/game.ts";
import { mainlinePgn, pgnOfGame } from "./game/pgn.ts";
import { fragmentOfPlace, type Place, placeFromFragment, startPlace } from "./place-text.ts";
import type { Settings } from "./request/settings.ts";
import { addressOfView, type View } from "./view.ts";

interface AddressedParts {
  readonly game: GameState;
  readonly settings: Signal<Settings>;
}

export type Address = ReturnType<typeof createAddress>;

/** The state in the browser's history. A reload of the page does not delete this state. */
interface EntryState {
  readonly entry: number;
  readonly fen: string;
  readonly pgn: string;
  readonly at: string;
  readonly reviewed: string | undefined;
}

function keptState(): EntryState | undefined {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "entry" in state ? (state as EntryState) : undefined;
}

/** Browsers reject more than about 100 changes of the history in 30 seconds. */
const windowMs = 30_000;
const atOnceMax = 40;
const restMs = 1000;

/** Other programs truncate longer links. */
const linkMaxCharacters = 4000;

/** Writes the state of the page into the address and the browser's history. Back returns to the previous state. */
export function createAddress({ game, settings }: AddressedParts) {
  const view = signal<View>("analysis");
  /** The states since the page was loaded, by number of the history entry. The browser stores the data of older states. */
  const moments = new Map<number, Moment>();
  const pgn = computed(() => (game.game.value.start.children.length > 0 ? pgnOfGame(game.game.value) : ""));
  const reviewPgn = computed(() => (game.reviewed.value === undefined ? "" : shortPgn()));
  const fragment = computed(() =>
    game.refused.value?.from === "link" ? location.hash : fragmentOfPlace(placeNow()),
  );
  const state = computed<Omit<EntryState, "entry">>(() => {
    const { at, reviewed } = game.moment.value;
    return { fen: game.game.value.start.position.fen, pgn: pgn.value, at, reviewed };
  });
  let current = { fragment: location.hash, state: state.peek(), game: game.game.peek(), view: view.peek() };
  let entry = 0;
  let isWritten = true;
  /** The times of recent history changes, on the clock of `performance.now()`. */
  let writtenAt: number[] = [];
  let resting: ReturnType<typeof setTimeout> | undefined;

  function placeNow(): Place {
    const { fen } = game.game.value.start.position;
    const nodes = game.line.value.slice(1);
    return {
      view: view.value,
      pgn: reviewPgn.value,
      fen: fen === standardStart ? startPlace.fen : fen,
      moves: nodes.map(({ move }) => move?.san ?? ""),
      ply: game.at.value.ply,
      orientation: game.orientation.value,
      settings: settings.value,
    };
  }

  /** Returns the PGN, else the main line if the link would be too long, else an empty text. */
  function shortPgn(): string {
    const link = (text: string) => fragmentOfPlace({ ...startPlace, view: "review", pgn: text });
    const texts = [pgn.value, mainlinePgn(game.game.value)];
    return texts.find((text) => link(text).length <= linkMaxCharacters) ?? "";
  }

  function write(): void {
    isWritten = true;
    history.replaceState({ entry, ...current.state }, "", current.fragment || location.href);
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
    const next = {
      fragment: fragment.value,
      state: state.value,
      game: game.game.value,
      view: view.value,
    };
    if (next.game !== current.game || next.view !== current.view) {
      if (!isWritten) {
        write();
      }
      entry++;
      current = next;
      history.pushState({ entry, ...next.state }, "", next.fragment);
    } else if (next.fragment !== current.fragment || next.state !== current.state) {
      // Keep an address without a fragment until the state of the page changes.
      const isBare = next.fragment === addressOfView("analysis") && location.hash === "";
      current = isBare ? { ...next, fragment: "" } : next;
      writeSoon();
    }
    moments.set(entry, game.moment.value);
  }

  function read(): void {
    const kept = keptState();
    const place = placeFromFragment(location.hash);
    batch(() => {
      if (kept) {
        entry = kept.entry;
        game.refused.value = undefined;
        restore(kept);
        view.value = place.view;
      } else {
        entry++;
        if (location.hash === addressOfView(place.view)) {
          view.value = place.view;
        } else {
          take(place);
        }
      }
      current = { fragment: location.hash, state: state.peek(), game: game.game.peek(), view: view.peek() };
    });
    write();
  }

  function restore(kept: EntryState): void {
    const known = moments.get(kept.entry);
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
    const { reviewed } = kept;
    game.moment.value = { game: now, at: nodeOf(now, kept.at).id, reviewed, before: undefined };
  }

  function take(place: Place): void {
    view.value = place.view;
    game.orientation.value = place.orientation;
    settings.value = place.settings;
    if (place.view === "review") {
      if (place.pgn !== "" && game.takePgn(place.pgn, "link").kind === "game") {
        game.review(place.pgn);
      }
    } else if (game.takeFen(place.fen, place.moves, "link").kind === "violations") {
      // Show the error above the start position instead of the previous game.
      const refused = game.refused.peek();
      game.takeFen(startPlace.fen);
      game.refused.value = refused;
    }
    const node = game.line.peek()[place.ply] ?? game.path.peek()[place.ply];
    if (node) {
      game.goTo(node);
    }
    // Opening a link is not an edit that can be undone.
    game.moment.value = { ...game.moment.peek(), before: undefined };
  }

  const ended = new AbortController();
  let endEffect: (() => void) | undefined;

  return {
    view: view as ReadonlySignal<View>,

    show(next: View): void {
      view.value = next;
    },

    link(): string {
      return new URL(fragment.value, location.href).href;
    },

    open(link: string): void {
      batch(() => take(placeFromFragment(link)));
    },

    /** Reads the address, then updates the address whenever the page changes. */
    begin(): void {
      batch(() => {
        const place = placeFromFragment(location.hash);
        if (keptState()) {
          read();
          game.orientation.value = place.orientation;
          settings.value = place.settings;
        } else {
          take(place);
        }
        current = { fragment: location.hash, state: state.peek(), game: game.game.peek(), view: view.peek() };
      });
      write();
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
