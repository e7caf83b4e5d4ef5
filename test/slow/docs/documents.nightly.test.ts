import { describe, expect } from "vitest";
import { testWith } from "../../support/needs.ts";
import { runStory } from "./run-document.ts";
import { stories } from "./stories/index.ts";
import { treatBlocks } from "./story.ts";

const withToolchains = stories.filter((story) =>
  story.documents.some((document) => treatBlocks(story, document).some(({ atNight }) => atNight)),
);

describe.each(withToolchains)("$documents", (story) => {
  const needs = [...(story.needs ?? []), ...(story.needsAtNight ?? [])];
  testWith(
    "root",
    "namespaces",
    "mounts",
    ...needs,
  )(
    `all blocks of ${story.documents.join(", ")} run and answer as printed, from a new clone and the registries`,
    async () => {
      expect(await runStory(story, true)).toEqual([]);
    },
  );
});
