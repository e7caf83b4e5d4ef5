import { useId } from "preact/hooks";
import { usePage } from "../page.ts";
import { linesMax } from "./create-review.ts";

export function LinesField() {
  const { settings, set } = usePage().request;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>Alternatives per move</label>
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
