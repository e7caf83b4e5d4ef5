import { useId } from "preact/hooks";
import { type OlderEncoding, olderEncodings } from "../game/file-text.ts";
import { usePage } from "../page.ts";

/** Shown beside a game if the page had to guess the encoding of its file. */
export function EncodingNote() {
  const { game, input } = usePage();
  const { encoding } = game.moment.value;
  const id = useId();
  return encoding === undefined ? null : (
    <p class="notice row">
      <label for={id}>The file does not name its encoding. Its letters were read as</label>
      <select
        id={id}
        value={encoding}
        onChange={({ currentTarget: { value } }) => void input.recode(value as OlderEncoding)}
      >
        {Object.entries(olderEncodings).map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </p>
  );
}
