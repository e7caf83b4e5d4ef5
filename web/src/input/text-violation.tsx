import { useEffect } from "preact/hooks";
import { usePage } from "../page.ts";
import { announce } from "../parts/live-region.tsx";
import type { TextViolation } from "./create-input.ts";
import { lineAround } from "./text-place.ts";

export function ViolationInText({
  text,
  violation,
}: {
  readonly text: string;
  readonly violation: TextViolation;
}) {
  const { input, address } = usePage();
  const verb = address.view.value === "review" ? "Review" : "Open";
  useEffect(() => announce(violation.message), [violation]);
  const { suggested } = violation;
  const { before, marked, behind } = lineAround(text, violation);
  return (
    <div class="game-refusal stack">
      <p>{violation.message}</p>
      <p class="text-violation-line">
        <code>
          {before}
          <mark>{marked === "" ? "⏎" : marked}</mark>
          {behind}
        </code>
      </p>
      {suggested !== undefined && (
        <div class="row">
          <button type="button" onClick={() => input.read(suggested)}>
            {/* Any other suggestion replaces foreign piece letters with English ones. */}
            {verb} {text.startsWith(suggested) ? "the game up to there" : "it in English letters"}
          </button>
        </div>
      )}
    </div>
  );
}
