import { useId } from "preact/hooks";
import { usePage } from "../page.ts";
import { RequestForm } from "../request/request-form.tsx";
import { linesMax } from "./create-review.ts";

export function ReviewSettings() {
  const { game, review } = usePage();
  const { hasOtherSettings, start } = review;
  return (
    <RequestForm only={["depth", "engine", "nodes", "path"]}>
      <LinesField />
      {hasOtherSettings.value && (
        <button type="button" onClick={() => start(game.reviewed.peek())}>
          Review again
        </button>
      )}
    </RequestForm>
  );
}

function LinesField() {
  const { settings, set } = usePage().request;
  const id = useId();
  return (
    <div class="field">
      <label for={id} title="Other good moves at each move">
        Alternatives
      </label>
      <select
        id={id}
        value={Math.min(Number(settings.value.multipv ?? 1), linesMax)}
        onChange={({ currentTarget: { value } }) => set("multipv", value === "1" ? "" : value)}
      >
        {[1, 2, linesMax].map((count) => (
          <option key={count} value={count}>
            {count - 1}
          </option>
        ))}
      </select>
    </div>
  );
}
