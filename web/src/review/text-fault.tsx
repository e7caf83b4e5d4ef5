import { useEffect } from "preact/hooks";
import { announce } from "../parts/live-region.tsx";
import { texts } from "../texts.ts";
import { startSuggested, type TextFault } from "./game-text.ts";
import { lineAround } from "./text-place.ts";

/** The error in a text: its message, and its line with the wrong part marked. */
export function FaultInText({ text, fault }: { readonly text: string; readonly fault: TextFault }) {
  const place = texts.review.faultAt(fault.line, fault.column);
  useEffect(() => announce(`${place}: ${fault.message}`), [fault]);
  const { suggested } = fault;
  const { before, marked, behind } = lineAround(text, fault);
  return (
    <div class="text-fault">
      <p>
        <strong>{place}:</strong> {fault.message}
      </p>
      <p class="text-fault-line">
        <code>
          {before}
          <mark>{marked === "" ? "⏎" : marked}</mark>
          {behind}
        </code>
      </p>
      {suggested && (
        <button type="button" onClick={() => startSuggested(suggested)}>
          {texts.review.upToThere}
        </button>
      )}
    </div>
  );
}
