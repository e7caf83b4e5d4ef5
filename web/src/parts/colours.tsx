import { useLayoutEffect, useState } from "preact/hooks";
import { texts } from "../texts.ts";

const place = "kibitz-colours";
const choices = ["system", "light", "dark"] as const;
type Colours = (typeof choices)[number];

function kept(): Colours {
  try {
    return choices.find((choice) => choice === localStorage.getItem(place)) ?? "system";
  } catch {
    // If the browser stores nothing, every visit begins with the system's colours.
    return "system";
  }
}

function keep(colours: Colours): void {
  try {
    localStorage.setItem(place, colours);
  } catch {
    // The choice holds for this visit.
  }
}

/** Goes from one choice of colours to the next: as the system, light, dark. The browser keeps the choice. */
export function ColoursSwitch() {
  const [colours, setColours] = useState(kept);
  useLayoutEffect(() => {
    const { dataset } = document.documentElement;
    if (colours === "system") {
      delete dataset.colours;
    } else {
      dataset.colours = colours;
    }
  }, [colours]);
  const next = choices[(choices.indexOf(colours) + 1) % choices.length] ?? "system";
  const name = texts.colours.now(texts.colours[colours]);
  const choose = () => {
    setColours(next);
    keep(next);
  };
  return (
    <button type="button" class="quiet" aria-label={name} title={name} onClick={choose}>
      <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
        <circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" stroke-width="1.5" />
        {colours === "dark" && <circle cx="8" cy="8" r="6" fill="currentColor" />}
        {colours === "system" && <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />}
      </svg>
    </button>
  );
}
