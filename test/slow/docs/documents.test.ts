import { describe, expect } from "vitest";
import { testWith } from "../../support/needs.ts";
import { runStory } from "./run-document.ts";
import { stories } from "./stories/index.ts";

describe.each(stories)("$documents", (story) => {
  testWith(
    "root",
    "namespaces",
    "mounts",
    ...(story.needs ?? []),
  )(
    `the blocks of ${story.documents.join(", ")} that need no toolchain run and answer as printed`,
    async () => {
      expect(await runStory(story, false)).toEqual([]);
    },
  );
});
