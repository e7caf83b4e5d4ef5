import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { standardStart } from "../../src/chess/validate-position.ts";
import type { GameState, Moment } from "./game/create-game.ts";
import { nodeOf } from "./game/game.ts";
import { mainlinePgn, pgnOfGame } from "./game/pgn.ts";
import { fragmentOfPlace, type Place, placeFromFragment, startPlace } from "./place-text.ts";
import type { Settings } from "./request/settings.ts";
import { addressOfView, type View } from "./view.ts";

/** The parts of the page that its address describes. */
interface AddressedParts {
  readonly game: GameState;
  readonly settings: Signal<Settings>;
}

/** The address of the page, and the entries of the browser's history. */
export type Address = ReturnType<typeof createAddress>;

/** Kept by the browser for an entry of the history: it outlives a reload of the page, and a tab that was discarded. */
interface EntryState {
  /** Number of the entry in this tab. */
  readonly entry: number;
  readonly fen: string;
  /** Empty for a game without moves. */
  readonly pgn: string;
  readonly at: string;
  readonly reviewed: string | undefined;
}

function keptState(): EntryState | undefined {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "entry" in state ? (state as EntryState) : undefined;
}

/** Browsers refuse more than about 100 changes of an entry in half a minute: 40 are written at once, later ones with a rest between them. */
const windowMs = 30_000;
const atOnceMax = 40;
const restMs = 1000;

/** The longest link to a review: programs cut longer ones. */
const linkMaxCharacters = 4000;

/**
 * Writes what the page shows into its address and into the browser's history, and reads both. Each edit of the game and each change of
 * the view begins an entry, so that the browser's Back undoes it. A step replaces the entry. Nothing after the `#` is sent to a server.
 */
export function createAddress({ game, settings }: AddressedParts) {
  const view = signal<View>("analysis");
  /** The moments of this visit by entry; others are read from the state of their entry. */
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
  /** The fragment and state to be written into the entry. */
  let current = { fragment: location.hash, state: state.peek(), game: game.game.peek(), view: view.peek() };
  let entry = 0;
  let isWritten = true;
  /** When the entry was written at once, on the clock of `performance.now()`. */
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

  /** The longest of the game's texts that a link can hold; empty if none is short enough. */
  function shortPgn(): string {
    const link = (text: string) => fragmentOfPlace({ ...startPlace, view: "review", pgn: text });
    const texts = [pgn.value, mainlinePgn(game.game.value)];
    return texts.find((text) => link(text).length <= linkMaxCharacters) ?? "";
  }

  function write(): void {
    isWritten = true;
    history.replaceState({ entry, ...current.state }, "", current.fragment || location.href);
  }

  /** Writes the entry at once, so that a reload keeps the last step, or after a rest if it was written often. */
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
      // A page that was opened without a fragment keeps its short address until there is something to say.
      const isBare = next.fragment === addressOfView("analysis") && location.hash === "";
      current = isBare ? { ...next, fragment: "" } : next;
      writeSoon();
    }
    moments.set(entry, game.moment.value);
  }

  /** Shows what the entry of the history has, or what its address says. */
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
        // A link to a view alone changes nothing else.
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
      // The error is shown with the start position, not with a game that the link does not have.
      const refused = game.refused.peek();
      game.takeFen(startPlace.fen);
      game.refused.value = refused;
    }
    const node = game.line.peek()[place.ply] ?? game.path.peek()[place.ply];
    if (node) {
      game.goTo(node);
    }
    // A link is no edit.
    game.moment.value = { ...game.moment.peek(), before: undefined };
  }

  const ended = new AbortController();
  let endEffect: (() => void) | undefined;

  return {
    view: view as ReadonlySignal<View>,

    show(next: View): void {
      view.value = next;
    },

    /** A link that brings all back. */
    link(): string {
      return new URL(fragment.value, location.href).href;
    },

    /** Shows what the fragment of a link says, in a new entry. */
    open(link: string): void {
      batch(() => take(placeFromFragment(link)));
    },

    /** Reads the address, and begins to follow the page. */
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
