import { describe, expect, test } from "vitest";
import { createPlaces, type PlaceState } from "../../src/engine/places.ts";
import { buildOf } from "./build-of.ts";
import { createFakeEngines } from "./fake-engines.ts";

const build = buildOf();
const session = await createFakeEngines().start(build, new AbortController().signal);
const states = {
  waiting: { kind: "waiting" },
  loading: { kind: "loading" },
  lent: { kind: "lent", session },
  idle: { kind: "idle", session },
  closing: { kind: "closing" },
  gone: { kind: "gone" },
} as const satisfies Record<PlaceState["kind"], PlaceState>;

describe("an engine's place", () => {
  test.each([
    ["is not lent before it is loaded", ["lent"]],
    ["is not idle before it was lent", ["loading", "idle"]],
    ["is given back once", ["loading", "lent", "idle", "idle"]],
    ["is lent to one at a time", ["loading", "lent", "lent"]],
    ["that closes is not lent again", ["loading", "lent", "closing", "lent"]],
    ["is gone once", ["loading", "gone", "gone"]],
  ] as const)("the state of a place for an engine changes correctly: %s", (_, way) => {
    const places = createPlaces();
    const place = places.add(build);
    const [last, ...before] = way.toReversed();
    for (const kind of before.toReversed()) {
      places.move(place, states[kind]);
    }
    expect(() => places.move(place, states[last ?? "gone"])).toThrow(
      `"${last}" may not follow "${place.state.kind}"`,
    );
  });
});
