import { batch, computed, effect, signal } from "@preact/signals";
import { fragmentOfPlace, type Place, placeFromFragment } from "./place-text.ts";
import { request } from "./request/the-request.ts";
import { addressOfView, view } from "./view.ts";

/** The position to analyse, without the settings, which the form in `request/` keeps. */
export type Played = Omit<Place, "settings">;

/** The position in the page's address. Nothing else stores it. */
export const played = signal<Played>(placeFromFragment(""));

const fragment = computed(() => fragmentOfPlace({ ...played.value, settings: request.settings.value }));

/** How long to wait before the address follows, in milliseconds: browsers refuse more than some 100 changes in half a minute. */
const followMs = 200;
let waiting: ReturnType<typeof setTimeout> | undefined;

/** A link that brings position, moves and settings back. Nothing behind its `#` is ever sent to a server. */
export function linkToHere(): string {
  return new URL(fragment.value, location.href).href;
}

/** Returns the address that analyses a position, for links of other views. */
export function addressOfPosition(fen: string, moves: readonly string[], ply = moves.length): string {
  return fragmentOfPlace({ ...played.value, fen, moves, ply, settings: request.settings.value });
}

/** Changes what is analysed. The browser's way back leads past it: moves and turns of the board are no pages. */
export function change(part: Partial<Played>): void {
  played.value = { ...played.value, ...part };
}

/** Goes to another position, from which the browser's way back leads to this one. */
export function goTo(part: Partial<Played>): void {
  write();
  const from = fragment.value;
  change(part);
  if (view.value !== "analysis" || fragment.value !== from) {
    history.pushState(known, "", fragment.value);
  }
  view.value = "analysis";
}

/** Marks entries of the history whose address says all; a link to the view alone has no mark. */
const known = { position: true };

function write(): void {
  clearTimeout(waiting);
  waiting = undefined;
  if (view.value === "analysis" && location.hash !== fragment.value) {
    history.replaceState(known, "", fragment.value);
  }
}

function read(): void {
  clearTimeout(waiting);
  waiting = undefined;
  const isLinkToView = location.hash === addressOfView("analysis") && history.state === null;
  if (location.hash.startsWith(addressOfView("review"))) {
    return;
  }
  if (isLinkToView) {
    // A return from another view shows the same position again.
    history.replaceState(known, "", fragment.value);
    return;
  }
  show(placeFromFragment(location.hash));
}

function show({ settings: set, ...rest }: Place): void {
  batch(() => {
    played.value = rest;
    request.settings.value = set;
  });
}

/** Begins to follow the address, and lets it follow. Once on the page. */
export function followAddress(): void {
  show(placeFromFragment(view.value === "analysis" ? location.hash : ""));
  if (view.value === "analysis") {
    history.replaceState(known, "", location.href);
  }
  effect(() => {
    // A page that was opened without a fragment keeps its short address until there is something to say.
    if (fragment.value !== (location.hash || addressOfView("analysis")) && view.value === "analysis") {
      clearTimeout(waiting);
      waiting = setTimeout(write, followMs);
    }
  });
  window.addEventListener("popstate", read);
}
